// Tarball serves the folder of a customer as one archive. The parts come from an object
// store, one after another, and the archive is put together in memory, since its length is
// to be in the header. Three customers ask at once. Repaired, it is written as it comes.
package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const customers = 3

// objects is the store, which needs a moment for each object.
type objects struct {
	part []byte
	wait time.Duration
}

func (o *objects) get(string) []byte {
	time.Sleep(o.wait)
	return o.part
}

type backups struct {
	store  *objects
	parts  int
	stream bool
	logos  [][]byte // 16 MiB
}

func (b *backups) pack(to io.Writer, customer string) error {
	t := tar.NewWriter(to)
	for i := range b.parts {
		name := fmt.Sprintf("%s/%04d.bin", customer, i)
		part := b.store.get(name)
		if err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(part))}); err != nil {
			return err
		}
		if _, err := t.Write(part); err != nil { // truth: writes
			return err
		}
	}
	return t.Close()
}

func (b *backups) download(w http.ResponseWriter, r *http.Request) {
	customer := r.FormValue("customer")
	if b.stream {
		if err := b.pack(w, customer); err != nil {
			log.Print(err)
		}
		return
	}
	var archive bytes.Buffer                           // truth: holds
	if err := b.pack(&archive, customer); err != nil { // truth: packs
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Length", fmt.Sprint(archive.Len()))
	archive.WriteTo(w)
}

func main() {
	f := frame.Parse()
	const part = 256 << 10
	parts := int(f.Total/customers/part) + 1
	b := &backups{parts: parts, stream: f.Repaired}
	b.store = &objects{frame.Touch(make([]byte, part)), 800 * time.Millisecond / time.Duration(parts)}
	for range 16 << 5 {
		b.logos = append(b.logos, frame.Touch(make([]byte, 32<<10)))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/backup", b.download)
	go func() { log.Fatal(http.Serve(l, mux)) }()
	for !f.Over() {
		var all sync.WaitGroup
		for c := range customers {
			all.Add(1)
			go func() {
				defer all.Done()
				fetch(l.Addr().String(), c)
			}()
		}
		all.Wait()
		for pause := time.Now().Add(1500 * time.Millisecond); time.Now().Before(pause) && !f.Over(); {
			time.Sleep(20 * time.Millisecond)
		}
	}
	f.Stay()
}

func fetch(address string, customer int) {
	r, err := http.Get(fmt.Sprintf("http://%s/backup?customer=%d", address, customer))
	if err != nil {
		log.Print(err)
		return
	}
	defer r.Body.Close()
	io.Copy(io.Discard, r.Body)
}
