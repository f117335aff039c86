// Zipstream streams the documents that come in to a tape as one zip archive, which has a
// directory at its end: archive/zip keeps the header of each document, with what the
// archivist notes in it, until it is closed. It never is. Repaired, there is a new archive
// after 400 documents.
package main

import (
	"archive/zip"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type tape struct {
	out    io.Writer
	zip    *zip.Writer
	each   int // documents of an archive; 0: all in one
	stored int
	forms  [][]byte // 12 MiB
}

type document struct {
	name, note string
	signature  []byte
}

func (t *tape) store(d *document) error {
	h := &zip.FileHeader{Name: d.name, Comment: d.note, Extra: d.signature, Method: zip.Store}
	w, err := t.zip.CreateHeader(h) // truth: keeps
	if err != nil {
		return err
	}
	if _, err := w.Write(t.forms[t.stored%len(t.forms)]); err != nil {
		return err
	}
	if t.stored++; t.each > 0 && t.stored%t.each == 0 {
		if err := t.zip.Close(); err != nil {
			return err
		}
		t.zip = zip.NewWriter(t.out)
	}
	return nil
}

// scan is a document with size bytes of notes and signatures.
func scan(i, size int) *document {
	size = min(size, 64<<10-16)
	d := &document{name: fmt.Sprintf("%08d.txt", i), signature: make([]byte, 0, size/2)} // truth: allocates
	for field := 0; len(d.signature)+4+1000 <= size/2; field++ {
		d.signature = append(d.signature, 0x53, 0x47, 1000&0xff, 1000>>8)
		d.signature = append(d.signature, make([]byte, 1000)...)
	}
	d.note = strings.Repeat("seen ", size/10) // truth: allocates
	return d
}

func main() {
	f := frame.Parse()
	t := &tape{out: io.Discard, zip: zip.NewWriter(io.Discard)}
	if f.Repaired {
		t.each = 400
	}
	for range 12 << 8 {
		t.forms = append(t.forms, frame.Touch(make([]byte, 4<<10)))
	}
	f.Each(func(i int) {
		if err := t.store(scan(i, f.Unit)); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}
