// Gzipbomb unpacks what it is sent as a whole; a packet of some KiB becomes Total.
// Repaired, it reads a MiB of it at most.
package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"log"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

func main() {
	f := frame.Parse()
	packet := pack(int(f.Total))
	for !f.Over() {
		text := unpack(packet, f.Repaired)
		if len(text) == 0 {
			log.Fatal("nothing in the packet")
		}
		text = nil
		pause := time.Now().Add(500 * time.Millisecond)
		for !f.Over() && time.Now().Before(pause) {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

func pack(size int) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	part := make([]byte, 64<<10)
	for n := 0; n < size; n += len(part) {
		z.Write(part)
	}
	z.Close()
	return b.Bytes()
}

func unpack(packet []byte, repaired bool) []byte {
	z, err := gzip.NewReader(bytes.NewReader(packet))
	if err != nil {
		log.Fatal(err)
	}
	var r io.Reader = z
	if repaired {
		r = io.LimitReader(z, 1<<20)
	}
	text, err := io.ReadAll(r) // truth: allocates
	if err != nil {
		log.Fatal(err)
	}
	return text
}
