// Ringfill remembers the last requests for a page of diagnosis, in a ring with room
// for a fixed number of them. It fills once, and then each new one takes the place
// of the oldest: no fault. It has no faulty form.
package main

import (
	"bytes"
	"container/ring"
	"fmt"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type request struct {
	number int
	dump   bytes.Buffer
}

type diagnosis struct {
	latest *ring.Ring
	slow   int
}

func main() {
	f := frame.Parse()
	d := &diagnosis{latest: ring.New(max(1, f.Count()))}
	f.Total = 0
	f.Each(func(i int) { d.record(handle(i, f.Unit)) })
	f.Stay()
	d.latest.Do(func(any) { d.slow++ })
}

func handle(i, size int) *request {
	r := &request{number: i}
	r.dump.Grow(size) // truth: allocates
	for r.dump.Len() < size-80 {
		fmt.Fprintf(&r.dump, "X-Trace-%d: %032x%032x\r\n", r.dump.Len(), i, r.dump.Len())
	}
	return r
}

func (d *diagnosis) record(r *request) {
	d.latest.Value = r
	d.latest = d.latest.Next()
}
