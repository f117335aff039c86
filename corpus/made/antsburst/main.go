// Antsburst turns scanned pages by a pool of eight workers of panjf2000/ants. Pages
// come in bundles every other second; each is in memory as a whole while it is
// turned, within a room that is large enough. No fault, and it has no faulty form.
package main

import (
	"hash/crc32"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"github.com/panjf2000/ants/v2"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const workers = 8

type page struct {
	width, height int
	grey          []byte
}

type scanner struct {
	pool *ants.Pool
	sum  atomic.Uint32
	// paper is what an empty page looks like, of 6 MiB: the base of each scan.
	paper []byte
}

func main() {
	f := frame.Parse()
	pool, err := ants.NewPool(workers)
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Release()
	s := &scanner{pool: pool, paper: frame.Touch(make([]byte, 6<<20))}
	pixels := int(f.Total / workers / 2) // a page and the turned one
	for !f.Over() {
		if err := s.bundle(2*workers, pixels); err != nil {
			log.Fatal(err)
		}
		for next := time.Now().Add(2 * time.Second); !f.Over() && time.Now().Before(next); {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// bundle turns n pages.
func (s *scanner) bundle(n, pixels int) error {
	var done sync.WaitGroup
	for i := range n {
		done.Add(1)
		err := s.pool.Submit(func() {
			defer done.Done()
			turned := s.scan(i, pixels).turn()
			s.sum.Add(crc32.ChecksumIEEE(turned.grey))
		})
		if err != nil {
			return err
		}
	}
	done.Wait()
	return nil
}

func (s *scanner) scan(number, pixels int) *page {
	p := &page{width: 2048, height: max(1, pixels/2048)}
	p.grey = make([]byte, p.width*p.height) // truth: allocates
	for i := range p.grey {
		p.grey[i] = s.paper[i%len(s.paper)] ^ byte(number)
	}
	return p
}

// turn gives p, upside down.
func (p *page) turn() *page {
	t := &page{p.width, p.height, make([]byte, len(p.grey))} // truth: allocates
	for i, g := range p.grey {
		t.grey[len(t.grey)-1-i] = g
	}
	return t
}
