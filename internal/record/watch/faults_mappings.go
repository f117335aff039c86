package watch

import (
	"encoding/binary"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/faultprofile"
	"github.com/highwater-go/highwater/internal/words/sample"
)

const (
	// maxMappings bounds the mappings of a program whose maker is known; of more the oldest are forgotten.
	maxMappings = 1024
	// maxMakers bounds the stacks that mappings were made on.
	maxMakers = 1024
	// mappingsAtOnce is after how many mappings within mappingsTime only larger ones are told of a
	// program: each takes it some microseconds.
	mappingsAtOnce = 2000
	mappingsTime   = time.Second
)

// made is the memory that a program mapped by itself, with the stack of each mapping.
type made struct {
	list   []mapping // in the order in which they were made
	makers map[string]*maker
	key    []byte
	count  int // since
	since  time.Time
}

// mapping is a range that was mapped. Without a maker it was an allocator's, or Go's runtime's, which divide it among
// others than the one who happened to need it.
type mapping struct {
	start, end uint64
	maker      *maker
}

// maker is a stack that memory was mapped on: C's frames, if any, and Go's, innermost first.
type maker struct {
	number int
	native []uint64
	pcs    []uint64
}

// meetMapping notes a mapping that was made.
func (b *faultBook) meetMapping(one *faultprofile.Sample, s *Source) {
	m := mapping{start: one.Address, end: one.Address + one.Mapped}
	if m.end <= m.start {
		return
	}
	native, pcs := b.stackOf(one)
	if b.isProgrammed(one, native, pcs) {
		m.maker = b.made.maker(native, pcs)
	}
	if one.OldSize > 0 {
		b.made.move(one.Old, min(one.OldSize, one.Mapped), m)
	} else {
		b.made.add(m)
	}
	b.made.count++
	if now := time.Now(); now.Sub(b.made.since) > mappingsTime {
		b.made.since, b.made.count = now, 0
	} else if b.made.count > mappingsAtOnce && s.faults.profiler != nil {
		b.made.count = 0
		b.target.Mappings = 8 * max(b.target.Mappings, faultprofile.LeastMapping)
		if err := s.faults.profiler.Know(b.p.key.PID, b.target); err != nil {
			s.gap(b.p.key, "who mapped memory in "+b.p.program.Name, err)
		}
	}
}

// isProgrammed says whether somebody wrote the call that maps memory: Go code outside the runtime, or a function of C
// that Go code called, and that is no allocator.
func (b *faultBook) isProgrammed(one *faultprofile.Sample, native, pcs []uint64) bool {
	if one.InGo {
		return !strings.HasPrefix(b.functionAt(one.IP), "runtime.")
	}
	// With cgo Go's runtime maps through C, too: the goroutine's frames are then those of whoever it worked for.
	for _, pc := range pcs {
		name := b.functionAt(pc - 1)
		if name == "runtime.cgocall" || name == "runtime.asmcgocall" {
			continue
		}
		return strings.Contains(name, "._Cfunc_") && mapsForItself(b.code.frames(native))
	}
	return false
}

// mapsForItself says whether the function of C that called mmap is known, and neither it nor one that called it is an
// allocator's.
func mapsForItself(frames []sample.Location) bool {
	caller := false
	for _, l := range frames {
		if len(l.Frames) == 0 {
			return false // whose code that is is not known
		}
		f := l.Frames[0]
		switch {
		case f.Func == "mmap", f.Func == "mmap64", f.Func == "__mmap", f.Func == "mremap", f.Func == "__mremap", f.Func == "syscall":
			continue
		case allocators.MatchString(f.Func):
			return false
		case !caller && strings.HasPrefix(f.Func, "("):
			return false // stripped: it may be one
		}
		caller = true
	}
	return caller
}

// allocators are names of functions through which C and C++ ask for memory, and of files that are allocators.
var allocators = regexp.MustCompile(`(?i)(malloc|calloc|realloc|memalign|aligned_alloc|valloc|^_Zn[aw]|operator new|(^|_)(je|mi|tc|rallocx|mallocx)_|jemalloc|tcmalloc|mimalloc|sbrk|new_heap|pthread_create)`)

// functionAt is the name of Go's function at an instruction, "" where there is none.
func (b *faultBook) functionAt(pc uint64) string {
	if fn, ok := b.p.bin.FuncAt(pc - b.p.bias); ok {
		return fn.Name()
	}
	return ""
}

// maker is the one with that stack, nil where there are too many.
func (m *made) maker(native, pcs []uint64) *maker {
	m.key = m.key[:0]
	for _, pc := range native {
		m.key = binary.LittleEndian.AppendUint64(m.key, pc)
	}
	m.key = append(m.key, '/')
	for _, pc := range pcs {
		m.key = binary.LittleEndian.AppendUint64(m.key, pc)
	}
	one := m.makers[string(m.key)]
	if one == nil && len(m.makers) < maxMakers {
		one = &maker{number: len(m.makers) + 1, native: slices.Clone(native), pcs: slices.Clone(pcs)}
		if m.makers == nil {
			m.makers = map[string]*maker{}
		}
		m.makers[string(m.key)] = one
	}
	return one
}

// add notes a mapping; those that it covers are no more. What is mapped on one stack again and again, each time next to the
// last, is one mapping: the kernel has one area for it, too.
func (m *made) add(one mapping) {
	if n := len(m.list); n > 0 && m.list[n-1].maker == one.maker && (m.list[n-1].start == one.end || m.list[n-1].end == one.start) {
		last := m.list[n-1]
		one.start, one.end = min(one.start, last.start), max(one.end, last.end)
	}
	m.list = slices.DeleteFunc(m.list, func(o mapping) bool { return o.start >= one.start && o.end <= one.end })
	if len(m.list) >= maxMappings {
		m.list = slices.Delete(m.list, 0, len(m.list)-maxMappings+1)
	}
	m.list = append(m.list, one)
}

// move notes that so many bytes of what lay at old lie at the beginning of a mapping now: they keep their makers. What it
// has more is its own.
func (m *made) move(old, size uint64, to mapping) {
	end := to.start + size
	parts := []mapping{{to.start, end, nil}, {end, to.end, to.maker}}
	for _, one := range m.list {
		if start, stop := max(one.start, old), min(one.end, old+size); start < stop {
			parts = append(parts, mapping{start - old + to.start, stop - old + to.start, one.maker})
		}
	}
	for _, one := range parts {
		if one.start < one.end {
			m.add(one)
		}
	}
}

// of is who mapped an address, nil where that is not known or means nothing.
func (m *made) of(addr uint64) *maker {
	for _, one := range slices.Backward(m.list) {
		if addr >= one.start && addr < one.end {
			return one.maker
		}
	}
	return nil
}

// keep forgets the mappings of which nothing is left, by the areas that the process has now.
func (m *made) keep(areas []area) {
	m.list = slices.DeleteFunc(m.list, func(one mapping) bool {
		return !slices.ContainsFunc(areas, func(a area) bool { return a.start < one.end && a.end > one.start })
	})
}
