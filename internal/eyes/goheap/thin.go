package goheap

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// A heap that is too large to be read whole is thinned: of objects that are many, a random
// part is kept with what that leads to, and the rest is represented by one stand-in for all
// objects of a shape. Every way from a root to an object that is kept is then a way through
// objects that are kept and stand-ins, so that what dominates such an object in the thinned
// heap dominates it in the heap. The reverse is not always true: a stand-in joins ways that
// are apart.
//
// A shape is a size class with a mask of pointers. Those with few objects are kept whole.

// DefaultThinned is about how many objects are kept where nobody says otherwise: with them, and
// three or four shapes that are many, a share of the heap is known to a hundredth or two.
const DefaultThinned = 125_000

// errOldBitmaps is returned for a Go whose pointers are noted apart from the spans.
var errOldBitmaps = errors.New("a heap can be sampled since Go 1.22, which keeps the pointer bitmaps with the objects")

const (
	// maxShapes is how many shapes are told apart; the others share number 0.
	maxShapes = 1 << 12
	// shapesShared is by how many shapes the objects that are kept are divided: one that
	// has had its part is halved, and again after as many.
	shapesShared = 32
	// alwaysKept is the smallest object that is never left out: a table of pointers, mostly.
	alwaysKept = 1 << 20
	// standInSize is the size class of the stand-ins, of which nobody sees the bytes.
	standInSize = 16
	noParent    = ^uint32(0)
	descriptor  = noParent - 1 // of a goroutine or a P: what leads there is kept
)

// thinner chooses which objects of a heap are kept.
type thinner struct {
	c     *heapCopy
	most  int // objects that should be kept, about
	masks scanner
	known map[uint64]*typeMask
	key   uint64 // of the hash that chooses

	allocated, young []uint64 // a bit a place
	seen, kept       []uint64
	order            []keptObject // in the order in which they were met
	shapes           shapeTable
	numbering        sync.Mutex // of them
	bitmaps          []byte     // of all spans that hold theirs
	bitmapAt         []int      // by span; -1: it has none
	pages            []*[arenaPages]int32
	base             uint64 // number of the first arena of pages
	recent           recentShapes
	standIn          int    // span of the stand-ins
	bytes            uint64 // of contents
}

// keptObject is one that is kept.
type keptObject struct {
	place   uint32
	parent  uint32 // what led to it first, in the order of thinner; noParent: a root
	shape   uint16
	halved  uint8 // its own chance was 1 of 2^halved
	level   uint8 // and with those of what led to it about 1 of 2^level
	content []byte
}

// PlanThinnedCopy is PlanHeapCopy for a copy that keeps about so many objects.
func (h *Heap) PlanThinnedCopy(limit sample.Bytes, most int) (*HeapPlan, error) {
	if h.why != nil {
		return nil, h.why
	}
	if limit > 0 {
		h.r.Within(func() sample.Bytes { return limit })
	}
	p := &HeapPlan{c: h.newCopy(limit), touched: make(chan bool)}
	close(p.touched)
	c := p.c
	c.thin = &thinner{c: c, most: max(most, 1000), known: make(map[uint64]*typeMask), key: rand.Uint64()}
	err := errors.Join(c.attachBitmaps(), c.attachModules())
	if err == nil && c.old {
		err = errOldBitmaps
	}
	if err == nil {
		err = c.readSpans()
	}
	if err == nil {
		err = c.fits(c.thin.estimate())
	}
	if err != nil {
		return nil, fmt.Errorf("plan a sample of the heap: %w", err)
	}
	c.thin.order = make([]keptObject, 2*c.thin.most)[:0]
	return p, nil
}

// estimate is what it takes: bits for all places, the bitmaps of all spans, and objects that
// are kept, most of which are small.
func (t *thinner) estimate() sample.Bytes {
	const perKept = 400
	places, bitmaps := uint64(0), uint64(0)
	for i := range t.c.heap.spans {
		s := &t.c.heap.spans[i]
		places += (s.NElems + 63) &^ 63
		if !s.NoScan && s.ElemSize <= maxInSpan {
			bitmaps += s.Size() / 64
		}
	}
	return sample.Bytes(5*places/8 + bitmaps + 4*uint64(t.most)*perKept)
}

// copyThinned is copy of a part: which objects there are, everything else, and the contents
// of what is kept.
func (c *heapCopy) copyThinned(ctx context.Context) error {
	t := c.thin
	if err := c.readSpans(); err != nil {
		return err
	}
	c.heap.spans = slices.DeleteFunc(c.heap.spans, func(s gomem.MSpan) bool { return s.NElems == 0 })
	if err := c.heap.enter(); err != nil {
		return err
	}
	if err := c.copyRest(ctx); err != nil {
		return err
	}
	t.addStandIns()
	c.heap.number()
	t.standIn = c.heap.spanAt(t.standInAt())
	t.indexPages()
	c.heap.young, c.heap.sweepgen = make([]uint64, len(c.heap.unmarked)), c.sweepgen
	if err := c.readAllocated(); err != nil {
		return err
	}
	t.allocated, t.young = c.heap.unmarked, c.heap.young
	t.seen, t.kept = make([]uint64, len(t.allocated)), make([]uint64, len(t.allocated))
	if err := t.readBitmaps(ctx); err != nil {
		return err
	}
	return t.choose(ctx)
}

// readBitmaps reads what spans say of their words.
func (t *thinner) readBitmaps(ctx context.Context) error {
	spans := t.c.heap.spans
	t.bitmapAt = make([]int, len(spans))
	var pieces [][2]uint64
	n := 0
	for i := range spans {
		t.bitmapAt[i] = -1
		if s := &spans[i]; !s.NoScan && s.ElemSize <= maxInSpan && i != t.standIn {
			end := s.End
			if t.c.inline && s.ElemSize >= minInline {
				end -= inlineMarks
			}
			pieces = append(pieces, [2]uint64{end - s.Size()/64, end})
			t.bitmapAt[i] = n
			n += int(s.Size() / 64)
		}
	}
	t.bitmaps = make([]byte, n)
	return readAll(ctx, t.c.mem, pieces, t.bitmaps)
}

// choose goes from the roots on, breadth first, in batches of which each is one reading.
func (t *thinner) choose(ctx context.Context) (err error) {
	if t.masks.types, err = newTypes(t.c); err != nil {
		return err
	}
	t.masks.c, t.masks.masks = t.c, make(map[uint64]*typeMask)
	t.shapes.share = t.share()
	if err := t.glance(); err != nil {
		return err
	}
	t.fromRoots()
	for next := 0; next < len(t.order); {
		if next, err = t.batch(ctx, next); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// fromRoots meets what variables, stacks and special records may point to: some words are no
// pointers, and what only they lead to is found to be out of reach later.
func (t *thinner) fromRoots() {
	for i := range t.c.goroutines {
		t.meet(descriptor, t.c.goroutines[i].Addr)
	}
	t.meetPs()
	for _, r := range t.c.regions {
		for b := r.b; len(b) >= 8; b = b[8:] {
			t.meet(noParent, gomem.Word(b, 0))
		}
	}
	for i := range t.c.specials {
		for _, w := range t.c.specials[i].words {
			t.meet(noParent, w)
		}
	}
}

// meetPs meets the runtime's Ps, which have the timers.
func (t *thinner) meetPs() {
	mem := t.c.memory()
	list, _ := mem.U64(t.c.marker.allp)
	n, _ := mem.U64(t.c.marker.allp + 8)
	t.meet(descriptor, list)
	for i := range min(n, gomem.MaxPs) {
		p, _ := mem.U64(list + 8*i)
		t.meet(descriptor, p)
	}
}

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
