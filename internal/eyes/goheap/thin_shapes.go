package goheap

import "math/bits"

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
