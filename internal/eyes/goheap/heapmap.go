package goheap

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

const (
	arenaPages = gomem.ArenaSize / gomem.PageSize
	// maxObjects and maxHeapPages bound the tables of a mark: 128 MiB of bits,
	// 1 TiB of heap.
	maxObjects   = 1 << 29
	maxHeapPages = 1 << 27
	maxNelems    = 1<<16 - 1 // objects of a span: mspan.nelems has 16 bits
)

// heapMap finds objects by address.
type heapMap struct {
	spans  []gomem.MSpan
	first  []uint64                      // index of each span's first object, a multiple of 64
	arenas map[uint64]*[arenaPages]int32 // 1 + index of the span at a page
	near   uint64                        // the arena looked up last, and its pages
	pages  *[arenaPages]int32
	// unmarked has a bit for every allocated object that was not reached yet.
	unmarked []uint64
	// young has a bit for each of these that was allocated since the last garbage
	// collection, where that is asked for.
	young    []uint64
	sweepgen uint32 // mheap_.sweepgen
	total    uint64
	room     gomem.Room // for the tables of arenas
}

// heapOf lists the spans with objects and which objects are allocated.
func heapOf(r *gomem.Runtime) (*heapMap, error) {
	h := &heapMap{room: r.Room()}
	err := r.Spans().Read(r.Memory(), func(sp gomem.MSpan) {
		if holdsObjects(&sp) {
			h.spans = append(h.spans, sp)
		}
	})
	if err != nil {
		return nil, err
	}
	if err := h.enter(); err != nil {
		return nil, err
	}
	h.number()
	near := gomem.NewCursor(r.Memory())
	return h, h.readAllocated(0, len(h.spans), near.Read)
}

// holdsObjects says whether a span has objects, and as many as it has room for.
func holdsObjects(s *gomem.MSpan) bool {
	return s.State == gomem.SpanInUse && s.ElemSize != 0 && s.NElems != 0 && s.NElems <= maxNelems && s.NElems <= (s.End-s.Start)/s.ElemSize
}

// enter notes the pages of all spans.
func (h *heapMap) enter() error {
	if h.arenas == nil {
		h.arenas = make(map[uint64]*[arenaPages]int32)
	}
	for _, pages := range h.arenas {
		clear(pages[:])
	}
	h.near, h.pages = ^uint64(0), nil
	most := int(min(maxHeapPages/arenaPages, h.room.Most()/(4*arenaPages)))
	pages, objects := uint64(0), uint64(0)
	for i := range h.spans {
		if s := &h.spans[i]; s.NElems > 0 {
			pages += (s.End - s.Start) / gomem.PageSize
			objects += (s.NElems + 63) &^ 63
		}
		if pages > maxHeapPages || objects > maxObjects {
			return errHeapTooLarge
		}
		if !h.place(i, most) {
			return fmt.Errorf("%w: it lies in more than %d arenas", errHeapTooLarge, most)
		}
	}
	return nil
}

// place enters a span's pages, unless the tables of arenas become more than may be: a
// hostile heap has a span in each.
func (h *heapMap) place(i, most int) (ok bool) {
	s := &h.spans[i]
	if s.NElems == 0 {
		return true // none: a descriptor that is not in use
	}
	for at := s.Start; at < s.End; at += gomem.PageSize {
		if a := at / gomem.ArenaSize; a != h.near {
			if h.arenas[a] == nil && len(h.arenas) >= most {
				return false
			}
			if h.arenas[a] == nil {
				h.arenas[a] = new([arenaPages]int32)
			}
			h.near, h.pages = a, h.arenas[a]
		}
		h.pages[at%gomem.ArenaSize/gomem.PageSize] = int32(i + 1)
	}
	return true
}

// byAddress calls fn for each span, in the order of their addresses. Of spans that
// claim one page, in a memory that changes, one is left out.
func (h *heapMap) byAddress(fn func(i int)) {
	numbers := make([]uint64, 0, len(h.arenas))
	for a := range h.arenas {
		numbers = append(numbers, a)
	}
	slices.Sort(numbers)
	for _, a := range numbers {
		for page, i := range h.arenas[a] {
			if i != 0 && h.spans[i-1].Start == a*gomem.ArenaSize+uint64(page)*gomem.PageSize {
				fn(int(i - 1))
			}
		}
	}
}

// number puts the spans in order, those with pointers first, each kind by address,
// and gives their objects places.
func (h *heapMap) number() {
	ordered := make([]gomem.MSpan, 0, len(h.spans))
	for _, noscan := range []bool{false, true} {
		h.byAddress(func(i int) {
			if h.spans[i].NoScan == noscan {
				ordered = append(ordered, h.spans[i])
			}
		})
	}
	for _, pages := range h.arenas {
		clear(pages[:])
	}
	h.spans, h.first, h.total = ordered, make([]uint64, len(ordered)), 0
	h.near = ^uint64(0)
	for i := range h.spans {
		h.first[i] = h.total
		h.total += (h.spans[i].NElems + 63) &^ 63
		h.place(i, len(h.arenas)) // they are there
	}
	h.near = ^uint64(0)
	h.unmarked = make([]uint64, h.total/64)
}

// readAllocated sets the bits of the allocated objects of some spans: those below
// freeindex and those with their bit in allocBits (runtime/mbitmap.go, isFree). These
// were marked by the collection after which the span was swept, all others are younger.
// In a span that is yet to be swept nothing was allocated since.
func (h *heapMap) readAllocated(from, to int, read func(addr uint64, p []byte) error) error {
	var raw [(maxNelems + 7) / 8]byte
	for i := from; i < to; i++ {
		s := &h.spans[i]
		words := h.unmarked[h.first[i]/64:][:(s.NElems+63)/64]
		clear(raw[:8*len(words)])
		if err := read(s.AllocBits, raw[:(s.NElems+7)/8]); err != nil {
			return err
		}
		for w := range words {
			marked := binary.LittleEndian.Uint64(raw[8*w:])
			words[w] = marked | below(s.FreeIndex, w)
			if h.young != nil && s.Swept(h.sweepgen) {
				h.young[h.first[i]/64+uint64(w)] = below(min(s.FreeIndex, s.NElems), w) &^ marked
			}
		}
		words[len(words)-1] &= below(s.NElems, len(words)-1)
	}
	return nil
}

// below is the bits of the w-th word that stand for numbers below n.
func below(n uint64, w int) uint64 {
	switch from := uint64(w) * 64; {
	case n <= from:
		return 0
	case n-from < 64:
		return 1<<(n-from) - 1
	}
	return ^uint64(0)
}

// spanAt is the index of the span at an address, -1 if there is none.
func (h *heapMap) spanAt(p uint64) int {
	arena := p / gomem.ArenaSize
	if arena != h.near {
		h.near, h.pages = arena, h.arenas[arena]
	}
	if h.pages == nil {
		return -1
	}
	return int(h.pages[p%gomem.ArenaSize/gomem.PageSize]) - 1
}

// find is the span and object that p points into; ok is false for what is no
// object.
func (h *heapMap) find(p uint64) (span int, object uint64, ok bool) {
	i := h.spanAt(p)
	if i < 0 {
		return 0, 0, false
	}
	s := &h.spans[i]
	k := (p - s.Start) / s.ElemSize
	return i, h.first[i] + k, k < s.NElems
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
