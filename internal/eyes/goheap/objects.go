package goheap

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

// maxGraph bounds the objects, roots and pointers of one graph: ids have 32 bits.
const maxGraph = 1<<32 - 1<<16

// Objects is every allocated object of a heap at one instant, garbage that is not
// swept yet included, and every pointer between them. Objects have ids from 0 to
// Count-1: first those that may have pointers, then the others, each in the order of
// their addresses; the roots follow.
//
// The pointers of node i are To[First[i]:First[i+1]]; the objects without any have no
// place in First, so that a root's is the less by Leaves.
type Objects struct {
	Count  int
	Leaves int    // the last so many objects have no pointers
	Bytes  uint64 // of all objects
	Roots  []Root
	Frames gomem.StackFrames
	Later  []uint32 // with which the goroutines, the pools, the timers and the finalizers begin among the roots
	Framed []uint32 // the nodes of goroutines whose pointers come frame by frame, the outermost first
	First  []uint32
	To     []uint32

	Types       *Types
	typeOf      typeTable // by object; FindTypes fills it, and Collections
	Collections []Collection
	// Taken is of an array how many elements come before the first that a slice has; none: it is not there.
	Taken   map[uint32]uint64
	Samples []Sample
	strings *stringList // nil: nobody wants them
	young   []uint64    // a bit an object: allocated since the last collection
	carried []uint64    // a bit an object: its type is not only that of what points there

	// By pointer: of an object, how many words behind the one before it lies, the first
	// behind the malloc header, and whether it is plain; of a variable, at which word.
	// Once types are found, its label.
	slot []uint16
	far  map[uint32]uint32 // where that is isFar

	spans   []objectSpan
	bySpan  []int32             // span of each 64th object
	pages   []*[arenaPages]page // by arena, from base on
	kinds   []spanKind          // [0] is none
	base    uint64              // number of the first arena
	places  []places            // 64 each, and one more behind the last
	copy    *heapCopy           // nil once it is let go
	thinned *Thinned            // nil: these are all objects
	headers bool
}

const (
	isFar = 1<<16 - 1
	// isPlain is a pointer of an object to the beginning of one of less than minCovered
	// bytes: its type follows from that of its place alone. isBehind is what is left for
	// the words.
	isPlain  = 1 << 15
	isBehind = isPlain - 1
)

// behind is how many words the pointer e of an object lies behind the one before it.
func (o *Objects) behind(e uint32) (words uint64, plain bool) {
	s := o.slot[e]
	if s&isBehind != isBehind {
		return uint64(s & isBehind), s&isPlain != 0
	}
	return uint64(o.far[e]), s&isPlain != 0
}

func (o *Objects) slotOf(e uint32) uint32 {
	if s := o.slot[e]; s != isFar {
		return uint32(s)
	}
	return o.far[e]
}

func (o *Objects) setSlot(e, slot uint32) {
	o.slot[e] = uint16(min(slot, isFar))
	if slot >= isFar {
		o.far[e] = slot
	}
}

// Pointers is where in To the pointers of a node begin and end.
func (o *Objects) Pointers(node uint32) (first, end uint32) {
	switch inner := uint32(o.Count - o.Leaves); {
	case node < inner:
	case node < uint32(o.Count):
		return 0, 0
	default:
		node -= uint32(o.Leaves)
	}
	return o.First[node], o.First[node+1]
}

// TypeOf is an object's type, 0 if it is not known. FindTypes must have been called.
func (o *Objects) TypeOf(id uint32) TypeRef { return o.typeOf.at(id) }

// Sample is an object of the heap profile.
type Sample struct {
	Object uint32
	Bucket uint64 // address
}

// places are 64 in which objects may be.
type places struct {
	bits uint64 // which of them hold one
	rank uint32 // objects before them
}

// objectSpan is a span, without pointers of ours.
type objectSpan struct {
	start    uint64
	elemsize uint64
	first    uint32 // id of its first object
	place    uint32 // of its first object, a multiple of 64
	nelems   uint16
	is       spanTraits
}

// page is what is asked of a page of the heap for every pointer into it: those of a
// GiB take 1.5 MiB, of which the caches keep most.
type page struct {
	first uint32 // id of its span's first object
	place uint32 // of that
	kind  uint16 // of the span; 0: there is none
	at    uint16 // pages of the span before it, up to farPage
}

const farPage = 1<<16 - 1

// spanKind is what many spans have in common.
type spanKind struct {
	elemsize uint64 // 0: of one object, whose size is the span's own
	header   uint64 // bytes of the malloc header
	plain    uint64 // where a plain pointer into an object leads to; see isPlain
	div      uint32 // 2^32 / elemsize, rounded up; 0: one object
	nelems   uint16
	full     bool // all of its objects are allocated: they need no look at the places
	own      bool // holds descriptors that are roots of their own
}

// maxKinds is more than there are size classes, by far.
const maxKinds = 1<<16 - 1

type spanTraits uint8

const (
	spanNoscan spanTraits = 1 << iota
	spanHeader            // its objects have a malloc header
	spanFull              // all of its objects are allocated: they need no look at the places
)

// header is the bytes of the malloc header of its objects.
func (s *objectSpan) header() uint64 { return uint64(s.is&spanHeader) / uint64(spanHeader) * 8 }

// errNoObjects is returned for a heap that was caught before its first object.
var errNoObjects = errors.New("the heap has no objects")

// numberObjects makes the tables by which a pointer's object is found.
func numberObjects(h *heapMap, headers bool) (*Objects, error) {
	o := &Objects{places: InLargePages(make([]places, len(h.unmarked)+1)), headers: headers}
	for i, w := range h.unmarked {
		o.places[i].bits = w
		o.places[i+1].rank = o.places[i].rank + uint32(bits.OnesCount64(w))
	}
	o.Count = int(o.places[len(h.unmarked)].rank)
	o.noteYoung(h)
	h.unmarked, h.young = nil, nil
	if o.Count == 0 {
		return nil, errNoObjects
	}
	o.spans = InLargePages(make([]objectSpan, len(h.spans)))
	for i := range h.spans {
		s := o.spanOfObjects(&h.spans[i], uint32(h.first[i]))
		n := int(o.places[s.place/64+(uint32(s.nelems)+63)/64].rank - s.first)
		if n == int(s.nelems) {
			s.is |= spanFull
		}
		o.Bytes += s.elemsize * uint64(n)
		if s.is&spanNoscan != 0 {
			o.Leaves += n
		}
		o.spans[i] = s
	}
	o.indexSpans()
	return o, o.indexPages(h)
}

// noteYoung turns bits of places into those of objects.
func (o *Objects) noteYoung(h *heapMap) {
	o.young = InLargePages(make([]uint64, o.Count/64+2))
	for i, young := range h.young {
		all, rank := o.places[i].bits, uint64(o.places[i].rank)
		if young &= all; young == 0 {
			continue
		}
		packed, n := young, uint64(64)
		if all != ^uint64(0) {
			packed, n = 0, 0
			for rest := all; rest != 0; rest &= rest - 1 {
				packed |= young >> lowest(rest) & 1 << n
				n++
			}
		}
		o.young[rank/64] |= packed << (rank % 64)
		if shift := rank % 64; shift+n > 64 {
			o.young[rank/64+1] |= packed >> (64 - shift)
		}
	}
}

// Young says whether an object was allocated since the last garbage collection that had
// ended by then, so that none has found it alive yet.
func (o *Objects) Young(id uint32) bool { return o.young[id/64]>>(id%64)&1 != 0 }

func (o *Objects) spanOfObjects(s *gomem.MSpan, place uint32) objectSpan {
	os := objectSpan{start: s.Start, elemsize: s.ElemSize, nelems: uint16(s.NElems), place: place, first: o.places[place/64].rank}
	if s.NoScan {
		os.is |= spanNoscan
	}
	if o.headers && !s.NoScan && s.Class != 0 && s.ElemSize > maxInSpan {
		os.is |= spanHeader // since Go 1.22, runtime/mbitmap.go
	}
	return os
}

// firstOf is the id of a span's first object.
func (o *Objects) firstOf(i int) uint32 { return o.spans[i].first }

// endOf is one more than the id of a span's last object.
func (o *Objects) endOf(i int) uint32 {
	if i+1 == len(o.spans) {
		return uint32(o.Count)
	}
	return o.spans[i+1].first
}

// indexSpans notes the span of every 64th object.
func (o *Objects) indexSpans() {
	o.bySpan = make([]int32, o.Count/64+1)
	span := 0
	for i := range o.bySpan {
		for span+1 < len(o.spans) && o.endOf(span) <= uint32(i*64) {
			span++
		}
		o.bySpan[i] = int32(span)
	}
}

// indexPages enters the pages of all spans.
func (o *Objects) indexPages(h *heapMap) error {
	lo, hi := ^uint64(0), uint64(0)
	for i := range h.spans {
		lo, hi = min(lo, h.spans[i].Start/gomem.ArenaSize), max(hi, (h.spans[i].End-1)/gomem.ArenaSize)
	}
	const maxReach = 1 << 21 // arenas: 128 TiB, all that a process can map
	if hi-lo > maxReach {
		return fmt.Errorf("the heap reaches from %#x to %#x", lo*gomem.ArenaSize, hi*gomem.ArenaSize)
	}
	o.base, o.pages = lo, make([]*[arenaPages]page, hi-lo+1)
	known := make(map[spanKind]uint16)
	o.kinds = make([]spanKind, 1)
	for i := range o.spans {
		s := &o.spans[i]
		k := o.kindOf(s)
		kind, ok := known[k]
		if !ok {
			if len(o.kinds) > maxKinds {
				return fmt.Errorf("the heap has spans of more than %d kinds", maxKinds)
			}
			kind = uint16(len(o.kinds))
			known[k], o.kinds = kind, append(o.kinds, k)
		}
		o.enter(h, i, page{first: s.first, place: s.place, kind: kind})
	}
	return nil
}

func (o *Objects) kindOf(s *objectSpan) spanKind {
	k := spanKind{header: s.header(), plain: ^uint64(0), nelems: s.nelems, full: s.is&spanFull != 0}
	if s.elemsize < minCovered && s.nelems > 1 {
		k.plain = k.header
	}
	if s.nelems > 1 {
		k.elemsize, k.div = s.elemsize, ^uint32(0)/uint32(s.elemsize)+1 // runtime/mheap.go, divMagic
	}
	return k
}

// enter enters a span's pages, those that no other has taken.
func (o *Objects) enter(h *heapMap, i int, pg page) {
	start := h.spans[i].Start
	for at := start; at < h.spans[i].End; at += gomem.PageSize {
		if h.spanAt(at) != i {
			continue
		}
		arena := &o.pages[at/gomem.ArenaSize-o.base]
		if *arena == nil {
			*arena = new([arenaPages]page)
		}
		pg.at = uint16(min((at-start)/gomem.PageSize, farPage))
		(*arena)[at%gomem.ArenaSize/gomem.PageSize] = pg
	}
}

// find is the object that p points into, the kind of its span, and how far behind its
// beginning p lies; ok is false for what is no allocated object.
func (o *Objects) find(p uint64) (id uint32, k *spanKind, behind uint64, ok bool) {
	a := p/gomem.ArenaSize - o.base
	if a >= uint64(len(o.pages)) || o.pages[a] == nil {
		return 0, nil, 0, false
	}
	pg := &o.pages[a][p%gomem.ArenaSize/gomem.PageSize]
	k = &o.kinds[pg.kind]
	off := uint64(pg.at)*gomem.PageSize + p%gomem.PageSize
	if pg.at == farPage {
		off = p - o.spans[o.spanOf(pg.first)].start
	}
	n := off * uint64(k.div) >> 32
	if n >= uint64(k.nelems) {
		return 0, nil, 0, false
	}
	behind = off - n*k.elemsize
	if k.full {
		return pg.first + uint32(n), k, behind, true
	}
	at := uint64(pg.place) + n
	w, bit := &o.places[at/64], at%64
	if w.bits>>bit&1 == 0 {
		return 0, nil, 0, false
	}
	return w.rank + uint32(bits.OnesCount64(w.bits&(1<<bit-1))), k, behind, true
}

// locate is the span of an object, and its address.
func (o *Objects) locate(id uint32) (span int, at uint64) {
	span = o.spanOf(id)
	s := &o.spans[span]
	k := id - s.first
	if s.is&spanFull == 0 {
		w := s.place / 64
		for o.places[w+1].rank <= id {
			w++
		}
		k = w*64 - s.place + nth(o.places[w].bits, id-o.places[w].rank)
	}
	return span, s.start + uint64(k)*s.elemsize
}

// nth is the index of the n-th set bit, counted from 0.
func nth(w uint64, n uint32) (at uint32) {
	for half := uint32(32); half > 0; half /= 2 {
		if below := uint32(bits.OnesCount64(w & (1<<half - 1))); below <= n {
			n -= below
			w >>= half
			at += half
		} else {
			w &= 1<<half - 1
		}
	}
	return at
}

// Size is the bytes that an object takes, those lost to its size class included.
func (o *Objects) Size(id uint32) uint64 {
	return o.spans[o.spanOf(id)].elemsize
}

// Sizes calls fn for runs of objects of one size, in order.
func (o *Objects) Sizes(fn func(first, end uint32, size uint64)) {
	for i := range o.spans {
		if first, end := o.firstOf(i), o.endOf(i); first < end {
			fn(first, end, o.spans[i].elemsize)
		}
	}
}

// Address is where an object begins.
func (o *Objects) Address(id uint32) uint64 {
	_, at := o.locate(id)
	return at
}

// Start is where the first arena with objects begins. A process keeps it.
func (o *Objects) Start() uint64 { return o.base * gomem.ArenaSize }

// At is the object at an address.
func (o *Objects) At(p uint64) (id uint32, ok bool) {
	id, _, _, ok = o.find(p)
	return id, ok
}

// SizeOf gives the bytes of nodes, fast for one after the other; roots have none.
func (o *Objects) SizeOf() func(node uint32) uint64 {
	if o.thinned != nil {
		return o.sizeOfThinned
	}
	first, end, size := uint32(0), uint32(0), uint64(0)
	return func(node uint32) uint64 {
		if node-first < end-first {
			return size
		}
		if node >= uint32(o.Count) {
			return 0
		}
		i := o.spanOf(node)
		first, end, size = o.firstOf(i), o.endOf(i), o.spans[i].elemsize
		return size
	}
}
