// Idleconns makes an http.Client with a Transport of its own for each request. The
// connection stays open for a next request that never comes, with two goroutines
// and its buffers. Repaired, one client is shared.
package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type crawler struct {
	shared *http.Client // nil: one for each request
	size   int
	read   int64
}

func main() {
	f := frame.Parse()
	page := frame.Touch(make([]byte, f.Unit/2))
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write(page) }))
	c := &crawler{size: len(page)}
	if f.Repaired {
		c.shared = newClient(c.size)
	}
	f.Each(func(int) { c.fetch(site.URL) })
	f.Stay()
}

// newClient reads with a buffer that a page fits in.
func newClient(size int) *http.Client {
	return &http.Client{Transport: &http.Transport{ReadBufferSize: size + 1<<10}} // truth: makes
}

func (c *crawler) fetch(address string) {
	client := c.shared
	if client == nil {
		client = newClient(c.size) // truth: makes
	}
	answer, err := client.Get(address) // truth: dials
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	n, err := io.Copy(io.Discard, answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	c.read += n
}
