package goheap

import (
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"math/bits"
	"slices"
)

const (
	// glanceSpans is about how many spans with pointers are looked at before anything is chosen.
	glanceSpans = 1000
	// severalWays is how many pointers lead to an object of a shape on an average, if several do.
	severalWays = 1.1
)

// glance looks at some spans, and counts how many pointers lead to the objects of each shape.
func (t *thinner) glance() error {
	spans := t.c.heap.spans
	step := max(t.standIn/glanceSpans, 1)
	ways, objects := make([]int, maxShapes), make([]int, maxShapes)
	var b []byte
	for i := int(t.key % uint64(step)); i < len(spans); i += step {
		s := &spans[i]
		if i == t.standIn || s.Size() > gomem.WindowSize {
			continue
		}
		if !s.NoScan {
			b = slices.Grow(b[:0], int(s.Size()))[:s.Size()]
			if err := t.c.mem.Read(s.Start, b); err != nil {
				return err
			}
		}
		t.glanceAt(i, b, ways, objects)
	}
	for n := range t.shapes.all {
		t.shapes.all[n].several = float64(ways[n]) > severalWays*float64(objects[n])
	}
	return nil
}

// glanceAt counts the objects of a span with contents b, and those that they lead to.
func (t *thinner) glanceAt(i int, b []byte, ways, objects []int) {
	s := &t.c.heap.spans[i]
	for k := range s.NElems {
		at := t.c.heap.first[i] + k
		if t.allocated[at/64]>>(at%64)&1 == 0 {
			continue
		}
		objects[t.shapeOf(i, k)]++
		if s.NoScan {
			continue
		}
		t.each(t.known, i, k, b[k*s.ElemSize:][:s.ElemSize], func(_ uint32, p uint64) {
			if to, place, ok := t.find(p); ok {
				ways[t.shapeOf(to, place-t.c.heap.first[to])]++
			}
		})
	}
}

// meet keeps the object that p points into, or leaves it out, the first time. Roots are kept
// whatever their shape has had: they are few, and what they are called is known.
func (t *thinner) meet(parent uint32, p uint64) {
	i, place, ok := t.find(p)
	if !ok || t.allocated[place/64]>>(place%64)&1 == 0 || t.seen[place/64]>>(place%64)&1 != 0 {
		return
	}
	t.seen[place/64] |= 1 << (place % 64)
	span := &t.c.heap.spans[i]
	number := t.recent.number(t, t.shape(i, place-t.c.heap.first[i]))
	s := &t.shapes.all[number]
	own, level := t.chances(parent, s, span.ElemSize)
	if t.chance(place) < own {
		return
	}
	if parent == descriptor {
		parent = noParent
	}
	t.kept[place/64] |= 1 << (place % 64)
	t.order = append(t.order, keptObject{place: uint32(place), parent: parent, shape: number, halved: own, level: level})
	if s.kept++; !span.NoScan {
		s.kept += int(span.ElemSize / costOfObject)
	}
	if s.kept >= s.next && s.level < 40 {
		s.level++
		s.next = s.kept + t.share()
	}
}

// chances is how often an object of a shape has to be halved, and how often with what leads to it.
func (t *thinner) chances(parent uint32, s *shapeCount, size uint64) (own, level uint8) {
	switch {
	case parent == descriptor, size >= alwaysKept, parent == noParent && s.kept < 4*t.share():
		return 0, 0
	case parent == noParent:
		return s.level, s.level
	}
	own, up := s.level, t.order[parent].level
	if !s.several { // what leads to it has been thinned, and nothing else does
		own -= min(s.level, up)
	}
	return own, min(up+own, 60)
}

// costOfObject is how many bytes of pointers take as long as an object of their own.
const costOfObject = 2048

// share is how much of a shape is kept before it is halved: less once more are kept than
// should be.
func (t *thinner) share() int {
	return max(t.most/shapesShared>>min(len(t.order)/t.most, 8), 16)
}

// chance is how often an object may be halved before it is left out: the same each time.
func (t *thinner) chance(place uint64) uint8 {
	return uint8(bits.LeadingZeros64(scramble(place ^ t.key)))
}

// scramble is a good hash of a number (Steele et al., Fast Splittable Pseudorandom Number
// Generators, 2014, as in SplitMix64).
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
