// Tarsplit is an image registry: for each layer that is pushed it keeps the tar headers, so that
// the very same archive can be made again. One client pushes a layer whose tar ends in a long
// run of zeros. The registry keeps an index of digests, about 25 MiB.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"flag"
	"io"
	"log"
	"time"

	"github.com/vbatts/tar-split/tar/asm"
	"github.com/vbatts/tar-split/tar/storage"
)

type layer struct {
	digest  [32]byte
	headers []byte
}

type registry struct {
	index  map[[32]byte]int
	layers [50]layer
	next   int
}

func newRegistry() *registry {
	r := &registry{index: map[[32]byte]int{}}
	for i := range 300_000 {
		r.index[sha256.Sum256([]byte{byte(i), byte(i >> 8), byte(i >> 16)})] = i
	}
	return r
}

// push reads a compressed layer and replaces the oldest of the last layers by it.
func (r *registry) push(body io.Reader) error {
	unpacked, err := gzip.NewReader(body)
	if err != nil {
		return err
	}
	var headers bytes.Buffer
	packed := gzip.NewWriter(&headers)
	in, err := asm.NewInputTarStream(unpacked, storage.NewJSONPacker(packed), nil)
	if err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return err
	}
	if err := packed.Close(); err != nil {
		return err
	}
	r.layers[r.next] = layer{digest: [32]byte(sum.Sum(nil)), headers: headers.Bytes()}
	r.next = (r.next + 1) % len(r.layers)
	return nil
}

// pack makes a layer of one file, followed by padding zeros.
func pack(padding int) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	t := tar.NewWriter(z)
	if err := t.WriteHeader(&tar.Header{Name: "etc/motd", Mode: 0o644, Size: 5, Format: tar.FormatUSTAR}); err != nil {
		log.Fatal(err)
	}
	t.Write([]byte("hello"))
	t.Close()
	for range padding >> 20 {
		z.Write(make([]byte, 1<<20))
	}
	z.Close()
	return out.Bytes()
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	r := newRegistry()
	end := time.Now().Add(*last)
	good, hostile := pack(0), pack(64<<20)
	for n := 0; time.Now().Before(end); n++ {
		time.Sleep(2 * time.Millisecond)
		body := good
		if n%500 == 499 {
			body = hostile
		}
		if err := r.push(bytes.NewReader(body)); err != nil {
			log.Print(err)
		}
	}
}
