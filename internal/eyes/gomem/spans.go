package gomem

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/highwater-go/highwater/internal/words/sample"
)

const (
	// maxSpans bounds mheap_.allspans: 64 Mi spans of one page are 512 GiB.
	maxSpans = 1 << 26
	pageSize = 8 << 10 // a page of the Go heap (internal/runtime/gc.PageSize)
)

// perSpan is what a span takes of our memory while a heap is gone through: its address, for
// a moment twice, and its description in lists that grow.
const perSpan = 2*8 + 3*96

// States of a span (runtime/mheap.go).
const (
	spanInUse  = 1 // holds heap objects
	spanManual = 2 // goroutine stacks and the collector's work buffers
)

// spanReader reads the runtime's spans. Their descriptors are never freed, only
// used again, so a list of addresses that was sorted once stays good.
type spanReader struct {
	allspans uint64 // address of mheap_.allspans
	sweepgen uint64 // address of mheap_.sweepgen
	size     int    // bytes of an mspan that are read
	at       spanPlaces
	sorted   []uint64
	records  recordReader
	room     room
}

// spanPlaces are offsets within a runtime.mspan.
type spanPlaces struct {
	start, npages, sweepgen    uint64
	spanclass, state, elemsize uint64
	allocBits, specials        uint64
	freeindex, nelems          number // words to Go 1.21, then 16 bits
	largeType                  uint64 // since Go 1.22, else 0
}

// mspan is what is known of one span.
type mspan struct {
	start, end uint64
	elemsize   uint64
	allocBits  uint64 // address
	specials   uint64 // address of the first, 0 if none
	nelems     uint64
	freeindex  uint64
	sweepgen   uint32
	class      uint8 // size class; 0: one large object
	state      uint8
	noscan     bool // holds no pointers
	largeType  uint64
	data       int // for who copies it: where the copy begins; -1: there is none
}

// attach finds the spans and looks at the first.
func (s *spanReader) attach(r *Runtime, find *resolver) error {
	heap := find.addr("mheap_")
	s.allspans = heap + find.offset("mheap", "allspans")
	s.sweepgen = heap + find.offset("mheap", "sweepgen")
	o := func(field string) uint64 { return find.offset("mspan", field) }
	s.at = spanPlaces{
		start: o("startAddr"), npages: o("npages"),
		freeindex: find.number("mspan", "freeindex"), nelems: find.number("mspan", "nelems"),
		sweepgen: o("sweepgen"), spanclass: o("spanclass"), state: o("state"), elemsize: o("elemsize"),
		allocBits: o("allocBits"), specials: o("specials"),
	}
	s.at.largeType, _ = find.layout.Offset("runtime.mspan", "largeType")
	s.size = int(find.size("mspan"))
	if err := find.err(); err != nil {
		return err
	}
	return s.verify(r.mem)
}

// verify refuses a heap whose first span lies on no page boundary.
func (s *spanReader) verify(m memory) error {
	list, n, _, err := m.slice(s.allspans, 8, maxSpans)
	if err != nil || n == 0 {
		return err
	}
	first, err := m.u64(list)
	if err != nil {
		return err
	}
	start, err := m.u64(first + s.at.start)
	if err == nil && start%pageSize != 0 {
		err = fmt.Errorf("the first span begins at %#x", start)
	}
	return err
}

// read passes every span that is in use to fn, in the order of descriptors.
func (s *spanReader) read(m memory, fn func(mspan)) error {
	if err := s.list(m); err != nil {
		return err
	}
	missed := s.records.each(m, s.sorted, s.size, func(_ int, b []byte) {
		if span, ok := s.decode(b); ok {
			fn(span)
		}
	})
	if missed > 0 {
		return fmt.Errorf("%d of %d spans could not be read", missed, len(s.sorted))
	}
	return nil
}

// list refreshes the addresses of the descriptors. allspans only grows, but
// its array moves.
func (s *spanReader) list(m memory) error {
	ptr, n, _, err := m.slice(s.allspans, 8, maxSpans)
	if err != nil || n == uint64(len(s.sorted)) {
		return err
	}
	if err := s.room.fits(n * perSpan); err != nil {
		return fmt.Errorf("%d spans: %w", n, err)
	}
	defer s.records.give(s.records.take())
	known := uint64(len(s.sorted))
	if n < known {
		s.sorted, known = s.sorted[:0], 0
	}
	s.sorted, err = m.words(s.sorted, ptr+8*known, n-known, s.records.buf)
	if err != nil {
		s.records.spoiled = true
		s.sorted = s.sorted[:0]
		return err
	}
	fresh := slices.Clone(s.sorted[known:])
	slices.Sort(fresh)
	merge(s.sorted, int(known), fresh, cmp.Compare)
	return nil
}

// merge puts fresh, which is sorted, among the first n of all, which are.
func merge[T any](all []T, n int, fresh []T, compare func(a, b T) int) {
	for k := len(all) - 1; len(fresh) > 0; k-- {
		if last := len(fresh) - 1; n == 0 || compare(fresh[last], all[n-1]) >= 0 {
			all[k], fresh = fresh[last], fresh[:last]
			continue
		}
		n--
		all[k] = all[n]
	}
}

// descriptors is the addresses of all, sorted, valid until the next call.
func (s *spanReader) descriptors(m memory) ([]uint64, error) {
	err := s.list(m)
	return s.sorted, err
}

// generation is the heap's sweepgen, which tells whether a span was swept since the last collection.
func (s *spanReader) generation(m memory) (uint32, error) { return m.u32(s.sweepgen) }

// decode reads one descriptor; ok is false for one that is not in use or that
// was caught half-written.
func (s *spanReader) decode(b []byte) (mspan, bool) {
	at := &s.at
	span := mspan{
		start:     word(b, at.start),
		elemsize:  word(b, at.elemsize),
		allocBits: word(b, at.allocBits),
		specials:  word(b, at.specials),
		nelems:    at.nelems.of(b),
		freeindex: at.freeindex.of(b),
		sweepgen:  half(b, at.sweepgen),
		class:     b[at.spanclass] >> 1,
		noscan:    b[at.spanclass]&1 != 0,
		state:     b[at.state],
		data:      -1,
	}
	if at.largeType != 0 {
		span.largeType = word(b, at.largeType)
	}
	pages := word(b, at.npages)
	if span.state != spanInUse && span.state != spanManual {
		return span, false
	}
	if span.start%pageSize != 0 || span.start == 0 || pages == 0 || pages > 1<<35 || span.start > 1<<48 {
		return span, false
	}
	span.end = span.start + pages*pageSize
	return span, true
}

// size is the bytes of a span.
func (s *mspan) size() uint64 { return s.end - s.start }

// swept says whether the span was swept since the last collection. sweepgen is the
// heap's (runtime/mheap.go, at mspan.sweepgen).
func (s *mspan) swept(sweepgen uint32) bool {
	return s.sweepgen == sweepgen || s.sweepgen == sweepgen+3
}

// kind says what the span's pages hold. sweepgen is the heap's.
//
// One large object is new while its freeindex is 1, where mallocgcLarge puts it
// (runtime/malloc.go, mcache.go): sweeping sets it to 0. A span whose own sweepgen is
// behind is yet to be swept, hence older than the last collection.
func (s mspan) kind(sweepgen uint32) sample.RangeKind {
	switch {
	case s.state == spanManual:
		return sample.RangeStacks
	case s.class == 0 && s.freeindex == 1 && s.sweepgen == sweepgen:
		return sample.RangeObjectsNew
	}
	return sample.RangeObjects
}
