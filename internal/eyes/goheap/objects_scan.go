package goheap

import (
	"context"
	"math/bits"
	"slices"
	"sync"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

const (
	// maxInSpan is the largest object whose span holds its pointer bitmap, since Go
	// 1.22 (runtime/mbitmap.go, heapBitsInSpan).
	maxInSpan = 512
	// minInline is the smallest object of a span with inline marks (runtime/
	// mgcmark_greenteagc.go, gcUsesSpanInlineMarkBits).
	minInline = 16
	// scanBatch is how many bytes of objects a thread of ours scans at once.
	scanBatch = 1 << 20
	// maxEarly is how many batches may wait for one that takes long.
	maxEarly = 8
)

// scanner notes every pointer of every object. Several threads scan spans, batch by
// batch; what a batch gives is put behind what those before it gave, by whoever scans the
// last that was missing.
type scanner struct {
	o     *Objects
	c     *heapCopy
	types *Types

	own   []uint64 // objects that are roots of their own, and who may point to them
	ps    uint32
	pools pools

	mu    sync.Mutex // of the types, and of what follows
	masks map[uint64]*typeMask
	next  int              // span of the next batch
	batch int              // its number
	early map[int]*scanned // batches that wait for one before them, by number
	fewer *sync.Cond       // of these
	done  int              // batches that have their place
	edges int              // of these
	free  []*scanned
	err   error
}

// scanned is a batch: what its spans gave.
type scanned struct {
	from, end, number int // spans
	at                int // its place among all pointers
	to                []uint32
	slot              []uint16
	far               []farSlot
}

// typeMask says which words of a type are pointers.
type typeMask struct {
	words uint64 // of one element
	bits  []byte // a bit a word; nil: any word may be one
	reach uint64 // words up to the last pointer
}

// scan fills First, To and slot for all objects.
func (sc *scanner) scan(ctx context.Context) error {
	o := sc.o
	sc.ownRoots()
	sc.masks, sc.early, sc.fewer = make(map[uint64]*typeMask), make(map[int]*scanned), sync.NewCond(&sc.mu)
	most := sc.words()
	if most > maxGraph {
		return errHeapTooLarge
	}
	inner := o.Count - o.Leaves
	o.First = InLargePages(make([]uint32, inner+1, inner+1+len(sc.c.goroutines)*2+1<<16))
	o.To = InLargePages(make([]uint32, most)) // only what is used becomes memory
	o.slot = InLargePages(make([]uint16, most))
	parallel(workers(), func(int) {
		w := scanWorker{scanner: sc, known: make(map[uint64]*typeMask)}
		for ctx.Err() == nil && w.batchOfSpans() {
		}
	})
	if sc.err != nil || ctx.Err() != nil {
		return orElse(sc.err, ctx.Err())
	}
	o.To, o.slot = o.To[:sc.edges], o.slot[:sc.edges]
	return nil
}

func orElse(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// words is how many words of all objects may be pointers, as a bound, and of the
// roots.
func (sc *scanner) words() (n uint64) {
	for i := range sc.o.spans {
		s := &sc.o.spans[i]
		if s.is&spanNoscan != 0 || sc.c.heap.spans[i].CopyAt < 0 {
			continue
		}
		bitmap := sc.bitmap(i)
		if bitmap == nil {
			n += uint64(s.nelems) * s.elemsize / 8
		}
		for ; len(bitmap) >= 8; bitmap = bitmap[8:] {
			n += uint64(bits.OnesCount64(gomem.Word(bitmap, 0)))
		}
	}
	return n + uint64(len(sc.c.rest))/8 + uint64(len(sc.c.specials))*specialTail/8
}

// bitmap is the bits that a span holds for all of its words, nil if it does not.
func (sc *scanner) bitmap(i int) []byte {
	s := &sc.o.spans[i]
	if sc.c.old || s.elemsize > maxInSpan {
		return nil
	}
	b := sc.copied(i)
	end := len(b)
	if sc.c.inline && s.elemsize >= minInline {
		end -= inlineMarks
	}
	return b[end-len(b)/64 : end]
}

// copied is the contents of a span.
func (sc *scanner) copied(i int) []byte {
	s := &sc.c.heap.spans[i]
	return sc.c.data[s.CopyAt:][:s.End-s.Start]
}

// ownRoots notes the descriptors of living goroutines, pointers to which are left
// out: runtime.allgs has them all, and so has every channel that they wait for. Each
// is a root of its own, and what it holds would be shared with those. The Ps and their
// list are runtime.allp's alone in the same way, and what pools have the pools' own.
func (sc *scanner) ownRoots() {
	o, c := sc.o, sc.c
	sc.own, sc.ps = make([]uint64, o.Count/64+1), noPs
	add := func(p uint64) {
		if id, k, _, ok := o.find(p); ok {
			sc.own[id/64] |= 1 << (id % 64)
			k.own = true // of all spans of that kind: the bits say which objects
		}
	}
	for i := range c.goroutines {
		add(c.goroutines[i].Addr)
	}
	list, _ := c.memory().U64(c.marker.allp)
	n, _ := c.memory().U64(c.marker.allp + 8)
	for i := range min(n, gomem.MaxPs) {
		p, _ := c.memory().U64(list + 8*i)
		add(p)
	}
	if id, ok := o.At(list); ok {
		sc.ps = id
		add(list)
	}
	for _, pool := range sc.pools.inHeap {
		for _, off := range []uint64{poolLocal, poolVictim} {
			if p, err := c.memory().U64(pool + off); err == nil {
				add(p)
			}
		}
	}
}

// noPs is the list of Ps of a program of which it is not found.
const noPs = ^uint32(0)

// scanWorker is one thread of ours.
type scanWorker struct {
	*scanner
	*scanned // the batch that it scans
	known    map[uint64]*typeMask
	id       uint32 // the object that is scanned
	last     uint32 // its last word that was a pointer
}

// farSlot is a pointer, counted from the batch's first, that lies far behind the one
// before it.
type farSlot struct{ e, slot uint32 }

// batchOfSpans scans the next spans and says whether there were any.
func (w *scanWorker) batchOfSpans() bool {
	o := w.o
	if w.scanned = w.claim(); w.from == w.end {
		return false
	}
	for i := w.from; i < w.end; i++ {
		w.span(i)
	}
	placed, ok := w.place(w.scanned)
	for _, b := range placed {
		copy(o.To[b.at:], b.to)
		copy(o.slot[b.at:], b.slot)
		for id := o.firstOf(b.from); id < o.endOf(b.end-1); id++ {
			o.First[id+1] += uint32(b.at)
		}
	}
	w.reuse(placed)
	return ok
}

// claim takes the next spans with pointers, none at the end. It waits where many batches
// do.
func (sc *scanner) claim() *scanned {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	for len(sc.early) >= maxEarly && sc.err == nil {
		sc.fewer.Wait()
	}
	b := &scanned{}
	if last := len(sc.free) - 1; last >= 0 {
		b, sc.free = sc.free[last], sc.free[:last]
	}
	*b = scanned{from: sc.next, number: sc.batch, to: b.to[:0], slot: b.slot[:0], far: b.far[:0]}
	for n := uint64(0); n < scanBatch && sc.next < len(sc.o.spans) && sc.o.spans[sc.next].is&spanNoscan == 0; sc.next++ {
		n += uint64(sc.o.spans[sc.next].nelems) * sc.o.spans[sc.next].elemsize
	}
	b.end = sc.next
	sc.batch++
	return b
}

// place says where the pointers of a batch go, and of those that waited for it. There are
// none while one before it is missing.
func (sc *scanner) place(b *scanned) (placed []*scanned, ok bool) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	for sc.early[b.number] = b; sc.early[sc.done] != nil; sc.done++ {
		b := sc.early[sc.done]
		delete(sc.early, sc.done)
		b.at = sc.edges
		if sc.edges += len(b.to); sc.edges > len(sc.o.To) {
			sc.err = errHeapTooLarge
		}
		for _, f := range b.far {
			sc.o.far[uint32(b.at)+f.e] = f.slot
		}
		placed = append(placed, b)
	}
	sc.err = orElse(sc.err, sc.c.fits(sc.o.takes(sc.edges)))
	sc.fewer.Broadcast()
	if sc.err != nil {
		return nil, false
	}
	return placed, true
}

// reuse lets other batches have their memory.
func (sc *scanner) reuse(placed []*scanned) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.free = append(sc.free, placed...)
}

// span scans the allocated objects of one span. First counts from the batch's
// beginning.
func (w *scanWorker) span(i int) {
	o, s, known := w.o, &w.o.spans[i], &w.c.heap.spans[i]
	b := w.copied(i)
	w.id = o.firstOf(i)
	if bitmap := w.bitmap(i); bitmap != nil {
		w.byBits(s, b, bitmap)
		return
	}
	for at := s.place / 64; at < s.place/64+(uint32(s.nelems)+63)/64; at++ {
		for rest := o.places[at].bits; rest != 0; rest &= rest - 1 {
			off := (uint64(at*64-s.place) + lowest(rest)) * s.elemsize
			object := b[off : off+s.elemsize]
			switch {
			case w.c.old:
				w.byArena(s.start+off, object)
			case s.is&spanHeader != 0:
				w.byType(gomem.Word(object, 0), object, 8)
			default:
				w.byType(known.LargeType, object, 0)
			}
			w.id++
			w.last = 0
			o.First[w.id] = uint32(len(w.to))
		}
	}
}

// add notes a pointer, if it is one.
func (w *scanWorker) add(slot uint32, p uint64) {
	id, k, into, ok := w.o.find(p)
	if !ok || k.own && w.own[id/64]>>(id%64)&1 != 0 && w.id != w.ps {
		return
	}
	behind := slot - w.last
	w.last = slot
	if behind >= isBehind {
		w.far = append(w.far, farSlot{uint32(len(w.to)), behind})
		behind = isBehind
	}
	if into == k.plain {
		behind |= isPlain
	}
	w.to = append(w.to, id)
	w.slot = append(w.slot, uint16(behind))
}

// byBits scans a span of objects of at most 64 words by the bits of its words. It is
// what most of a scan is, and its own loop.
func (w *scanWorker) byBits(s *objectSpan, b, bitmap []byte) {
	o := w.o
	n := len(w.to)
	w.to, w.slot = slices.Grow(w.to, len(b)/8), slices.Grow(w.slot, len(b)/8)
	to, slot := w.to[:n+len(b)/8], w.slot[:n+len(b)/8]
	id, words := w.id, s.elemsize/8
	for at := s.place / 64; at < s.place/64+(uint32(s.nelems)+63)/64; at++ {
		for rest := o.places[at].bits; rest != 0; rest &= rest - 1 {
			first := (uint64(at*64-s.place) + lowest(rest)) * words
			object, last := b[8*first:], 0
			for mask := bitsOf(bitmap, first, words); mask != 0; mask &= mask - 1 {
				k := bits.TrailingZeros64(mask)
				p := gomem.Word(object, uint64(8*k))
				if p == 0 {
					continue
				}
				t, kind, into, ok := o.find(p)
				if !ok || kind.own && w.own[t/64]>>(t%64)&1 != 0 && id != w.ps {
					continue
				}
				behind := uint16(k - last)
				last = k
				if into == kind.plain {
					behind |= isPlain
				}
				to[n], slot[n] = t, behind
				n++
			}
			id++
			o.First[id] = uint32(n)
		}
	}
	w.id, w.to, w.slot = id, to[:n], slot[:n]
}

// bitsOf is n bits of a bitmap from one on, at most 64.
func bitsOf(bitmap []byte, first, n uint64) (mask uint64) {
	at, shift := first/64*8, first%64
	if at+8 <= uint64(len(bitmap)) {
		mask = gomem.Word(bitmap, at) >> shift
	}
	if shift+n > 64 && at+16 <= uint64(len(bitmap)) {
		mask |= gomem.Word(bitmap, at+8) << (64 - shift)
	}
	if n < 64 {
		mask &= 1<<n - 1
	}
	return mask
}

// byType scans an object whose content, from header on, is values of one type. Its
// words are counted from there.
func (w *scanWorker) byType(typ uint64, object []byte, header uint64) {
	m := w.mask(typ)
	object = object[header:]
	n := uint64(len(object)) / 8
	for from := uint64(0); from < n; from += m.words {
		for k := uint64(0); k < m.reach && from+k < n; k++ {
			if m.bits != nil && m.bits[k/8]>>(k%8)&1 == 0 {
				continue
			}
			if p := gomem.Word(object, 8*(from+k)); p != 0 {
				w.add(uint32(from+k), p)
			}
		}
	}
}

// mask is a type's pointers.
func (w *scanWorker) mask(typ uint64) *typeMask {
	m, ok := w.known[typ]
	if ok {
		return m
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if m, ok = w.masks[typ]; !ok {
		m = w.types.mask(typ)
		w.masks[typ] = m
	}
	w.known[typ] = m
	return m
}

// byArena scans an object by its arena's bitmap, of which only the words up to the
// first that says so are the object's (runtime/mbitmap.go of Go 1.20, heapBits).
func (w *scanWorker) byArena(addr uint64, object []byte) {
	for k, n := uint64(0), uint64(len(object))/8; k < n; {
		at := addr + 8*k
		arena := w.c.bitmaps[at/gomem.ArenaSize]
		if arena == nil {
			return
		}
		bit := at % gomem.ArenaSize / 8
		group := bit / 64
		mask := gomem.Word(arena, 8*group) >> (bit % 64)
		here := min(64-bit%64, n-k)
		if here < 64 {
			mask &= 1<<here - 1
		}
		for ; mask != 0; mask &= mask - 1 {
			i := k + uint64(bits.TrailingZeros64(mask))
			if p := gomem.Word(object, 8*i); p != 0 {
				w.add(uint32(i), p)
			}
		}
		if arena[arenaBitmap+group/8]>>(group%8)&1 != 0 {
			return
		}
		k += here
	}
}
