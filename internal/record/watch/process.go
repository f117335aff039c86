package watch

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/goheap"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/gostats"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// process is one program that a watched process runs. A process that execs gets
// a new one.
type process struct {
	key     sample.ProcessKey
	readTID int // the thread through which it is read: the first, unless that has ended
	root    string
	watcher *procfs.Watcher
	mem     *procfs.Memory
	bin     *gobin.Binary
	bias    uint64
	runtime *gomem.Runtime // nil: not read, or not yet
	stats   *gostats.Stats // of runtime
	heap    *goheap.Heap   // of runtime
	symbols *gobin.Symbolizer
	program sample.Program

	attachErr error     // why runtime is nil; errNotYet while it may still come
	attachAt  time.Time // when to try again
	tries     int
	// Of a program that is not Go's: when to look again for a Go library that it
	// has loaded meanwhile, how often that was done, and where libraries were then.
	lookAt     time.Time
	looks      int
	libraries  []uint64
	switchedOn uint64         // where the library lies whose heap profile was switched on
	library    string         // the name of the one that holds the runtime; "": the executable does
	besides    []uint64       // where libraries were when that was looked for
	others     []otherRuntime // that are not read

	c    allocator // of C
	code *codeMap  // nil: no stack of C was asked for

	mapped []procfs.MappedFile // when its resident pages were read last

	resident sample.Resident
	figures  sample.Runtime
	alive    bool // figures of the last tick were read

	rate       int64        // MemProfileRate as it was last seen, but for 0
	rateFor    sample.Bytes // what had been allocated then
	counted    counted      // at an earlier profile
	sitesKnown int          // buckets handed over
	lastGC     uint32
	lastPause  time.Duration
	cycleSeen  bool
	traced     bool // the tracer tells of its end
	forks      bool // it has started a process
	leaves     bool // what it starts is left to it
	tracing    gobin.Tracing
	narrowed   bool // the tracer does not tell of processes that it starts
	exitTold   bool // its end was told
	held       bool // it is at its end: nothing more is read of it
	kept       bool // a moment that has it was kept
	beside     bool // it only shares the cgroup: seen from /proc alone, and not followed
}

const (
	attachFirst = 2 * time.Millisecond
	attachLast  = 200 * time.Millisecond
)

// execsSeen bounds how often a process is looked at that execs meanwhile, as a shell
// does at once.
const execsSeen = 5

// openProcess looks at what pid runs now. Only a process that is gone is an
// error; a program that cannot be read is watched from /proc alone, and
// program.WhyNot says why.
func openProcess(m *procfs.Mapper, root string, pid int) (*process, error) {
	for try := 1; ; try++ {
		p, err := lookAt(root, pid)
		if err != nil {
			return nil, err
		}
		if err := p.openBinary(m, p.readTID); err != nil {
			p.attachErr = err
			p.program.WhyNot = err.Error()
		}
		if try == execsSeen || !p.isAnother() {
			return p, nil
		}
		p.close()
	}
}

// isAnother says whether the process has become another program than was
// described while it was opened.
func (p *process) isAnother() bool {
	exe, err := procfs.Exe(p.root, p.readTID)
	if err != nil || exe != p.program.Exe {
		return err == nil
	}
	args, err := procfs.Cmdline(p.root, p.readTID)
	return err == nil && !slices.Equal(args, p.program.Args)
}

// lookAt is what everybody may see of a process.
func lookAt(root string, pid int) (*process, error) {
	key, err := procfs.KeyOf(root, pid)
	if err != nil {
		return nil, err
	}
	p := &process{root: root, key: key, readTID: pid}
	if st, err := procfs.StateOf(root, pid); err == nil && st.Ended() {
		p.readTID = firstLiving(root, pid)
	}
	if p.watcher, err = procfs.Watch(root, p.readTID); err != nil {
		return nil, err
	}
	p.program = sample.Program{Key: p.key, HeapProfile: sample.HeapProfileUnknown}
	p.describe(p.readTID)
	return p, nil
}

// firstLiving is a thread of a process whose first has ended; the first where
// all have.
func firstLiving(root string, pid int) int {
	threads, _ := procfs.Threads(root, pid)
	for _, tid := range threads {
		if st, err := procfs.StateOf(root, tid); err == nil && !st.Ended() {
			return tid
		}
	}
	return pid
}

// describe names the process; what cannot be read stays empty.
func (p *process) describe(pid int) {
	p.program.Name, _ = procfs.Name(p.root, pid)
	p.program.Exe, _ = procfs.Exe(p.root, pid)
	p.program.Args, _ = procfs.Cmdline(p.root, pid)
	p.program.Parent, _ = procfs.Parent(p.root, pid)
}

// openBinary opens the executable and the memory.
func (p *process) openBinary(m *procfs.Mapper, pid int) error {
	bin, err := gobin.Open(fmt.Sprintf("%s/%d/exe", p.root, pid))
	if errors.Is(err, gobin.ErrNotGo) {
		return p.openLibrary(m, pid, err)
	}
	if err != nil {
		return whyUnread(p.root, p.key.PID, err)
	}
	p.bin = bin
	p.program.Go = bin.GoProgram()
	mem, err := procfs.OpenMemory(p.root, pid)
	if err != nil {
		return whyUnread(p.root, p.key.PID, err)
	}
	p.mem = mem
	start, err := m.ExecutableStart(p.root, pid)
	if err != nil {
		return err
	}
	return p.openRuntime(start)
}

// openRuntime readies attach where the Go runtime is in a file that is mapped from
// start on.
func (p *process) openRuntime(start uint64) error {
	p.bias = start - p.bin.Base()
	p.symbols = p.bin.Symbolizer(p.bias)
	if err := p.bin.Supported(); err != nil {
		return err
	}
	p.attachErr = gomem.ErrNotReady
	return nil
}

// attach tries to read the runtime, which begins some hundred microseconds after
// exec; until then each try waits longer. It reports whether that is now
// decided, one way or the other.
func (p *process) attach(now time.Time, room func() sample.Bytes) (decided bool) {
	if p.runtime != nil || !errors.Is(p.attachErr, gomem.ErrNotReady) || now.Before(p.attachAt) {
		return false
	}
	p.runtime, p.attachErr = gomem.Attach(p.mem, p.bin, p.bias)
	p.tries++
	p.attachAt = now.Add(min(attachFirst<<min(p.tries, 10), attachLast))
	if p.attachErr != nil {
		p.runtime = nil
		return !errors.Is(p.attachErr, gomem.ErrNotReady)
	}
	p.stats, p.heap = gostats.New(p.runtime), goheap.New(p.runtime)
	if room != nil {
		p.runtime.Within(room)
	}
	return true
}

// tick reads the resident set. It reports whether the process is still there.
func (p *process) tick() bool {
	p.alive = p.watcher.Read(&p.resident) == nil
	return p.alive
}

// isGone says whether the program is no longer what its process runs: its memory
// went with its exit or its execve.
func (p *process) isGone() bool {
	if p.mem == nil || p.symbols == nil {
		var r sample.Resident
		return errors.Is(p.watcher.Read(&r), procfs.ErrGone)
	}
	var first [1]byte
	_, err := p.mem.ReadAt(first[:], int64(p.bin.Base()+p.bias))
	return err != nil && !errors.Is(err, procfs.ErrStuck)
}

// hasChanged says whether a process that lives runs another program than when it
// was opened. One that is ending has no memory for a moment before it is a zombie.
func (p *process) hasChanged() bool {
	changed := false
	if p.mem != nil && p.symbols != nil {
		changed = p.isGone()
	} else if exe, err := procfs.Exe(p.root, p.readTID); err == nil && p.program.Exe != "" {
		changed = exe != p.program.Exe
	}
	var r sample.Resident
	return changed && p.watcher.Read(&r) == nil && r.Total > 0
}

// pointOf is the process within a point: the groups that were read. Of one that rests Go's
// figures are those of the last look where none of the runtime's sums has changed.
func (s *Source) pointOf(p *process, rests bool) sample.Process {
	out := sample.Process{Key: p.key, Resident: &p.resident}
	if p.runtime == nil {
		return out
	}
	read := p.stats.Counters
	if rests {
		read = p.stats.Glance
	}
	if err := read(&p.figures); err != nil {
		s.unread(p, "Go's figures of "+p.program.Name, err)
		return out
	}
	s.checkRate(p, p.figures.ProfileRate)
	out.Go = &p.figures
	return out
}

// cycle is the collection that ended since the last call, if one did.
func (p *process) cycle(now time.Time) (sample.GCCycle, bool) {
	f := &p.figures
	if p.runtime == nil || f.NumGC == p.lastGC && p.cycleSeen {
		return sample.GCCycle{}, false
	}
	first := !p.cycleSeen
	missed := f.NumGC - p.lastGC - 1
	c := sample.GCCycle{
		At: f.LastGC, Process: p.key, N: f.NumGC, Missed: missed,
		Trigger: f.Trigger, Marked: f.HeapMarked, Goal: f.HeapGoal,
		Pause: f.PauseTotal - p.lastPause, GOGC: f.GOGC, Limit: f.MemoryLimit, Alloc: f.TotalAlloc,
	}
	p.lastGC, p.lastPause, p.cycleSeen = f.NumGC, f.PauseTotal, true
	if c.At.IsZero() || c.At.After(now) {
		c.At = now
	}
	return c, !(first && f.NumGC == 0)
}

// takeProfile reads the heap profile; nil where there is none.
func (s *Source) takeProfile(p *process, now time.Time) *sample.HeapProfile {
	if p.runtime == nil || p.program.HeapProfile == sample.HeapProfileOff {
		return nil
	}
	h := &sample.HeapProfile{At: now}
	if err := p.stats.Profile(h); err != nil {
		s.unread(p, "the heap profile of "+p.program.Name, err)
		return nil
	}
	if h.Rate <= 0 {
		s.gap(p.key, "the heap profile of "+p.program.Name, errRateZero)
		return nil
	}
	s.checkRate(p, h.Rate)
	s.checkSamples(p, h)
	if h.Left > 0 {
		s.gap(p.key, "a part of the heap profile of "+p.program.Name, errManySites)
	}
	return h
}

// errRateZero is why a program that could have a heap profile has none.
var errRateZero = errors.New("the program has set runtime.MemProfileRate to 0: nothing is sampled, and the rate of older samples is lost")

// errManySites is why a heap profile is not whole.
var errManySites = errors.New("it has more allocation sites, or deeper stacks, than are followed, 262,144 sites at most and fewer where memory is short; what was allocated at the others is in no line")

// close lets go of the files.
func (p *process) close() {
	p.watcher.Close()
	if p.bin != nil {
		p.bin.Close()
	}
	if p.mem != nil {
		p.mem.Close()
	}
	for _, o := range p.others {
		o.bin.Close()
	}
	if p.code != nil {
		p.code.close()
	}
}
