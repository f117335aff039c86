package gomem

import (
	"context"
	"math/bits"
	"slices"
)

const (
	// maxInSpan is the largest object whose span holds its pointer bitmap, since Go
	// 1.22 (runtime/mbitmap.go, heapBitsInSpan).
	maxInSpan = 512
	// maxInline is the smallest object of a span with inline marks (runtime/
	// mgcmark_greenteagc.go, gcUsesSpanInlineMarkBits).
	minInline = 16
)

// scanner notes every pointer of every object, span by span.
type scanner struct {
	o     *Objects
	c     *heapCopy
	types *Types
	masks map[uint64]*typeMask
}

// typeMask says which words of a type are pointers.
type typeMask struct {
	words uint64 // of one element
	bits  []byte // a bit a word; nil: any word may be one
	reach uint64 // words up to the last pointer
}

// scan fills First, To and Slot for all objects.
func (sc *scanner) scan(ctx context.Context) error {
	o := sc.o
	o.First = make([]uint32, o.Count+1, o.Count+1+len(sc.c.goroutines)+1024)
	o.To = make([]uint32, 0, o.Count+o.Count/16)
	o.Slot = make([]uint32, 0, o.Count+o.Count/16)
	next := 0 // in c.data
	for i := range o.spans {
		s := &o.spans[i]
		if s.span.noscan {
			for id := s.first; id < o.endOf(i); id++ {
				o.First[id+1] = uint32(len(o.To))
			}
			continue
		}
		n := int(s.span.end - s.span.start)
		s.data = next
		sc.span(i, sc.c.data[next:next+n])
		if next += n; len(o.To) > maxGraph {
			return errHeapTooLarge
		}
		if i%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// span scans the allocated objects of one span.
func (sc *scanner) span(i int, b []byte) {
	o, s := sc.o, &sc.o.spans[i]
	id := s.first
	object := sc.objectScanner(s, b)
	for w := s.place / 64; w < s.place/64+(s.nelems+63)/64; w++ {
		for rest := o.bits[w]; rest != 0; rest &= rest - 1 {
			k := uint64(w*64-s.place) + lowest(rest)
			if off := k * s.elemsize; off+s.elemsize <= uint64(len(b)) {
				object(off, b[off:off+s.elemsize])
			}
			id++
			o.First[id] = uint32(len(o.To))
		}
	}
}

// ownRoots takes the pointers of objects to descriptors of living goroutines out:
// runtime.allgs has them all, and so has every channel that they wait for. Each
// is a root of its own, and what it holds would be shared with those. A P is
// runtime.allp's alone in the same way.
func (o *Objects) ownRoots(c *heapCopy) {
	own := make([]uint64, o.Count/64+1)
	add := func(p uint64) {
		if id, ok := o.At(p); ok {
			own[id/64] |= 1 << (id % 64)
		}
	}
	for i := range c.goroutines {
		add(c.goroutines[i].addr)
	}
	list, _ := c.memory().u64(c.r.marker.allp)
	n, _ := c.memory().u64(c.r.marker.allp + 8)
	for i := range min(n, maxPs) {
		p, _ := c.memory().u64(list + 8*i)
		add(p)
	}
	allp, ok := o.At(list)
	o.dropPointers(func(from, to uint32) bool {
		return own[to/64]>>(to%64)&1 != 0 && !(ok && from == allp)
	})
}

// dropPointers takes pointers out.
func (o *Objects) dropPointers(drop func(from, to uint32) bool) {
	n, e := uint32(0), uint32(0)
	for id := range uint32(o.Count) {
		for end := o.First[id+1]; e < end; e++ {
			if to := o.To[e]; !drop(id, to) {
				o.To[n], o.Slot[n] = to, o.Slot[e]
				n++
			}
		}
		o.First[id+1] = n
	}
	o.To, o.Slot = o.To[:n], o.Slot[:n]
}

// objectScanner is how the objects of a span say which of their words are
// pointers.
func (sc *scanner) objectScanner(s *objectSpan, b []byte) func(off uint64, object []byte) {
	switch {
	case sc.c.old:
		return func(off uint64, object []byte) { sc.byArena(s.start+off, object) }
	case s.elemsize <= maxInSpan:
		size := uint64(len(b)) / 64
		at := uint64(len(b)) - size
		if sc.c.inline && s.elemsize >= minInline {
			at -= inlineMarks
		}
		bitmap := b[at : at+size]
		return func(off uint64, object []byte) { sc.byBits(bitmap, off/8, object) }
	case s.span.class != 0:
		return func(_ uint64, object []byte) { sc.byType(word(object, 0), object, 8) }
	}
	return func(_ uint64, object []byte) { sc.byType(s.span.largeType, object, 0) }
}

// add notes a pointer, if it is one.
func (sc *scanner) add(slot uint32, p uint64) {
	if id, _, ok := sc.o.find(p); ok {
		sc.o.To = append(sc.o.To, id)
		sc.o.Slot = append(sc.o.Slot, slot)
	}
}

// byBits scans an object of at most 64 words by the bits from bit on.
func (sc *scanner) byBits(bitmap []byte, bit uint64, object []byte) {
	n := uint64(len(object) / 8)
	var mask uint64
	for k := uint64(0); k < n; {
		at := bit + k
		if at/8 >= uint64(len(bitmap)) {
			break
		}
		mask |= uint64(bitmap[at/8]>>(at%8)) << k
		k += 8 - at%8
	}
	if n < 64 {
		mask &= 1<<n - 1
	}
	for ; mask != 0; mask &= mask - 1 {
		k := bits.TrailingZeros64(mask)
		if p := word(object, uint64(8*k)); p != 0 {
			sc.add(uint32(k), p)
		}
	}
}

// byType scans an object whose content, from header on, is values of one type.
func (sc *scanner) byType(typ uint64, object []byte, header uint64) {
	m, ok := sc.masks[typ]
	if !ok {
		m = sc.types.mask(typ)
		sc.masks[typ] = m
	}
	n := uint64(len(object)) / 8
	for from := header / 8; from < n; from += m.words {
		for k := uint64(0); k < m.reach && from+k < n; k++ {
			if m.bits != nil && m.bits[k/8]>>(k%8)&1 == 0 {
				continue
			}
			if p := word(object, 8*(from+k)); p != 0 {
				sc.add(uint32(from+k), p)
			}
		}
	}
}

// byArena scans an object by its arena's bitmap, of which only the words up to the
// first that says so are the object's (runtime/mbitmap.go of Go 1.20, heapBits).
func (sc *scanner) byArena(addr uint64, object []byte) {
	for k, n := uint64(0), uint64(len(object))/8; k < n; {
		at := addr + 8*k
		arena := sc.c.bitmap(at / arenaSize)
		if arena == nil {
			return
		}
		bit := at % arenaSize / 8
		group := bit / 64
		mask := word(arena, 8*group) >> (bit % 64)
		here := min(64-bit%64, n-k)
		if here < 64 {
			mask &= 1<<here - 1
		}
		for ; mask != 0; mask &= mask - 1 {
			i := k + uint64(bits.TrailingZeros64(mask))
			if p := word(object, 8*i); p != 0 {
				sc.add(uint32(i), p)
			}
		}
		if arena[arenaBitmap+group/8]>>(group%8)&1 != 0 {
			return
		}
		k += here
	}
}

// bitmap is an arena's copied bitmap.
func (c *heapCopy) bitmap(arena uint64) []byte {
	key := arena*arenaSize | bitmapMark
	for i := len(c.regions) - 1; i >= 0 && c.regions[i].addr >= bitmapMark; i-- {
		if c.regions[i].addr == key {
			return c.regions[i].b
		}
	}
	return nil
}

// contents is an object's bytes, nil if it holds no pointers or the copy is gone.
func (o *Objects) contents(id uint32) []byte {
	s, at := o.locate(id)
	if s.data < 0 || o.copy == nil {
		return nil
	}
	off := s.data + int(at-s.start)
	return slices.Clip(o.copy.data[off : off+int(s.elemsize)])
}
