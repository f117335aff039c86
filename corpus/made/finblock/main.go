// Finblock reads scans with a decoder whose handles are closed by their finalizers, and
// counts them over a channel. Who counted has gone, after the first page of the statistics
// was full: from then on the one goroutine that runs all finalizers waits, and no handle
// is freed any more. Repaired, a count that nobody takes is dropped.
package main

import (
	"runtime"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type handle struct {
	pages  []byte
	closed chan<- int
	drop   bool
}

type decoder struct {
	closed chan int
	drop   bool
	fonts  [][]byte // 20 MiB
}

func newDecoder(drop bool) *decoder {
	d := &decoder{closed: make(chan int), drop: drop}
	for range 20 << 5 {
		d.fonts = append(d.fonts, frame.Touch(make([]byte, 32<<10)))
	}
	go d.count(50)
	return d
}

func (d *decoder) count(n int) (sum int) {
	for range n {
		sum += <-d.closed
	}
	return sum
}

func (d *decoder) open(size int) *handle {
	h := &handle{pages: frame.Touch(make([]byte, size)), closed: d.closed, drop: d.drop} // truth: allocates
	runtime.SetFinalizer(h, (*handle).close)                                             // truth: registers
	return h
}

func (h *handle) close() {
	if !h.drop {
		h.closed <- len(h.pages) // truth: blocks
		return
	}
	select {
	case h.closed <- len(h.pages):
	default:
	}
}

func (d *decoder) read(i, size int) byte {
	h := d.open(size)
	b := h.pages[i%size] ^ d.fonts[i%len(d.fonts)][0]
	runtime.KeepAlive(h)
	return b
}

func main() {
	f := frame.Parse()
	d := newDecoder(f.Repaired)
	sum := 0
	f.Each(func(i int) { sum += int(d.read(i, f.Unit)) })
	f.Stay()
}
