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
	now              uint32 // the object that is scanned
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

// indexPages makes the table by which several threads find spans, without that of the stand-ins,
// where nothing points to.
func (t *thinner) indexPages() {
	h := t.c.heap
	first, last := ^uint64(0), uint64(0)
	for a := range h.arenas {
		first, last = min(first, a), max(last, a)
	}
	t.base, t.pages = first, make([]*[arenaPages]int32, last-first)
	for a, pages := range h.arenas {
		if a < last {
			t.pages[a-first] = pages
		}
	}
}

// find is the span and the place that p points into, if there is one.
func (t *thinner) find(p uint64) (span int, place uint64, ok bool) {
	a := p/gomem.ArenaSize - t.base
	if a >= uint64(len(t.pages)) || t.pages[a] == nil {
		return 0, 0, false
	}
	i := int(t.pages[a][p%gomem.ArenaSize/gomem.PageSize]) - 1
	if i < 0 {
		return 0, 0, false
	}
	s := &t.c.heap.spans[i]
	k := (p - s.Start) / s.ElemSize
	return i, t.c.heap.first[i] + k, k < s.NElems
}

// addStandIns adds a span for them behind all others, where nothing can point to.
func (t *thinner) addStandIns() {
	h := t.c.heap
	last := uint64(0)
	for a := range h.arenas {
		last = max(last, a)
	}
	start := (last + 1) * gomem.ArenaSize
	h.spans = append(h.spans, gomem.MSpan{Start: start, End: start + maxShapes*standInSize, ElemSize: standInSize, NElems: maxShapes, FreeIndex: maxShapes,
		AllocBits: noBits, Class: 1, State: gomem.SpanInUse, CopyAt: -1})
	h.place(len(h.spans)-1, len(h.arenas)+1)
}

// noBits is where the stand-ins' bits would be: nowhere, and all are below freeindex.
const noBits = 0

// standInAt is where the stand-ins begin: in the last arena.
func (t *thinner) standInAt() uint64 {
	last := uint64(0)
	for a := range t.c.heap.arenas {
		last = max(last, a)
	}
	return last * gomem.ArenaSize
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
	for n := range t.shapes.all {
		t.shapes.all[n].several = float64(ways[n]) > severalWays*float64(objects[n])
	}
	return nil
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
	own, level := s.level, s.level
	switch {
	case parent == descriptor:
		parent, own, level = noParent, 0, 0
	case span.ElemSize >= alwaysKept, parent == noParent && s.kept < 4*t.share():
		own, level = 0, 0
	case parent != noParent:
		up := t.order[parent].level
		if !s.several { // what leads to it has been thinned, and nothing else does
			own = s.level - min(s.level, up)
		}
		level = min(up+own, 60)
	}
	if t.chance(place) < own {
		return
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
