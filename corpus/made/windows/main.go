// Windows sums the events of a stream by key and minute. A window is closed when all
// partitions of the stream are past it, and one partition, to which nobody writes, stays at
// its start for ever. Repaired, a partition without events is not asked.
package main

import (
	"cmp"
	"math"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type bucket[K cmp.Ordered] struct {
	key   K
	start int
}

type aggregate struct {
	count  int
	sketch []byte // of how values are spread
}

// stage sums for one consumer.
type stage[K cmp.Ordered] struct {
	open     map[bucket[K]]*aggregate
	marks    []int // by partition, how far its events are
	skipIdle bool
	size     int
	out      sink
}

// sink takes what is closed.
type sink interface{ emit(count int) }

type totals struct {
	windows, events int
	names           [][]byte // 24 MiB
}

func (t *totals) emit(count int) {
	t.windows++
	t.events += count
}

func (s *stage[K]) add(partition int, key K, at int) {
	s.marks[partition] = max(s.marks[partition], at)
	b := bucket[K]{key, at}
	a := s.open[b]
	if a == nil {
		a = &aggregate{sketch: frame.Touch(make([]byte, s.size))} // truth: allocates
		s.open[b] = a                                             // truth: keeps
	}
	a.count++
	a.sketch[at%len(a.sketch)]++
}

// watermark is how far all partitions are.
func (s *stage[K]) watermark() int {
	low := math.MaxInt
	for _, at := range s.marks {
		if at > 0 || !s.skipIdle {
			low = min(low, at)
		}
	}
	return low
}

func (s *stage[K]) close() {
	before := s.watermark() - 200
	for b, a := range s.open {
		if b.start < before {
			s.out.emit(a.count)
			delete(s.open, b)
		}
	}
}

func main() {
	f := frame.Parse()
	t := &totals{}
	for range 24 << 4 {
		t.names = append(t.names, frame.Touch(make([]byte, 64<<10)))
	}
	s := &stage[string]{open: map[bucket[string]]*aggregate{}, marks: make([]int, 6), skipIdle: f.Repaired, size: f.Unit, out: t}
	keys := []string{"checkout", "search", "cart"}
	f.Each(func(i int) {
		s.add(i%5, keys[i%len(keys)], i+1) // nobody writes to partition 5
		s.add(i%5, keys[i%len(keys)], i+1)
		if i%100 == 99 {
			s.close()
		}
	})
	f.Stay()
}
