// Warmindex is a search for names that starts slowly: it reads its index page by page and
// answers meanwhile with what it has. When all pages are there it grows no more. No fault,
// and it has no faulty form.
package main

import (
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type entry struct {
	name string
	ids  []uint64
}

// page has the names of one range.
type page struct {
	entries []*entry
	bloom   [64]uint64
}

func load(n, size int) *page {
	p := &page{}
	for used := 0; used < size; {
		e := &entry{name: fmt.Sprintf("name-%08d-%04d", n, used), ids: make([]uint64, 40)}
		for i := range e.ids {
			e.ids[i] = uint64(n*i + used)
		}
		p.bloom[used%64] |= 1 << (n % 64)
		p.entries = append(p.entries, e)
		used += 40*8 + 24 + 40
	}
	return p
}

type index struct {
	mu    sync.RWMutex
	pages []*page
	found atomic.Int64
}

func (x *index) add(p *page) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.pages = append(x.pages, p)
}

// find looks in the pages that are there.
func (x *index) find(n int) (*entry, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if len(x.pages) == 0 {
		return nil, false
	}
	p := x.pages[n%len(x.pages)]
	x.found.Add(1)
	return p.entries[n%len(p.entries)], true
}

func main() {
	f := frame.Parse()
	x := &index{}
	sum := 0
	f.Each(func(i int) {
		x.add(load(i, f.Unit))
		for n := range 50 {
			if e, ok := x.find(i*31 + n); ok {
				sum += len(e.name)
			}
		}
	})
	log.Print(frame.Done)
	for i := 0; !f.Over(); i++ {
		if e, ok := x.find(i); ok {
			sum += len(e.name)
		}
		time.Sleep(time.Millisecond)
	}
	log.Print(sum, x.found.Load())
}
