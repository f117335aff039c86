package watch

import (
	"errors"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/malloc"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/files/regular"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// allocator is what a watch knows of the C allocator of a process.
type allocator struct {
	looked bool
	native sample.Bytes // outside Go's memory, when it was looked at last
	at     time.Time    // of the last look
	again  bool         // what it found may not be what it came to: memory had moved just then
	named  string       // what is linked into the executable, as far as that was looked for
	end    time.Time    // of the last look, at the end of the process; zero: it lives
	ending bool
}

const (
	// mallocLive bounds what is read of a program that runs: the lock is held meanwhile.
	mallocLive = 150 * time.Millisecond
	// mallocDead bounds it at the end of a process, and half of what is left then is for the rest.
	mallocDead = 500 * time.Millisecond
	// mallocStep is from which change of native memory on it is looked at again; or an eighth of it.
	mallocStep = sample.MiB
	// mallocAgain is after which time it is looked at again in any case; moments are rarer in calm.
	mallocAgain = 10 * time.Second
	// mallocForeign is from which native memory on that of a program is looked at that is not Go's:
	// shells and tools around the real one are not.
	mallocForeign = 4 * sample.MiB
)

// dying says that the next look is the last, and when a reading of the process must have ended;
// zero: whenever.
func (a *allocator) dying(deadline time.Time) {
	a.ending, a.end = true, time.Now().Add(mallocDead)
	if half := time.Now().Add(time.Until(deadline) / 2); !deadline.IsZero() && half.Before(a.end) {
		a.end = half
	}
}

// until is when a look must have ended.
func (a *allocator) until() time.Time {
	if a.ending {
		return a.end
	}
	return time.Now().Add(mallocLive)
}

// isDue says whether a look is worth its cost: the first, the last, where native memory moved since
// the one before, once more after that, and, as what C frees may stay, where that is long ago.
func (a *allocator) isDue(native sample.Bytes) bool {
	if !a.looked || a.ending || a.hasMoved(native) {
		return true
	}
	return native >= mallocForeign && (a.again || time.Since(a.at) >= mallocAgain)
}

// hasMoved says whether native memory is another than at the last look.
func (a *allocator) hasMoved(native sample.Bytes) bool {
	return max(a.native, native)-min(a.native, native) >= max(mallocStep, a.native/8)
}

// lookedAt notes a look that begins now.
func (a *allocator) lookedAt(native sample.Bytes) {
	a.again = !a.looked || a.hasMoved(native)
	a.looked, a.native, a.at = true, native, time.Now()
}

// takeMalloc reads what C's malloc says of itself, in a process whose pages were just read.
func (s *Source) takeMalloc(p *process, pm *sample.ProcessMoment, tid int) {
	if pm.Residency == nil || s.mayStarve(p) {
		return
	}
	native := pm.Residency.CMalloc + pm.Residency.Mmap
	if !p.c.isDue(native) || p.bin == nil && native < mallocForeign {
		return
	}
	if !p.usesC() && !malloc.HasLibrary(p.mapped) {
		p.c.lookedAt(native)
		return // to look for an allocator in all of its data took as long as all its goroutines
	}
	mem := p.mem
	if mem == nil { // of a program that is not Go's
		var err error
		if mem, err = procfs.OpenMemory(s.opts.Root, tid); err != nil {
			return // that it may not be read was told when it was opened
		}
		defer mem.Close()
	}
	first := !p.c.looked
	p.c.lookedAt(native)
	m, err := malloc.OfProcess(s.mapper, mem, s.opts.Root, tid, p.c.until())
	switch {
	case err != nil && !errors.Is(err, malloc.ErrNone):
		s.unread(p, "C's malloc of "+p.program.Name, err)
	case m != nil || p.usesC():
		pm.Malloc = p.named(m, tid, first, native)
	}
}

// named is what was read, or the name of an allocator that is linked into the executable: at the first look
// that is looked for where what was read is little of the native memory.
func (p *process) named(m *sample.Malloc, tid int, first bool, native sample.Bytes) *sample.Malloc {
	if first && (m == nil || m.InUse+m.Free+m.Mapped < native/4) { // another may be linked in
		p.c.named = linkedIn(exeOf(p.root, tid))
	}
	if p.c.named != "" {
		return &sample.Malloc{Allocator: p.c.named, WhyNot: malloc.Named(p.c.named)}
	}
	return m
}

// usesC says whether C code may be linked into the program.
func (p *process) usesC() bool { return p.program.Go == nil || p.program.Go.CGO }

// linkedIn names an allocator by the symbols of an executable.
func linkedIn(path string) string {
	f, err := regular.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	return malloc.LinkedIn(f)
}
