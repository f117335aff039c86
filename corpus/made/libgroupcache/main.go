// Libgroupcache keeps thumbnails in a cache of groupcache whose MaxEntries is 0,
// which means no bound, beside an index that it fills at its start. Repaired, it
// is 400.
package main

import (
	"github.com/golang/groupcache/lru"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type gallery struct {
	index      [][]byte // steady
	thumbnails *lru.Cache
}

func main() {
	f := frame.Parse()
	g := &gallery{thumbnails: lru.New(0)}
	if f.Repaired {
		g.thumbnails.MaxEntries = 400
	}
	for range 2500 {
		g.index = append(g.index, frame.Touch(make([]byte, 10<<10)))
	}
	f.Each(func(i int) { g.show(i, f.Unit) })
	f.Stay()
	if len(g.index) == 0 {
		panic("the index is empty")
	}
}

func (g *gallery) show(i, size int) {
	if _, ok := g.thumbnails.Get(i); !ok {
		g.thumbnails.Add(i, scale(size)) // truth: keeps
	}
}

func scale(size int) []byte {
	return frame.Touch(make([]byte, size)) // truth: allocates
}
