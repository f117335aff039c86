package malloc

import (
	"errors"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// arena is one arena while it is read.
type arena struct {
	sample.MallocArena
	at, top uint64
	regions []region
}

// region is a stretch of an arena that chunks fill, one behind another.
type region struct{ start, end uint64 }

// Flags in a chunk's size (malloc/malloc.c).
const (
	prevInUse = 1
	isMmapped = 2
	sizeFlags = 7
	leastSize = 32 // of a chunk
	fencepost = 16 // the size of what ends a region that is not the last one
)

// readArenas reads the main arena and those of the list that begins in it. All are found before the chunks
// of the first are counted, so that one for which no time is left counts as memory that was not read.
func (r *reader) readArenas(main uint64) {
	for _, a := range r.findArenas(main) {
		for _, g := range a.regions {
			r.walk(a, g)
		}
		r.fastChunks(a)
		r.keep(a)
	}
}

// findArenas is the main arena and those of the list that begins in it, each with what it has from the kernel.
func (r *reader) findArenas(main uint64) (list []*arena) {
	seen := map[uint64]bool{}
	for at := main; at != 0 && !seen[at] && len(seen) < maxArenas; {
		seen[at] = true
		head := uint64(0)
		if at != main {
			var ok bool
			if head, ok = r.heapOf(at); !ok && r.late() {
				r.unread(0, reason(errLate))
				return list
			} else if !ok {
				r.stale = true
				r.unread(0, "its list of arenas leads where none can lie")
				return list
			}
		}
		if a := r.findArena(at, head); a != nil {
			list = append(list, a)
		}
		next, err := r.random(at + atNext)
		if err != nil {
			r.unread(0, reason(err))
			return list
		}
		if at = next; at == main {
			return list
		}
	}
	r.unread(0, "its list of arenas has no end")
	return list
}

// findArena is one arena, nil: it cannot be read. head is the length of what comes before it in its heap, 0
// for the main one, which lies in no heap.
func (r *reader) findArena(at, head uint64) *arena {
	system, err1 := r.random(at + atSystemMem)
	top, err2 := r.random(at + atTop)
	if err := errors.Join(err1, err2); err != nil {
		r.unread(0, reason(err))
		return nil
	}
	a := &arena{at: at, top: top}
	if head == 0 {
		a.regions = r.mainRegions(top, system)
	} else {
		a.regions = r.heapsOf(at, head, top)
	}
	var span uint64
	for _, g := range a.regions {
		span += g.end - g.start
	}
	a.System = min(sample.Bytes(system), r.writable)
	if missing := a.System.Sub(sample.Bytes(span)); missing > max(a.System/64, sample.Bytes(r.Page)) { // more than the heads of its heaps
		r.unread(missing, "a part of its arenas was not found")
	}
	return a
}

// mainRegions are where the chunks of the main arena lie: in the heap that brk(2) grows,
// and around its top where that is elsewhere.
func (r *reader) mainRegions(top, system uint64) (list []region) {
	if heap := r.named("[heap]"); heap != nil {
		start := heap.Start
		if r.params.known {
			start = r.params.sbrkBase
		} else if size, err := r.random(top + 8); err == nil && top >= heap.Start && top < heap.End && top+size&^sizeFlags-system >= heap.Start &&
			top+size&^sizeFlags-system < top {
			start = top + size&^sizeFlags - system
		}
		if start = (start + 15) &^ 15; start < heap.End {
			list = append(list, region{start, heap.End})
		}
		if top >= heap.Start && top < heap.End {
			return list
		}
	}
	if i := r.mappingAt(top); i >= 0 && r.Mappings[i].Writable && !r.Mappings[i].File {
		list = append(list, region{r.Mappings[i].Start, r.Mappings[i].End})
	}
	return list
}

// heapsOf are where the chunks of a thread's arena lie: in the heap that its top is in, and in
// those before it.
func (r *reader) heapsOf(at, head, top uint64) (list []region) {
	heap := top &^ (heapMax - 1)
	for range maxArenas {
		i := r.mappingAt(heap)
		if i < 0 || !r.Mappings[i].Writable {
			break
		}
		owner, err1 := r.random(heap)
		prev, err2 := r.random(heap + 8)
		if err1 != nil || err2 != nil || owner != at {
			break
		}
		start := heap + head
		if heap == at-head {
			start = (at + stateSize + 15) &^ 15
		}
		if end := min(r.Mappings[i].End, heap+heapMax); start < end {
			list = append(list, region{start, end})
		}
		if heap == at-head || prev%heapMax != 0 || prev == 0 || contains(list, prev) {
			break
		}
		heap = prev
	}
	return list
}

func contains(list []region, addr uint64) bool {
	for _, g := range list {
		if addr >= g.start&^(heapMax-1) && addr < g.end {
			return true
		}
	}
	return false
}

// walkTries is how often a stretch is read again that changed while it was read.
const walkTries = 4

// walk counts the chunks of a region, one behind another. The program may run meanwhile: where
// no chunk can be, memory is read again, the second time from the chunk before, which may be
// another by now.
func (r *reader) walk(a *arena, g region) {
	r.window.drop()
	before, at, tries := g.start, g.start, 0
	for {
		next, err := r.chunk(a, at, g)
		switch {
		case errors.Is(err, errNoChunk) && tries < walkTries:
			r.window.drop()
			if tries++; tries%2 == 0 {
				at = r.sinceThen(before, at, g)
			}
			continue
		case err != nil:
			r.unread(sample.Bytes(g.end-at), reason(err))
			return
		case next == 0 || next >= g.end:
			return
		}
		before, at, tries = at, next, 0
	}
}

// sinceThen is where the chunk behind one ends that was counted before, by what it says now.
func (r *reader) sinceThen(before, at uint64, g region) uint64 {
	word, err := r.word(before+8, g.end)
	if size := word &^ sizeFlags; err == nil && size >= leastSize && size%16 == 0 && size < g.end-before {
		return before + size
	}
	return at
}

var errNoChunk = errors.New("no chunk is where one should be")

// chunk counts the chunk at an address, and says where the next one is; 0: it is the last.
func (r *reader) chunk(a *arena, at uint64, g region) (next uint64, err error) {
	word, err := r.word(at+8, g.end)
	if err != nil {
		return 0, err
	}
	size := word &^ sizeFlags
	if at == a.top {
		r.free(a, at, min(size, g.end-at), true)
		return 0, nil
	}
	switch {
	case size == fencepost || size == 0 && word == prevInUse:
		return 0, nil
	case size < leastSize || size%16 != 0 || size > g.end-at || word&isMmapped != 0:
		return 0, errNoChunk
	case at+size >= g.end: // what was the top when it began
		r.free(a, at, size, true)
		return 0, nil
	}
	after, err := r.word(at+size+8, g.end)
	if err != nil {
		return 0, err
	}
	if after&prevInUse == 0 {
		r.free(a, at, size, false)
	} else {
		r.used(a, size)
	}
	return at + size, nil
}

// used counts a block in use.
func (r *reader) used(a *arena, size uint64) {
	a.InUse += sample.Bytes(size)
	r.out.Blocks++
	if i := size / 16; i < smallSizes {
		r.small[i]++
	} else {
		count(r.sizes, size, 1)
	}
}

// count adds to the number of a size. Where there are too many different ones the rest is told
// by the power of two below.
func count(sizes map[uint64]uint64, size, n uint64) {
	if _, known := sizes[size]; !known && len(sizes) >= mostSizes {
		size = 1 << (bitLen(size) - 1)
	}
	sizes[size] += n
}

func bitLen(n uint64) (bits int) {
	for ; n > 0; n >>= 1 {
		bits++
	}
	return bits
}

// free counts memory that malloc keeps, and which pages of it lie in memory.
func (r *reader) free(a *arena, at, size uint64, top bool) {
	a.Free += sample.Bytes(size)
	end := at + size
	for page := at &^ (r.Page - 1); page < end; page += r.Page {
		if !r.present.has(r, page) {
			if page%presencePiece == 0 && r.late() { // of a mapping as large as an address space
				return
			}
			continue
		}
		n := sample.Bytes(min(end, page+r.Page) - max(at, page))
		a.FreeResident += n
		switch {
		case top:
			r.out.Top += n
		case page >= at+leastSize+16 && page+r.Page <= end: // its head stays (malloc/malloc.c, mtrim)
			r.out.Whole += n
		}
	}
}

// fastChunks counts what the fastbins keep: chunks that look as though they were in use.
func (r *reader) fastChunks(a *arena) {
	left := uint64(a.InUse) / leastSize
	for i := range uint64(fastbins) {
		size := 16 * (i + 2)
		chunk, err := r.random(a.at + atFastbins + 8*i)
		for err == nil && chunk != 0 && left > 0 && a.holds(chunk) {
			word, bad := r.random(chunk + 8)
			if bad != nil || word&^sizeFlags != size || r.small[i+2] == 0 {
				break
			}
			left--
			r.small[i+2]--
			r.out.Blocks--
			a.InUse -= sample.Bytes(size)
			a.Free += sample.Bytes(size)
			a.FreeResident += sample.Bytes(size)
			chunk, err = r.behind(a, chunk)
		}
	}
}

// behind is the chunk behind another in a fastbin. Since glibc 2.32 its address is mixed with
// the place where it stands.
func (r *reader) behind(a *arena, chunk uint64) (uint64, error) {
	place := chunk + 16
	word, err := r.random(place)
	if mixed := word ^ place>>safeLinking; mixed == 0 || mixed%16 == 0 && a.holds(mixed) {
		return mixed, err
	}
	return word, err
}

// holds says whether a chunk may be at an address of the arena.
func (a *arena) holds(addr uint64) bool {
	for _, g := range a.regions {
		if addr%16 == 0 && addr >= g.start && addr < g.end && g.end-addr >= leastSize {
			return true
		}
	}
	return false
}

// keep adds an arena to what is given back.
func (r *reader) keep(a *arena) {
	o := &r.out
	o.InUse, o.Free, o.FreeResident, o.System = o.InUse+a.InUse, o.Free+a.Free, o.FreeResident+a.FreeResident, min(o.System+a.System, r.writable)
	if len(o.Arenas) == sample.MaxArenas {
		o.Others++
		return
	}
	o.Arenas = append(o.Arenas, a.MallocArena)
}

// unread notes that a part was not read; the first reason is told.
func (r *reader) unread(n sample.Bytes, why string) {
	r.out.Unread = min(r.out.Unread+n, r.writable)
	if r.out.WhyUnread == "" {
		r.out.WhyUnread = why
	}
}

// reason is an error in a user's words.
func reason(err error) string {
	switch {
	case errors.Is(err, errLate):
		return "no time was left"
	case errors.Is(err, errAbsent):
		return "a part of it is not in memory"
	case errors.Is(err, errNoChunk):
		return "it changed while it was read, or is damaged"
	}
	return err.Error()
}
