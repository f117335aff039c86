// Syncpool takes buffers from a sync.Pool and puts them back as large as their
// largest request has made them: 64 workers hold, in time, 64 buffers of that
// size, although few requests need it. Repaired, a large one is not put back.
package main

import (
	"bytes"
	"sync"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func main() {
	f := frame.Parse()
	var workers sync.WaitGroup
	for w := range 64 {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for i := w; !f.Over(); i++ {
				format(size(i, f.Unit), f.Repaired)
			}
		}()
	}
	workers.Wait()
}

// size is that of request i: one of twenty is large.
func size(i, large int) int {
	if i%20 == 0 {
		return large
	}
	return 4 << 10
}

func format(size int, repaired bool) {
	b := buffers.Get().(*bytes.Buffer)
	b.Reset()
	b.Grow(size) // truth: allocates
	frame.Touch(b.AvailableBuffer()[:size])
	time.Sleep(5 * time.Millisecond) // it is sent
	if repaired && b.Cap() > 64<<10 {
		return
	}
	buffers.Put(b) // truth: keeps
}
