package watch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/faultprofile"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/words/sample"
)

const (
	// faultsWhat names the profile of page faults in a gap.
	faultsWhat = "who made resident memory grow"
	// faultsEvery is how often what grew is handed over, beside each moment.
	faultsEvery = 10 * time.Second
	// faultsAtOnce bounds the samples that one tick looks at.
	faultsAtOnce = 4096
	// maxFaultStacks bounds the stacks of a process that are kept apart.
	maxFaultStacks = 4096
	// maxFaultsWaiting bounds the samples that wait for a look at the mappings: those of a GB. areasEvery
	// is the time between two looks, unless so many wait: each takes up to a millisecond.
	maxFaultsWaiting = 4096
	areasEvery       = time.Second
	// faultsPatience is after how many samples without any sense a program's are refused.
	faultsPatience = 64
)

// faults is the profile of page faults of a source's programs. All is done under the
// source's lock.
type faults struct {
	profiler *faultprofile.Profiler // nil: none is made
	books    map[int]*faultBook     // by pid
	from     map[int]bool           // processes that were taken in; what they start follows by itself
	since    uint64                 // when the first was, in the clock ticks of sample.ProcessKey
	budget   faultBudget
	next     time.Time // when to hand over
	huge     bool      // the machine gives huge pages
	batch    []faultAdded
	lost     uint64 // samples, so far
	paused   bool   // while many children are started
}

// initFaults readies the profile, if one is wanted.
func (s *Source) initFaults() {
	s.faults = faults{profiler: s.opts.Faults, books: map[int]*faultBook{}, from: map[int]bool{}, huge: procfs.UsesHugePages()}
}

// FaultsAttached is whether a profile of page faults has taken in what it is for: after
// that it needs no right any more.
func (s *Source) FaultsAttached() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults.profiler == nil || len(s.faults.from) > 0
}

// followFaults takes in a process, and with it all that it will start.
func (s *Source) followFaults(pid int) {
	f := &s.faults
	if f.profiler == nil || f.budget.spent || f.from[pid] {
		return
	}
	if f.from[pid] = true; f.since == 0 {
		f.since = ticksSinceBoot()
	}
	if err := f.profiler.Attach(s.opts.Root, pid); err != nil && !errors.Is(err, procfs.ErrGone) {
		s.gap(s.keyOf(pid), faultsWhat, err)
	}
	if err := f.profiler.MappingsUnseen(); err != nil {
		s.gap(s.keyOf(pid), sample.GapMappings, err)
	}
}

// pauseFaults ends the sampling while many children are started, and begins it again afterwards: a compiler touches its
// memory page by page, with an event at each.
func (s *Source) pauseFaults(now time.Time) {
	f := &s.faults
	if f.profiler == nil || f.budget.spent || f.paused == s.flurry.lasts(now) {
		return
	}
	f.paused = !f.paused
	f.profiler.Pause(f.paused)
	if f.paused {
		s.gap(sample.ProcessKey{}, faultsWhat+" while it starts many programs", errFaultsFlurry)
		return
	}
	for _, p := range s.order {
		if p.runtime != nil {
			s.knowFaults(p)
		}
	}
}

// errFaultsFlurry is why page faults are not sampled for a time.
var errFaultsFlurry = errors.New("ten programs were started within three seconds, and sampling the page faults of each would have slowed them: it stops until that is over")

// followFound takes in a process that nothing told of, unless it is known to have been started by
// one that was taken in before.
func (s *Source) followFound(p *process) {
	if s.scope == started || p.beside {
		return
	}
	entered := s.scope == whole && s.live[p.program.Parent] == nil
	if s.faults.since == 0 || p.key.Start < s.faults.since || entered {
		s.followFaults(p.key.PID)
	}
}

// keyOf is a process that is watched; nobody's key where it is not yet.
func (s *Source) keyOf(pid int) sample.ProcessKey {
	if p := s.live[pid]; p != nil {
		return p.key
	}
	return sample.ProcessKey{}
}

// knowFaults begins to keep the samples of a Go program: at its exec where its code alone
// says all, else once its runtime is read.
func (s *Source) knowFaults(p *process) {
	f := &s.faults
	if s.opts.NoFaults != "" && p.bin != nil && p.bin.Supported() == nil {
		s.gap(p.key, sample.GapFaults, errors.New(s.opts.NoFaults))
	}
	if f.profiler == nil || f.budget.spent || f.paused || p.bin == nil || p.mem == nil || p.bin.Supported() != nil || f.books[p.key.PID] != nil {
		return
	}
	target, err := faultTarget(p)
	if errors.Is(err, gomem.ErrNotReady) {
		return
	}
	if err == nil {
		err = f.profiler.Know(p.key.PID, target)
	}
	if err != nil {
		s.gap(p.key, faultsWhat+" in "+p.program.Name, err)
		return
	}
	book := newFaultBook(p, target)
	if f.huge {
		book.pagemap, _ = procfs.OpenPagemap(s.opts.Root, p.readTID) // nil: huge pages are not told
	}
	f.books[p.key.PID] = book
}

// faultTarget is where a program's runtime keeps what stacks are found by.
func faultTarget(p *process) (t faultprofile.Target, err error) {
	if p.bin.Arch != "amd64" {
		return t, fmt.Errorf("stacks of page faults are found on amd64 alone, and this is %s", p.bin.Arch)
	}
	layout, err := p.bin.Layout()
	if err != nil {
		return t, err
	}
	for _, f := range []struct {
		to         *uint64
		typ, field string
	}{
		{&t.M, "runtime.g", "m"}, {&t.SchedBP, "runtime.g", "sched.bp"}, {&t.SchedSP, "runtime.g", "sched.sp"},
		{&t.Curg, "runtime.m", "curg"}, {&t.G0, "runtime.m", "g0"},
	} {
		at, ok := layout.Offset(f.typ, f.field)
		if !ok {
			return t, fmt.Errorf("%s.%s: not in its layout", f.typ, f.field)
		}
		*f.to = at
	}
	for _, f := range []struct {
		to   *uint64
		name string
	}{{&t.Text, "runtime.text"}, {&t.Etext, "runtime.etext"}} {
		at, err := p.bin.Locate(f.name)
		if err != nil {
			return t, err
		}
		*f.to = at + p.bias
	}
	pc, code, ok := p.bin.Code("runtime.asmcgocall")
	if !ok {
		return t, faultprofile.ErrNoTLS
	}
	t.G, err = faultprofile.TLSOffset(code, pc+p.bias, func(addr uint64) (uint64, error) {
		var b [8]byte
		if p.runtime == nil {
			return 0, gomem.ErrNotReady // the loader may not have written it
		}
		_, err := p.mem.ReadAt(b[:], int64(addr))
		return binary.LittleEndian.Uint64(b[:]), err
	})
	return t, err
}

// drainFaults takes the samples that have come, and ends the profile where it costs too much.
func (s *Source) drainFaults(now time.Time) {
	f := &s.faults
	if f.profiler == nil || len(f.books) == 0 {
		return
	}
	f.batch = f.batch[:0]
	err := f.profiler.Drain(faultsAtOnce, func(one *faultprofile.Sample) {
		if b := f.books[one.PID]; b != nil {
			b.meet(one, s)
		}
	})
	if err != nil {
		s.gap(sample.ProcessKey{}, faultsWhat, err)
	}
	cost := f.profiler.Cost()
	f.makeUp(cost.Lost)
	for _, b := range f.books {
		if len(b.waiting) > 0 && b.mayTell(b.waiting[0].address) {
			b.catchUp(s)
		}
	}
	if f.budget.charge(now, cost) {
		f.profiler.Stop()
		s.gap(sample.ProcessKey{}, faultsWhat+", from here on", errFaultsCost)
	}
	if !now.Before(f.next) {
		f.next = now.Add(faultsEvery)
		for _, b := range f.books {
			s.giveFaults(b, now)
		}
	}
}

// makeUp lets the samples that have just come stand for those, too, for which there was no
// room since the last time. They are no more samples for that.
func (f *faults) makeUp(lost uint64) {
	missing := lost - f.lost
	f.lost = lost
	if missing == 0 || len(f.batch) == 0 {
		return
	}
	for _, t := range f.batch {
		t.cell.bytes += sample.Bytes(float64(t.bytes) * float64(missing) / float64(len(f.batch)))
	}
}

// faultAdded is what one sample added to a stack.
type faultAdded struct {
	cell  *faultCell
	bytes sample.Bytes
}

// errFaultsCost is why a profile ended before its program.
var errFaultsCost = errors.New("the sampling of page faults took more than 2 % of a processor, and was switched off")

// giveFaults hands over what a program's profile has counted since the last time.
func (s *Source) giveFaults(b *faultBook, at time.Time) {
	if b.p.runtime == nil {
		return // which memory was Go's is not known
	}
	b.catchUp(s)
	if len(b.made.list) > 0 {
		b.readAreas() // what is no longer mapped is not the mapper's, whatever lies there next
	}
	list := b.since(at)
	if len(list) == 0 {
		return
	}
	s.later(func(sink capture.Sink) error {
		keeper, ok := sink.(capture.GrowthSink)
		if !ok {
			return nil
		}
		defer b.p.symbols.Release()
		growth := make([]sample.ResidentGrowth, 0, sitesAtOnce)
		for some := range slices.Chunk(list, sitesAtOnce) {
			growth = growth[:0]
			for _, c := range some {
				growth = append(growth, b.tell(c))
			}
			if err := keeper.Growth(growth); err != nil {
				return err
			}
		}
		return nil
	})
}

// giveFaultsOf hands over what the programs of a moment have.
func (s *Source) giveFaultsOf(procs []*process, at time.Time) {
	for _, p := range procs {
		if b := s.faults.books[p.key.PID]; b != nil && b.p == p {
			s.giveFaults(b, at)
		}
	}
}

// forgetFaults ends the profile of a program that is no more.
func (s *Source) forgetFaults(p *process) {
	b := s.faults.books[p.key.PID]
	if b == nil || b.p != p {
		return
	}
	s.drainFaults(time.Now())
	s.giveFaults(b, time.Now())
	if n := len(b.waiting); n > 0 {
		s.gap(p.key, faultsWhat+" in "+p.program.Name,
			fmt.Errorf("%d samples are left out: it ended before its runtime could be read, which says what memory is Go's", n))
	}
	s.faults.profiler.Forget(p.key.PID)
	delete(s.faults.books, p.key.PID)
	s.later(func(capture.Sink) error { b.close(); return nil })
}

// faultBudget is what the profile may cost the programs: 2 % of a processor's time, and
// at once no more than faultCredit, so that a program may start.
type faultBudget struct {
	last   time.Time
	cost   time.Duration // at last
	credit time.Duration
	spent  bool
}

const (
	faultShare  = 50 // a fiftieth
	faultCredit = 500 * time.Millisecond
	// faultCost is what the event costs at each fault, sampled or not, beside the time in
	// the BPF program: measured, docs/native.md.
	faultCost = 200 * time.Nanosecond
)

// charge says whether the budget is spent now, once.
func (b *faultBudget) charge(now time.Time, c faultprofile.Cost) bool {
	if b.spent {
		return false
	}
	cost := time.Duration(c.Nanos) + time.Duration(c.Faults)*faultCost
	if b.last.IsZero() {
		b.credit = faultCredit
	} else {
		b.credit = min(b.credit+now.Sub(b.last)/faultShare, faultCredit) - (cost - b.cost)
	}
	b.last, b.cost = now, cost
	b.spent = b.credit < 0
	return b.spent
}
