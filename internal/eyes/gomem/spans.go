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
	PageSize = 8 << 10 // a page of the Go heap (internal/runtime/gc.PageSize)
)

// perSpan is what a span takes of our memory while a heap is gone through: its address, for
// a moment twice, and its description in lists that grow.
const perSpan = 2*8 + 3*96

// States of a span (runtime/mheap.go).
const (
	SpanInUse  = 1 // holds heap objects
	SpanManual = 2 // goroutine stacks and the collector's work buffers
)

// SpanReader reads the runtime's spans. Their descriptors are never freed, only
// used again, so a list of addresses that was sorted once stays good.
type SpanReader struct {
	allspans uint64 // address of mheap_.allspans
	sweepgen uint64 // address of mheap_.sweepgen
	Size     int    // bytes of an mspan that are read
	at       spanPlaces
	sorted   []uint64
	records  RecordReader
	room     Room
}

// spanPlaces are offsets within a runtime.mspan.
type spanPlaces struct {
	start, npages, sweepgen    uint64
	spanclass, state, elemsize uint64
	allocBits, specials        uint64
	freeindex, nelems          Number // words to Go 1.21, then 16 bits
	largeType                  uint64 // since Go 1.22, else 0
}

// MSpan is what is known of one span.
type MSpan struct {
	Start, End uint64
	ElemSize   uint64
	AllocBits  uint64 // address
	Specials   uint64 // address of the first, 0 if none
	NElems     uint64
	FreeIndex  uint64
	SweepGen   uint32
	Class      uint8 // size class; 0: one large object
	State      uint8
	NoScan     bool // holds no pointers
	LargeType  uint64
	CopyAt     int // for who copies it: where the copy begins; -1: there is none
}

// attach finds the spans and looks at the first.
func (s *SpanReader) attach(r *Runtime, find *Resolver) error {
	heap := find.Addr("mheap_")
	s.allspans = heap + find.Offset("mheap", "allspans")
	s.sweepgen = heap + find.Offset("mheap", "sweepgen")
	o := func(field string) uint64 { return find.Offset("mspan", field) }
	s.at = spanPlaces{
		start: o("startAddr"), npages: o("npages"),
		freeindex: find.Number("mspan", "freeindex"), nelems: find.Number("mspan", "nelems"),
		sweepgen: o("sweepgen"), spanclass: o("spanclass"), state: o("state"), elemsize: o("elemsize"),
		allocBits: o("allocBits"), specials: o("specials"),
	}
	s.at.largeType, _ = find.Layout.Offset("runtime.mspan", "largeType")
	s.Size = int(find.Size("mspan"))
	if err := find.Err(); err != nil {
		return err
	}
	return s.verify(r.mem)
}

// verify refuses a heap whose first span lies on no page boundary.
func (s *SpanReader) verify(m Memory) error {
	list, n, _, err := m.Slice(s.allspans, 8, maxSpans)
	if err != nil || n == 0 {
		return err
	}
	first, err := m.U64(list)
	if err != nil {
		return err
	}
	start, err := m.U64(first + s.at.start)
	if err == nil && start%PageSize != 0 {
		err = fmt.Errorf("the first span begins at %#x", start)
	}
	return err
}

// Read passes every span that is in use to fn, in the order of descriptors.
func (s *SpanReader) Read(m Memory, fn func(MSpan)) error {
	if err := s.list(m); err != nil {
		return err
	}
	missed := s.records.Each(m, s.sorted, s.Size, func(_ int, b []byte) {
		if span, ok := s.Decode(b); ok {
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
func (s *SpanReader) list(m Memory) error {
	ptr, n, _, err := m.Slice(s.allspans, 8, maxSpans)
	if err != nil || n == uint64(len(s.sorted)) {
		return err
	}
	if err := s.room.fits(n * perSpan); err != nil {
		return fmt.Errorf("%d spans: %w", n, err)
	}
	defer s.records.Give(s.records.Take())
	known := uint64(len(s.sorted))
	if n < known {
		s.sorted, known = s.sorted[:0], 0
	}
	s.sorted, err = m.Words(s.sorted, ptr+8*known, n-known, s.records.Buf)
	if err != nil {
		s.records.spoiled = true
		s.sorted = s.sorted[:0]
		return err
	}
	fresh := slices.Clone(s.sorted[known:])
	slices.Sort(fresh)
	Merge(s.sorted, int(known), fresh, cmp.Compare)
	return nil
}

// Merge puts fresh, which is sorted, among the first n of all, which are.
func Merge[T any](all []T, n int, fresh []T, compare func(a, b T) int) {
	for k := len(all) - 1; len(fresh) > 0; k-- {
		if last := len(fresh) - 1; n == 0 || compare(fresh[last], all[n-1]) >= 0 {
			all[k], fresh = fresh[last], fresh[:last]
			continue
		}
		n--
		all[k] = all[n]
	}
}

// Descriptors is the addresses of all, sorted, valid until the next call.
func (s *SpanReader) Descriptors(m Memory) ([]uint64, error) {
	err := s.list(m)
	return s.sorted, err
}

// Generation is the heap's sweepgen, which tells whether a span was swept since the last collection.
func (s *SpanReader) Generation(m Memory) (uint32, error) { return m.U32(s.sweepgen) }

// Decode reads one descriptor; ok is false for one that is not in use or that
// was caught half-written.
func (s *SpanReader) Decode(b []byte) (MSpan, bool) {
	at := &s.at
	span := MSpan{
		Start:     Word(b, at.start),
		ElemSize:  Word(b, at.elemsize),
		AllocBits: Word(b, at.allocBits),
		Specials:  Word(b, at.specials),
		NElems:    at.nelems.Of(b),
		FreeIndex: at.freeindex.Of(b),
		SweepGen:  Half(b, at.sweepgen),
		Class:     b[at.spanclass] >> 1,
		NoScan:    b[at.spanclass]&1 != 0,
		State:     b[at.state],
		CopyAt:    -1,
	}
	if at.largeType != 0 {
		span.LargeType = Word(b, at.largeType)
	}
	pages := Word(b, at.npages)
	if span.State != SpanInUse && span.State != SpanManual {
		return span, false
	}
	if span.Start%PageSize != 0 || span.Start == 0 || pages == 0 || pages > 1<<35 || span.Start > 1<<48 {
		return span, false
	}
	span.End = span.Start + pages*PageSize
	return span, true
}

// Size is the bytes of a span.
func (s *MSpan) Size() uint64 { return s.End - s.Start }

// Swept says whether the span was swept since the last collection. sweepgen is the
// heap's (runtime/mheap.go, at mspan.sweepgen).
func (s *MSpan) Swept(sweepgen uint32) bool {
	return s.SweepGen == sweepgen || s.SweepGen == sweepgen+3
}

// kind says what the span's pages hold. sweepgen is the heap's.
//
// One large object is new while its freeindex is 1, where mallocgcLarge puts it
// (runtime/malloc.go, mcache.go): sweeping sets it to 0. A span whose own sweepgen is
// behind is yet to be swept, hence older than the last collection.
func (s MSpan) kind(sweepgen uint32) sample.RangeKind {
	switch {
	case s.State == SpanManual:
		return sample.RangeStacks
	case s.Class == 0 && s.FreeIndex == 1 && s.SweepGen == sweepgen:
		return sample.RangeObjectsNew
	}
	return sample.RangeObjects
}
