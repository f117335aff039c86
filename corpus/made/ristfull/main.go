// Ristfull caches pages of a manual in a ristretto cache, each at the cost of its length, up
// to a bound. It grows until the bound is reached, and then a page that is asked for more
// often takes the place of others: no fault. It has no faulty form.
package main

import (
	"log"
	"math/rand/v2"

	"github.com/dgraph-io/ristretto/v2"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type page struct {
	number int
	text   []byte
}

type manual struct {
	pages *ristretto.Cache[int, *page]
	size  int
	hits  int
}

func newManual(most int64, size int) (*manual, error) {
	pages, err := ristretto.NewCache(&ristretto.Config[int, *page]{NumCounters: 10 * most / int64(size), MaxCost: most, BufferItems: 64,
		IgnoreInternalCost: true})
	return &manual{pages: pages, size: size}, err
}

func (m *manual) read(number int) *page {
	if p, ok := m.pages.Get(number); ok {
		m.hits++
		return p
	}
	p := &page{number, frame.Touch(make([]byte, m.size))}
	m.pages.Set(number, p, int64(m.size))
	return p
}

func main() {
	f := frame.Parse()
	m, err := newManual(f.Total, f.Unit)
	if err != nil {
		log.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	f.Total = 0
	f.Each(func(i int) {
		m.read(1_000_000 + i) // who comes from a search
		for range 3 {
			m.read(rng.IntN(200))
		}
	})
	f.Stay()
}
