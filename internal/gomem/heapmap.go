package gomem

import (
	"cmp"
	"math/bits"
	"slices"
)

const (
	arenaPages = arenaSize / pageSize
	// maxObjects and maxHeapPages bound the tables of a mark: 128 MiB of bits,
	// 1 TiB of heap.
	maxObjects   = 1 << 29
	maxHeapPages = 1 << 27
	maxNelems    = 1 << 16 // objects of a span
)

// heapMap finds objects by address.
type heapMap struct {
	spans  []mspan
	first  []uint64                      // index of each span's first object, a multiple of 64
	arenas map[uint64]*[arenaPages]int32 // 1 + index of the span at a page
	near   uint64                        // the arena looked up last, and its pages
	pages  *[arenaPages]int32
	// unmarked has a bit for every allocated object that was not reached yet.
	unmarked []uint64
	total    uint64
}

// heap lists the spans with objects and which objects are allocated.
func (s *spanReader) heap(m memory) (*heapMap, error) {
	h := &heapMap{arenas: make(map[uint64]*[arenaPages]int32), near: ^uint64(0)}
	pages := uint64(0)
	err := s.read(m, func(sp mspan) {
		if sp.state != spanInUse || sp.elemsize == 0 || sp.nelems == 0 || sp.nelems > maxNelems || sp.nelems > (sp.end-sp.start)/sp.elemsize {
			return
		}
		pages += (sp.end - sp.start) / pageSize
		h.spans = append(h.spans, sp)
		h.total += (sp.nelems + 63) &^ 63
	})
	if err != nil {
		return nil, err
	}
	if h.total > maxObjects || pages > maxHeapPages {
		return nil, errHeapTooLarge
	}
	h.number()
	h.unmarked = make([]uint64, h.total/64)
	return h, h.readAllocated(m)
}

// number puts the spans in the order of addresses and enters their pages.
func (h *heapMap) number() {
	slices.SortFunc(h.spans, func(a, b mspan) int { return cmp.Compare(a.start, b.start) })
	h.first = make([]uint64, len(h.spans))
	for i, next := 0, uint64(0); i < len(h.spans); i++ {
		h.first[i] = next
		next += (h.spans[i].nelems + 63) &^ 63
		h.place(i)
	}
}

// place enters a span's pages.
func (h *heapMap) place(i int) {
	for at := h.spans[i].start; at < h.spans[i].end; at += pageSize {
		a := at / arenaSize
		if h.arenas[a] == nil {
			h.arenas[a] = new([arenaPages]int32)
		}
		h.arenas[a][at%arenaSize/pageSize] = int32(i + 1)
	}
}

// readAllocated sets the bits of allocated objects: those below freeindex and
// those with their bit in allocBits (runtime/mbitmap.go, isFree).
func (h *heapMap) readAllocated(m memory) error {
	near := newCursor(m)
	var raw [maxNelems / 8]byte
	for i := range h.spans {
		s := &h.spans[i]
		n := (s.nelems + 7) / 8
		if err := near.read(s.allocBits, raw[:n]); err != nil {
			return err
		}
		for k := range s.nelems {
			if k < s.freeindex || raw[k/8]>>(k%8)&1 != 0 {
				o := h.first[i] + k
				h.unmarked[o/64] |= 1 << (o % 64)
			}
		}
	}
	return nil
}

// find is the span and object that p points into; ok is false for what is no
// object.
func (h *heapMap) find(p uint64) (span int, object uint64, ok bool) {
	arena := p / arenaSize
	if arena != h.near {
		h.near, h.pages = arena, h.arenas[arena]
	}
	if h.pages == nil {
		return 0, 0, false
	}
	i := int(h.pages[p%arenaSize/pageSize]) - 1
	if i < 0 {
		return 0, 0, false
	}
	s := &h.spans[i]
	k := (p - s.start) / s.elemsize
	return i, h.first[i] + k, k < s.nelems
}

// take marks an object and reports whether it was not marked before.
func (h *heapMap) take(object uint64) bool {
	w, bit := object/64, uint64(1)<<(object%64)
	if h.unmarked[w]&bit == 0 {
		return false
	}
	h.unmarked[w] &^= bit
	return true
}

// reached says whether the object that p points into was marked. It must be
// allocated.
func (h *heapMap) reached(p uint64) bool {
	_, object, ok := h.find(p)
	return ok && h.unmarked[object/64]>>(object%64)&1 == 0
}

// lowest is the index of the lowest set bit.
func lowest(w uint64) uint64 { return uint64(bits.TrailingZeros64(w)) }
