package malloc

import (
	"encoding/binary"
	"path"
	"strings"
)

// Offsets within glibc's struct malloc_state on 64-bit machines (malloc/malloc.c; 2.27 to
// 2.41 are alike: mutex, flags and have_fastchunks, 10 fastbins, top, last_remainder, 254 words
// of bins, 4 words of binmap, next, next_free, attached_threads, system_mem, max_system_mem).
// All but the fastbins are used relative to the bins, which are what is recognised.
const (
	atFastbins  = 16
	fastbins    = 10
	atTop       = 96
	atBins      = 112
	bins        = 127
	atNext      = 2160
	atSystemMem = 2184
	stateSize   = 2200
)

// HEAP_MAX_SIZE, and the sizes of struct heap_info: 48 bytes since 2.35, 32 before
// (malloc/arena.c).
const (
	heapMax      = 64 << 20
	heapInfo     = 48
	heapInfoOld  = 32
	maxArenas    = 4096 // that are followed
	fewestEmpty  = 20   // bins that are empty, of 127, for an arena to be one
	mostData     = 64 << 20
	scanPiece    = 1 << 20
	scanOverlap  = 8 << 10 // more than an arena and the parameters take
	mostSizes    = 1 << 16
	smallSizes   = 1 << 10
	safeLinking  = 12 // bits by which a place is shifted that a pointer is mixed with, since 2.32
	paramsBytes  = 40
	maxMmapsInit = 65536 // DEFAULT_MMAP_MAX
)

// params are some of malloc's parameters, mp_.
type params struct {
	known      bool
	mmaps      uint64 // blocks that are mappings of their own
	mmappedMem uint64 // their bytes
	sbrkBase   uint64 // where the main arena begins
}

// findMain finds main_arena, and malloc's parameters beside it, in the data of the C
// library or of the executable.
func (r *reader) findMain() (main uint64, ok bool) {
	for _, inExe := range []bool{false, true} {
		left := uint64(mostData)
		for i := range r.Mappings {
			m := &r.Mappings[i]
			if !m.Writable || !r.isData(i, inExe) {
				continue
			}
			n := min(m.End-m.Start, left)
			left -= n
			if at, found := r.scan(m.Start, m.Start+n); found && !ok {
				main, ok = at, true
			}
		}
		if ok {
			return main, true
		}
	}
	return 0, false
}

// isData says that a writable mapping is data of the C library, or of the executable, or the
// zeroed data behind it.
func (r *reader) isData(i int, inExe bool) bool {
	m := &r.Mappings[i]
	if !m.File {
		return m.Path == "" && i > 0 && r.Mappings[i-1].End == m.Start && r.Mappings[i-1].File && r.isData(i-1, inExe)
	}
	file := strings.TrimSuffix(m.Path, " (deleted)")
	if inExe {
		return file == r.Exe
	}
	base := path.Base(file)
	return strings.HasPrefix(base, "libc.so.6") || strings.HasPrefix(base, "libc-2.")
}

// scan looks through data, piece by piece with an overlap.
func (r *reader) scan(start, end uint64) (main uint64, ok bool) {
	buf := make([]byte, min(scanPiece, end-start))
	for at := start; at < end && !r.late(); at += scanPiece - scanOverlap {
		b := buf[:min(uint64(len(buf)), end-at)]
		r.readPresent(b, at)
		if found, is := r.arenaIn(b, at); is && !ok {
			main, ok = found, true
		}
		if !r.params.known {
			r.paramsIn(b, at)
		}
		if at+uint64(len(buf)) >= end {
			break
		}
	}
	return main, ok
}

// readPresent reads what lies in memory; the rest is zero.
func (r *reader) readPresent(b []byte, addr uint64) {
	clear(b)
	for at := uint64(0); at < uint64(len(b)); {
		n := at
		for ; n < uint64(len(b)) && r.present.has(r, addr+n); n += r.Page {
		}
		if n = min(n, uint64(len(b))); n > at {
			_, _ = r.Memory.ReadAt(b[at:n], int64(addr+at)) // what cannot be read stays as it is
			at = n
			continue
		}
		at += r.Page
	}
}

// arenaIn finds the main arena in data that lies at base: bins that are empty point at
// themselves, and the list of arenas leads back.
func (r *reader) arenaIn(b []byte, base uint64) (uint64, bool) {
	words := func(at uint64) uint64 { return binary.LittleEndian.Uint64(b[at-base:]) }
	end := base + uint64(len(b))
	for at := base; at+16 <= end; at += 8 {
		if words(at) != at-16 || words(at+8) != at-16 {
			continue
		}
		if r.late() {
			return 0, false
		}
		// An empty bin: of which the first may be up to all others before it.
		for k := range uint64(bins) {
			state := at - 16*k - atBins
			if state < base || state > at || state+stateSize > end {
				continue
			}
			if r.isMain(b[state-base:], state) && emptyBins(b[state-base:], state) >= fewestEmpty {
				return state, true
			}
		}
		if n := emptyRun(b, base, at); n > 0 { // all of this run was tried from its first
			at += 16*n - 8
		}
	}
	return 0, false
}

// emptyRun is how many bins from at on are empty without one between.
func emptyRun(b []byte, base, at uint64) (n uint64) {
	for ; n < bins && at+16*n+16 <= base+uint64(len(b)); n++ {
		if binary.LittleEndian.Uint64(b[at+16*n-base:]) != at+16*n-16 {
			break
		}
	}
	return n
}

// emptyBins counts the bins that are empty in an arena's bytes.
func emptyBins(state []byte, addr uint64) (n int) {
	for k := range uint64(bins) {
		bin := addr + atBins + 16*k - 16
		if binary.LittleEndian.Uint64(state[atBins+16*k:]) == bin && binary.LittleEndian.Uint64(state[atBins+16*k+8:]) == bin {
			n++
		}
	}
	return n
}

// isMain says that an arena's list leads back to it through places where arenas of threads
// lie, and that what it says of its size may be.
func (r *reader) isMain(state []byte, addr uint64) bool {
	system := binary.LittleEndian.Uint64(state[atSystemMem:])
	if system == 0 || system%16 != 0 || system > 1<<47 { // no whole pages where something else used brk(2), too
		return false
	}
	next := binary.LittleEndian.Uint64(state[atNext:])
	for range maxArenas {
		if next == addr {
			return true
		}
		if _, ok := r.heapOf(next); !ok {
			return false
		}
		var err error
		if next, err = r.random(next + atNext); err != nil {
			return false
		}
	}
	return false
}

// heapOf is how long the head of the heap is that begins with a thread's arena; false: no
// such arena can lie there.
func (r *reader) heapOf(arena uint64) (head uint64, ok bool) {
	head = arena % heapMax
	if head != heapInfo && head != heapInfoOld || !r.isWritable(arena-head, head+stateSize) {
		return 0, false
	}
	owner, err := r.random(arena - head)
	return head, err == nil && owner == arena
}

// paramsIn finds malloc's parameters in data that lies at base (struct malloc_par): int n_mmaps,
// n_mmaps_max (65536, unless the program changed it), max_n_mmaps, no_dyn_threshold, then, at a multiple
// of 8, mmapped_mem, max_mmapped_mem and sbrk_base, which is in the heap.
func (r *reader) paramsIn(b []byte, base uint64) {
	heap := r.named("[heap]")
	if heap == nil {
		return
	}
	for at := 4; at+paramsBytes <= len(b); at += 4 {
		half := func(i int) uint64 { return uint64(binary.LittleEndian.Uint32(b[at+4*i:])) }
		word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[(at+12+7)&^7+8*i:]) }
		blocks, most := half(-1), half(1)
		if half(0) != maxMmapsInit || blocks > most || most > maxMmapsInit || half(2) > 1 {
			continue
		}
		memory, start := word(0), word(2)
		if memory > word(1) || memory%r.Page != 0 || start < heap.Start || start >= heap.End || (blocks == 0) != (memory == 0) {
			continue
		}
		r.params = params{known: true, mmaps: blocks, mmappedMem: memory, sbrkBase: start}
		return
	}
}

// named is the first mapping of a name, nil: there is none.
func (r *reader) named(name string) *Mapping {
	for i := range r.Mappings {
		if r.Mappings[i].Path == name {
			return &r.Mappings[i]
		}
	}
	return nil
}
