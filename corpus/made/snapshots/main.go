// Snapshots is a price list that is read by many and changed all the time. Each change makes
// a version, which knows the one after it; readers hold the version that they began with,
// and what nobody holds goes. One reader, an export that ended with an error, does not give
// its version back, and with it are held all that came after. Repaired, it gives it back.
package main

import (
	"errors"
	"log"
	"sync"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// version is the list at some time: what has changed, and the next one.
type version struct {
	number  int
	changed []byte
	next    *version
}

type prices struct {
	mu      sync.Mutex
	newest  *version
	readers map[int]*version
	ids     int
}

func newPrices() *prices { return &prices{newest: &version{}, readers: map[int]*version{}} }

func (p *prices) commit(changed []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := &version{number: p.newest.number + 1, changed: changed}
	p.newest.next = v // truth: links
	p.newest = v
}

// begin gives a reader the list as it is now.
func (p *prices) begin() (id int, v *version) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ids++
	p.readers[p.ids] = p.newest // truth: holds
	return p.ids, p.newest
}

func (p *prices) end(id int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.readers, id)
}

var errDisk = errors.New("no space left on device")

// export writes the changes since a version; always says that it ends as it should.
func (p *prices) export(n int, always bool) (sum int, err error) {
	id, v := p.begin() // truth: begins
	if always {
		defer p.end(id)
	}
	if n == 1 {
		return 0, errDisk // truth: returns
	}
	for ; v != nil; v = v.next {
		sum += len(v.changed)
	}
	p.end(id)
	return sum, nil
}

// catalog is what the prices belong to: 22 MiB of articles.
type catalog struct {
	articles []article
	byName   map[string]int
}

type article struct {
	name string
	text [25]uint64
}

func newCatalog() *catalog {
	c := &catalog{byName: map[string]int{}}
	c.articles = make([]article, 96_000)
	for i := range c.articles {
		c.articles[i].name = "article"
		for n := range c.articles[i].text {
			c.articles[i].text[n] = uint64(i + n)
		}
	}
	return c
}

func main() {
	f := frame.Parse()
	p, c := newPrices(), newCatalog()
	failed, sold := 0, uint64(0)
	f.Each(func(i int) {
		p.commit(frame.Touch(make([]byte, f.Unit))) // truth: allocates
		sold += c.articles[i%len(c.articles)].text[i%25]
		if i%20 == 0 {
			if _, err := p.export(i/20, f.Repaired); err != nil {
				failed++
			}
		}
	})
	f.Stay()
	log.Printf("%d exports failed, %d", failed, sold)
}
