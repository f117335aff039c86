// Costs caches rendered pages in a ristretto cache of at most 2 MiB, and says of
// each page that its cost is 1: for the cache these are millions of pages.
// Repaired, the cost is the page's length.
package main

import (
	"log"
	"strconv"

	"github.com/dgraph-io/ristretto/v2"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type site struct {
	pages    *ristretto.Cache[string, []byte]
	repaired bool
}

func main() {
	f := frame.Parse()
	pages, err := ristretto.NewCache(&ristretto.Config[string, []byte]{
		NumCounters: 100_000, MaxCost: 2 << 20, BufferItems: 64,
	})
	if err != nil {
		log.Fatal(err)
	}
	s := &site{pages, f.Repaired}
	f.Each(func(i int) { s.page("/article/"+strconv.Itoa(i), f.Unit) })
	f.Stay()
}

func (s *site) page(path string, size int) []byte {
	if page, ok := s.pages.Get(path); ok {
		return page
	}
	page := render(path, size)
	cost := int64(1)
	if s.repaired {
		cost = int64(len(page))
	}
	s.pages.Set(path, page, cost) // truth: keeps
	s.pages.Wait()
	return page
}

func render(path string, size int) []byte {
	page := frame.Touch(make([]byte, size)) // truth: allocates
	copy(page, path)
	return page
}
