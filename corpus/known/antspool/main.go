// Antspool resizes pictures: each order has a pool of workers of its own, which is released when the
// order is done. It keeps the last pictures, 25 MiB.
package main

import (
	"flag"
	"log"
	"sync"
	"time"

	"github.com/panjf2000/ants/v2"
)

type studio struct {
	last [25_000][]byte
	next int
}

func newStudio() *studio {
	s := &studio{}
	for i := range s.last {
		s.last[i] = make([]byte, 1000)
		s.last[i][0] = byte(i)
	}
	return s
}

// order is what somebody wants: so many pictures.
type order struct {
	number   int
	pictures [40][]byte
}

// resize makes a small picture of a large one.
func (o *order) resize(n int) {
	large := make([]byte, 16<<10+n)
	for i := range large {
		large[i] = byte(i*n + o.number)
	}
	small := make([]byte, 256)
	for i := range small {
		small[i] = large[i<<6]
	}
	o.pictures[n] = small
}

// do makes the pictures of an order at once and keeps the first of them.
func (s *studio) do(o *order) error {
	pool, err := ants.NewPool(20, ants.WithExpiryDuration(100*time.Millisecond), ants.WithPanicHandler(func(why any) {
		log.Print("order ", o.number, ": ", why)
	}))
	if err != nil {
		return err
	}
	defer pool.Release()
	var done sync.WaitGroup
	for n := range o.pictures {
		done.Add(1)
		if err := pool.Submit(func() { defer done.Done(); o.resize(n) }); err != nil {
			return err
		}
	}
	done.Wait()
	s.next = (s.next + 1) % len(s.last)
	copy(s.last[s.next], o.pictures[0])
	return nil
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	s := newStudio()
	end, tick := time.Now().Add(*last), time.NewTicker(4*time.Millisecond)
	defer tick.Stop()
	for n := 0; time.Now().Before(end); n++ {
		<-tick.C
		if err := s.do(&order{number: n}); err != nil {
			log.Fatal(err)
		}
	}
}
