// Libsyncmap notes each client by its address and port in a sync.Map and drops
// none, beside a table of prices. Repaired, a client goes 400 clients later.
package main

import (
	"fmt"
	"sync"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type limiter struct {
	prices  map[int][]byte // steady
	clients sync.Map       // address to state
}

func main() {
	f := frame.Parse()
	l := &limiter{prices: map[int][]byte{}}
	for i := range 1500 {
		l.prices[i] = frame.Touch(make([]byte, 16<<10))
	}
	f.Each(func(i int) {
		l.allow(address(i), f.Unit)
		if f.Repaired {
			l.clients.Delete(address(i - 400))
		}
	})
	f.Stay()
	if len(l.prices) == 0 {
		panic("no prices")
	}
}

func (l *limiter) allow(address string, size int) {
	if _, ok := l.clients.Load(address); !ok {
		state := frame.Touch(make([]byte, size)) // truth: allocates
		l.clients.Store(address, state)          // truth: keeps
	}
}

func address(i int) string { return fmt.Sprintf("10.0.%d.%d:%d", i>>8&255, i&255, 1024+i) }
