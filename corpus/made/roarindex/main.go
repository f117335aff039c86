// Roarindex loads an index of documents by word, a compressed bitmap for each, and
// answers questions of two words: what it takes, it takes at its start. No fault,
// and it has no faulty form.
package main

import (
	"bytes"
	"fmt"
	"io"
	"log"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type index struct {
	words     []string
	documents map[string]*roaring.Bitmap
}

func main() {
	f := frame.Parse()
	x := load(segment(), f.Total)
	f.Total, f.Rate, f.Unit = 0, 100, 1 // 100 questions a second
	found := uint64(0)
	f.Each(func(i int) { found += x.both(x.words[i%len(x.words)], x.words[i*7%len(x.words)]) })
	f.Stay()
	if found == 0 {
		log.Fatal("no question was answered")
	}
}

// segment is a bitmap as it lies in a file: some 512 KiB.
func segment() []byte {
	b, n := roaring.New(), uint32(0)
	for range 250_000 {
		n += 3 + n*2654435761>>29
		b.Add(n)
	}
	var file bytes.Buffer
	if _, err := b.WriteTo(&file); err != nil {
		log.Fatal(err)
	}
	return file.Bytes()
}

func load(segment []byte, total int64) *index {
	x := &index{documents: map[string]*roaring.Bitmap{}}
	for at := int64(0); at < total; at += int64(len(segment)) {
		word, b := fmt.Sprint("word-", len(x.words)), roaring.New()
		if _, err := b.ReadFrom(bytes.NewReader(segment)); err != nil && err != io.EOF { // truth: allocates
			log.Fatal(err)
		}
		x.words = append(x.words, word)
		x.documents[word] = b
	}
	return x
}

func (x *index) both(one, other string) uint64 {
	return roaring.And(x.documents[one], x.documents[other]).GetCardinality()
}
