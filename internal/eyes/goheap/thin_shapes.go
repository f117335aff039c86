package goheap

import (
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"math/bits"
)

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

// shapeTable numbers shapes. [0] is all that found no room.
type shapeTable struct {
	all    []shapeCount
	number map[heapShape]uint16
	share  int // of each
}

// heapShape is what objects have in common that are thinned together.
type heapShape struct {
	elemsize uint64
	class    uint8
	noscan   bool
	mask     uint64 // of a small object; of a large one its type
}

// shapeCount is what is known of a shape. An object is kept with a chance of 1 of 2^level, which is
// that of what leads to it if nothing else does: then it is not thinned once more.
type shapeCount struct {
	kept, next int // kept, a large one as many; and how many until there are half as many
	level      uint8
	several    bool // several lead to an object, mostly
}

func (st *shapeTable) of(s heapShape) uint16 {
	if st.number == nil {
		st.number, st.all = make(map[heapShape]uint16), []shapeCount{{next: st.share, several: true}}
	}
	n, ok := st.number[s]
	if !ok && len(st.all) < maxShapes {
		n = uint16(len(st.all))
		st.number[s], st.all = n, append(st.all, shapeCount{next: st.share})
	}
	return n
}

// recentShapes are those that were asked for last, by a hash: of a heap, few are many.
type recentShapes [1 << 8]struct {
	shape  heapShape
	number uint16
	known  bool
}

// number is that of a shape. Each thread has its own.
func (r *recentShapes) number(t *thinner, s heapShape) uint16 {
	last := &r[(s.mask*0x9e3779b97f4a7c15>>56^s.elemsize>>3)%uint64(len(r))]
	if !last.known || last.shape != s {
		t.numbering.Lock()
		last.shape, last.number, last.known = s, t.shapes.of(s), true
		t.numbering.Unlock()
	}
	return last.number
}

// shapeOf numbers the shape of the k-th object of a span.
func (t *thinner) shapeOf(i int, k uint64) uint16 { return t.recent.number(t, t.shape(i, k)) }

func (t *thinner) shape(i int, k uint64) heapShape {
	s := &t.c.heap.spans[i]
	sh := heapShape{elemsize: s.ElemSize, class: s.Class, noscan: s.NoScan, mask: s.LargeType}
	if t.bitmapAt != nil && t.bitmapAt[i] >= 0 {
		sh.mask = t.mask(i, k)
	}
	if s.Class == 0 {
		sh.elemsize = uint64(bits.Len64(s.ElemSize)) // by powers of two
	}
	return sh
}
