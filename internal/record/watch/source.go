// Package watch sees a tree of programs from outside: it joins /proc, the
// cgroup, the executable, the runtime's memory and the tracer into one
// capture.Source, and starts programs so that nothing of their lives is missed.
//
// It decides neither when to look (package capture does) nor what it means.
package watch

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/eyes/faultprofile"
	"github.com/highwater-go/highwater/internal/eyes/filepages"
	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Options say what to watch and how.
type Options struct {
	Root  string         // of /proc; "" is /proc
	Group *cgroup.Cgroup // the programs' own cgroup, nil if none
	// Home has the charge of the cgroup read that a program is in which is attached to,
	// where Group is nil.
	Home bool
	// Orphans are, where this is the first process of a container, children that it did
	// not start: what programs that it did start have left.
	Orphans bool
	// EndWithMain ends the watch with the program that was started, whatever it left.
	EndWithMain bool
	// Scopes, where Group is nil, says that what is started moves the program
	// into a cgroup of its own before it execs it: it is looked for then.
	Scopes *cgroup.Hierarchy
	// HeapProfile switches the heap profile on, at exec, in programs whose linker
	// switched it off; ProfileRate, if not 0, sets its rate too.
	HeapProfile bool
	ProfileRate int64
	// KeepArgs hands on the values of arguments, but those that look secret; without
	// it they are left out as procfs.Withhold has it.
	KeepArgs    bool
	FollowForks bool // follow forks of busy Go programs too: lastbreath.Always
	// LeaveChildren traces nothing that the programs start, for those that trace it
	// themselves and do not show that by their executable.
	LeaveChildren bool
	// Room says how much memory there is at a time for what is read of a program's
	// runtime, whose size that decides; nil: no bound but those of package gomem.
	Room func() sample.Bytes
	// Narrow traces no more than one thread of a Go program: for programs that
	// are not ours (lastbreath.Never).
	Narrow bool
	// Common is shared by all sources of a watcher; nil: the source has a thread of its
	// own, and looks through the threads of its own programs for their children.
	Common *Common
	// Alone watches what is attached to without what it starts.
	Alone bool
	// EnableRunning switches the heap profile on, by a write into its memory, in
	// programs that run already and keep none.
	EnableRunning bool
	// FiguresAlone watches also a program of which no more than the kernel's
	// figures may be read.
	FiguresAlone bool
	// EndWithUs ends the programs when we are killed (lastbreath.Options).
	EndWithUs bool
	// Faults samples the page faults of the programs; nil: that is not done. The caller
	// closes it after the Source.
	Faults *faultprofile.Profiler
	// NoFaults is why page faults are not sampled, "" where that was not wanted.
	NoFaults string
	// Owners tells which cgroup is charged for the pages of a file; nil: that is not known. The caller
	// closes it after the Source.
	Owners *filepages.Owners
	// Allocs samples what C's allocator gives to the programs and gets back, by probes on its
	// functions; nil: that is not done. The caller closes it after the Source.
	Allocs *faultprofile.AllocProfiler
	// Say, if set, is told what a user should read at once. It must not call the
	// Source.
	Say func(line string)
}

func (o Options) following() lastbreath.Following {
	switch {
	case o.Narrow:
		return lastbreath.Never
	case o.FollowForks:
		return lastbreath.Always
	}
	return lastbreath.WithinBudget
}

// Source is one tree of programs. The loop's goroutine calls the methods of
// capture.Source; the tracer's thread brings deaths and births; the lock lets
// one at a time look at a process.
type Source struct {
	opts   Options
	tracer *lastbreath.Tracer
	host   *host
	mapper *procfs.Mapper

	mu     sync.Mutex
	live   map[int]*process  // by pid
	order  []*process        // live ones in order of appearance: a stable order of points
	forked map[int]time.Time // since when the tracer follows a pid that has not execed yet
	buried map[int]uint64    // start times of processes that were told to have ended, while their pid is still listed
	main   int
	// startedPID is main of a program that was started, for who cannot have the lock.
	startedPID atomic.Int64
	// awaited is the pid of what was started untraced, whose end is told by who waits for
	// it; 0: none.
	awaited int
	scope   scope
	exit    sample.Opt[lastbreath.Status] // of the main program
	over    bool                          // the main program has ended
	ballast ballast
	waiting []func(capture.Sink) error // what Collect hands over
	// ticked means that a Tick has been read whose point is not collected for yet; beforeTick is how much waited when it
	// was read.
	ticked     bool
	beforeTick int
	gaps       map[told]bool
	saidTakes  bool
	points     []sample.Process
	cgroup     sample.Cgroup
	hostNow    sample.Host
	pressure   sample.Pressure
	oom        oomCount
	nextScan   time.Time
	nextHost   time.Time
	charge     **sample.Cgroup // where the charge goes that is read beside the resident pages; nil: nowhere
	ended      bool
	account    account
	doze       doze
	files      files
	faults     faults
	native     natives
	wellEnded  wellEnded
	flurry     flurry
	many       atomic.Bool                            // ManyChildren, also for who has the lock
	dyingHook  func(sample.Program, lastbreath.Death) // may be nil

	wake chan struct{}
	done chan struct{}
}

const (
	// scanEvery is how often programs are looked for that no trace brought us.
	scanEvery = 500 * time.Millisecond
	// scanShare bounds that to 2 % of the time: a process of ten thousand threads
	// has ten thousand lists of children.
	scanShare = 50
	// hostEvery is how often the machine's memory and pressure are read.
	hostEvery = time.Second
	// hostAtRest is that while nothing of the programs moves.
	hostAtRest = 10 * time.Second
	// sitesAtOnce bounds what ten thousand sites, with 25 frames each, take of our
	// memory at once.
	sitesAtOnce = 128
	// maxGaps bounds what is told of a tree of very many processes.
	maxGaps = 2000
)

// New makes a source with nothing to watch yet. The caller closes it.
func New(o Options) (*Source, error) {
	if o.Root == "" {
		o.Root = "/proc"
	}
	s := &Source{
		opts: o, live: map[int]*process{}, forked: map[int]time.Time{}, buried: map[int]uint64{}, gaps: map[told]bool{}, mapper: &procfs.Mapper{},
		wake: make(chan struct{}, 1), done: make(chan struct{}), doze: doze{stirred: make(chan struct{}, 1)},
	}
	s.initFaults()
	s.files.looker.Owners = o.Owners
	s.native = natives{profiler: s.opts.Allocs, books: map[int]*nativeBook{}, blocks: map[uint64]*nativeBlock{}}
	tracing := lastbreath.Options{FollowForks: o.following(), EndWithUs: o.EndWithUs}
	if c := o.Common; c != nil {
		tracing.OSThread, s.host = c.thread, &c.host
	} else {
		own := openHost(o.Root)
		s.host = &own
	}
	if s.host.err != nil {
		s.gap(sample.ProcessKey{}, "memory of the machine", s.host.err)
	}
	var err error
	if s.tracer, err = lastbreath.NewTracer(s.handler(), tracing); err != nil {
		s.closeHost()
		return nil, err
	}
	if o.Group != nil {
		s.ofGroup(o.Group)
	}
	return s, nil
}

// Close lets go of everything. The programs live on. Of a source that hangs only its
// programs are let go.
func (s *Source) Close() error {
	err := s.tracer.Close()
	if !s.lock() {
		return lastbreath.ErrStuck
	}
	defer s.mu.Unlock()
	for _, p := range s.order {
		p.close()
	}
	s.live, s.order = map[int]*process{}, nil
	s.closeHost()
	s.doze.close()
	s.account.close()
	s.ballast.drop()
	return err
}

// closeHost closes what is not shared.
func (s *Source) closeHost() {
	if s.opts.Common == nil {
		s.host.close()
	}
}

// Stuck is closed when reading a program took so long that all were let go. Nothing
// more comes of this source then.
func (s *Source) Stuck() <-chan struct{} { return s.tracer.Stuck() }

// lockWait is how long who must go on in any case waits for the lock.
const lockWait = 3 * time.Second

// lock takes the lock, unless whoever has it hangs.
func (s *Source) lock() bool {
	for end := time.Now().Add(lockWait); !s.mu.TryLock(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// Wake and Done are those of capture.Source.
func (s *Source) Wake() <-chan struct{} { return s.wake }

// Done is closed when no program is left.
func (s *Source) Done() <-chan struct{} { return s.done }
