// Gzipeach sends small pages of a list, each compressed. It makes a new gzip.Writer for each
// of them, which has tables of a MiB and is garbage after some hundred bytes. Repaired, it
// takes them from a pool.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type item struct {
	name  string
	price int
	next  *item
}

type catalog struct {
	first *item // 10 MiB of items, one after another
	from  *item
}

func newCatalog() *catalog {
	c := &catalog{}
	for i := range 120_000 {
		c.first = &item{name: fmt.Sprintf("article number %020d", i), price: i % 1000, next: c.first}
	}
	c.from = c.first
	return c
}

// list writes some items.
func (c *catalog) list(w http.ResponseWriter, _ *http.Request) {
	at := c.from
	for range 8 {
		io.WriteString(w, at.name)
		if at = at.next; at == nil {
			at = c.first
		}
	}
	c.from = at
}

var writers = sync.Pool{New: func() any { return gzip.NewWriter(io.Discard) }}

type compressed struct {
	http.ResponseWriter
	to io.Writer
}

func (c compressed) Write(p []byte) (int, error) { return c.to.Write(p) } // truth: compresses

// zipped compresses what next writes.
func zipped(next http.HandlerFunc, pooled bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var z *gzip.Writer
		if pooled {
			z = writers.Get().(*gzip.Writer)
			defer writers.Put(z)
			z.Reset(w)
		} else {
			z = gzip.NewWriter(w) // truth: makes
		}
		w.Header().Set("Content-Encoding", "gzip")
		next(compressed{w, z}, r) // truth: writes
		z.Close()                 // truth: closes
	}
}

// answer is what would be sent.
type answer struct {
	header http.Header
	body   *bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }
func (a *answer) WriteHeader(int)             {}

func main() {
	f := frame.Parse()
	handler := zipped(newCatalog().list, f.Repaired)
	request := httptest.NewRequest(http.MethodGet, "/list", nil)
	var body bytes.Buffer
	f.Each(func(int) {
		body.Reset()
		handler(&answer{http.Header{}, &body}, request)
	})
	f.Stay()
}
