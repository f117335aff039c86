package watch

import (
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/faultprofile"
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

// mapping is a range that was mapped. Without a maker it was C's, or Go's runtime's: an allocator
// divides it among others than the one who happened to need it.
type mapping struct {
	start, end uint64
	maker      *maker
}

// maker is a stack that memory was mapped on: Go's frames, innermost first.
type maker struct {
	number int
	pcs    []uint64
}

// meetMapping notes a mapping that was made.
func (b *faultBook) meetMapping(one *faultprofile.Sample, s *Source) {
	m := mapping{start: one.Address, end: one.Address + one.Mapped}
	if m.end <= m.start {
		return
	}
	if one.InGo && !b.isRuntime(one.IP) {
		_, pcs := b.stackOf(one)
		m.maker = b.made.maker(pcs)
	}
	b.made.add(m)
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

// isRuntime says whether an instruction is the runtime's own: not that of its package of system calls.
func (b *faultBook) isRuntime(pc uint64) bool {
	fn, ok := b.p.bin.FuncAt(pc - b.p.bias)
	return ok && strings.HasPrefix(fn.Name(), "runtime.")
}

// maker is the one with that stack, nil where there are too many.
func (m *made) maker(pcs []uint64) *maker {
	m.key = m.key[:0]
	for _, pc := range pcs {
		m.key = binary.LittleEndian.AppendUint64(m.key, pc)
	}
	one := m.makers[string(m.key)]
	if one == nil && len(m.makers) < maxMakers {
		one = &maker{number: len(m.makers) + 1, pcs: slices.Clone(pcs)}
		if m.makers == nil {
			m.makers = map[string]*maker{}
		}
		m.makers[string(m.key)] = one
	}
	return one
}

// add notes a mapping; those that it covers are no more.
func (m *made) add(one mapping) {
	m.list = slices.DeleteFunc(m.list, func(o mapping) bool { return o.start >= one.start && o.end <= one.end })
	if len(m.list) >= maxMappings {
		m.list = slices.Delete(m.list, 0, len(m.list)-maxMappings+1)
	}
	m.list = append(m.list, one)
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
