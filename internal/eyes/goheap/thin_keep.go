package goheap

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// batch reads what is next of the objects with pointers, and meets what they lead to.
func (t *thinner) batch(ctx context.Context, next int) (int, error) {
	var pieces [][2]uint64
	n, end := uint64(0), next
	for ; end < len(t.order) && n < maxBatch && len(pieces) < 4*maxPieces; end++ {
		i, k := t.locate(t.order[end].place)
		if s := &t.c.heap.spans[i]; !s.NoScan {
			pieces = append(pieces, [2]uint64{s.Start + k*s.ElemSize, s.Start + (k+1)*s.ElemSize})
			n += s.ElemSize
		}
	}
	if t.bytes += n; t.c.limit > 0 && sample.Bytes(t.bytes) > t.c.limit/2 {
		return end, fmt.Errorf("%w: a sample's tables of pointers are %d MiB", gomem.ErrTooLarge, t.bytes>>20)
	}
	b := make([]byte, n)
	if err := readAll(ctx, t.c.mem, pieces, b); err != nil && (ctx.Err() != nil || t.readEach(pieces, b) == 0) {
		return end, err
	}
	for ; next < end; next++ {
		i, k := t.locate(t.order[next].place)
		s := &t.c.heap.spans[i]
		if s.NoScan {
			continue
		}
		t.order[next].content, b = b[:s.ElemSize:s.ElemSize], b[s.ElemSize:]
		t.each(t.known, i, k, t.order[next].content, func(_ uint32, p uint64) { t.meet(uint32(next), p) })
	}
	return end, ctx.Err()
}

// readEach reads pieces one by one and says how many could be; the others are zeros.
func (t *thinner) readEach(pieces [][2]uint64, b []byte) (read int) {
	for _, at := range pieces {
		n := at[1] - at[0]
		if t.c.mem.Read(at[0], b[:n]) == nil {
			read++
		} else {
			clear(b[:n])
		}
		b = b[n:]
	}
	return read
}

// locate is the span of a place, and which of its objects that is.
func (t *thinner) locate(place uint32) (span int, k uint64) {
	first := t.c.heap.first
	i, ok := slices.BinarySearch(first, uint64(place))
	if !ok {
		i--
	}
	return i, uint64(place) - first[i]
}

// each calls fn for each word of an object that may be a pointer and is not nil, counted from
// behind its malloc header.
func (t *thinner) each(known map[uint64]*typeMask, i int, k uint64, object []byte, fn func(slot uint32, p uint64)) {
	s := &t.c.heap.spans[i]
	if t.bitmapAt[i] >= 0 {
		for mask := t.mask(i, k); mask != 0; mask &= mask - 1 {
			slot := bits.TrailingZeros64(mask)
			if p := gomem.Word(object, uint64(8*slot)); p != 0 {
				fn(uint32(slot), p)
			}
		}
		return
	}
	typ := s.LargeType
	if s.Class != 0 {
		typ, object = gomem.Word(object, 0), object[8:]
	}
	w := scanWorker{scanner: &t.masks, known: known}
	m, n := w.mask(typ), uint64(len(object))/8
	for from := uint64(0); from < n; from += m.words {
		for at := uint64(0); at < m.reach && from+at < n; at++ {
			if m.bits != nil && m.bits[at/8]>>(at%8)&1 == 0 {
				continue
			}
			if p := gomem.Word(object, 8*(from+at)); p != 0 {
				fn(uint32(from+at), p)
			}
		}
	}
}

// mask is the bits of an object of at most 64 words.
func (t *thinner) mask(i int, k uint64) uint64 {
	s := &t.c.heap.spans[i]
	words := s.ElemSize / 8
	return bitsOf(t.bitmaps[t.bitmapAt[i]:][:s.Size()/64], k*words, words)
}

// layOut puts the contents of what is kept behind each other in the order of places, by which
// they are found.
func (t *thinner) layOut() {
	c := t.c
	sorted := make([]uint32, 0, len(t.order))
	for i := range t.order {
		if t.order[i].content != nil {
			sorted = append(sorted, uint32(i))
		}
	}
	slices.SortFunc(sorted, func(a, b uint32) int { return int(t.order[a].place) - int(t.order[b].place) })
	for i := range c.heap.spans {
		c.heap.spans[i].CopyAt = -1
	}
	c.data = make([]byte, 0, t.bytes)
	for _, at := range sorted {
		o := &t.order[at]
		i, _ := t.locate(o.place)
		if s := &c.heap.spans[i]; s.CopyAt < 0 {
			s.CopyAt = len(c.data)
		}
		c.data = append(c.data, o.content...)
		o.content = nil
	}
}
