package explain

import (
	"fmt"
	"math"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

const mib = sample.MiB

var (
	began   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	subject = sample.ProcessKey{PID: 4711, Start: 99}
)

// scene writes Evidence by hand: what a run looked like, in MiB and seconds.
type scene struct {
	*Evidence
	p *sample.ProcessMoment
}

// newScene is a Go program of 10 MiB live heap under a limit of 256 MiB, 40 s
// after its start, with nothing wrong.
func newScene() *scene {
	e := &Evidence{Recording: "shop-1.hwm", Start: began, End: began.Add(40 * time.Second), At: "peak", Subject: subject, SiteView: "live", Rate: 512 << 10}
	e.Programs = []sample.Program{{Key: subject, Name: "shop", Exe: "/srv/shop", HeapProfile: sample.HeapProfileOn,
		Go: &sample.GoProgram{Version: "go1.26.8", MainPackage: "example.org/shop/cmd/shop", Module: "example.org/shop"}}}
	e.Moment = sample.Moment{At: began.Add(30 * time.Second), Kind: sample.MomentMax,
		Cgroup: &sample.Cgroup{Limit: sample.Some(256 * mib), Stat: &sample.CgroupStat{Kernel: 2 * mib, PageCache: 5 * mib}},
		Processes: []sample.ProcessMoment{{Key: subject, Go: &sample.Runtime{GOGC: 100, MemoryLimit: sample.NoMemoryLimit, Goroutines: 12},
			Residency: &sample.Residency{GoKnown: true}, Resident: &sample.Resident{}}}}
	s := &scene{Evidence: e, p: &e.Moment.Processes[0]}
	s.heap(10, 10, 12)
	s.p.Residency.GoStacks, s.p.Residency.GoRuntime = 1*mib, 4*mib
	s.charge()
	e.Events = []sample.Event{{At: began, Kind: sample.EventStart, Process: subject}, {At: e.End, Kind: sample.EventExit, Process: subject, Text: "exit 0"}}
	return s
}

// heap sets what the last collection found, what is live now and what is in use.
func (s *scene) heap(marked, live, inUse float64) {
	g := s.p.Go
	g.HeapMarked, g.HeapGoal = bytesOf(marked), bytesOf(2*marked)
	g.HeapLive, g.HeapInUse = bytesOf(inUse), bytesOf(inUse)
	g.TotalAlloc, g.TotalFree = bytesOf(inUse+1000), bytesOf(1000)
	s.p.Live = &sample.Liveness{Bytes: bytesOf(live), Objects: 1000}
	s.p.Residency.GoObjects = bytesOf(inUse)
}

// noMark takes the mark away.
func (s *scene) noMark() { s.p.Live, s.SiteView = nil, "published" }

// native sets what C allocated.
func (s *scene) native(v float64) { s.p.Residency.CMalloc = bytesOf(v) }

// charge sums the cgroup's usage from its parts, and lets the run come to it evenly.
func (s *scene) charge() {
	r := s.p.Residency
	r.Anon = r.GoObjects + r.GoIdle + r.GoStacks + r.GoRuntime + r.CMalloc + r.Mmap + r.Image
	st := s.Moment.Cgroup.Stat
	st.Anon = r.Anon
	s.Moment.Cgroup.Usage = r.Anon + st.PageCache + st.Shmem + st.Kernel + st.Sock.V
	t := &s.Ticks
	*t = Ticks{}
	at := s.Moment.At.Sub(s.Start).Seconds()
	for i := 0; i <= 20; i++ {
		share := 0.1 + 0.9*float64(i)/20
		t.At = append(t.At, at*float64(i)/20)
		t.Usage = append(t.Usage, share*float64(s.Moment.Cgroup.Usage))
		t.PageCache = append(t.PageCache, share*float64(st.PageCache))
		t.Anon = append(t.Anon, share*float64(r.Anon))
		t.Native = append(t.Native, share*float64(r.CMalloc+r.Mmap))
		t.HeapLive = append(t.HeapLive, share*float64(s.p.Go.HeapLive))
		t.HeapAlloc = append(t.HeapAlloc, share*float64(s.p.Go.HeapAlloc()))
		t.Available = append(t.Available, 8*float64(sample.GiB))
		t.Goroutines = append(t.Goroutines, 12)
	}
	s.Spans = map[sample.ProcessKey]Span{subject: {Low: r.Anon / 2, High: r.Anon, Seconds: at / 2}}
}

// over stretches the run to a length, with n samples of a memory that goes up and
// down by a fifth, and the moment at its end.
func (s *scene) over(length time.Duration, n int) {
	s.Moment.At = s.Start.Add(length)
	s.End = s.Moment.At
	s.Events[len(s.Events)-1].At = s.End
	usage, cache, anon := float64(s.Moment.Cgroup.Usage), float64(s.Moment.Cgroup.Stat.PageCache), float64(s.p.Residency.Anon)
	s.Ticks = Ticks{}
	t := &s.Ticks
	for i := range n {
		saw := 0.8 + 0.2*float64(i%10)/9
		t.At = append(t.At, length.Seconds()*float64(i)/float64(n-1))
		t.Usage, t.PageCache, t.Anon = append(t.Usage, saw*(usage-cache)+cache), append(t.PageCache, cache), append(t.Anon, saw*anon)
		t.Goroutines, t.Available = append(t.Goroutines, 12), append(t.Available, 8*float64(sample.GiB))
	}
}

// steady keeps the subject's size over the last half of the run.
func (s *scene) steady() {
	s.Spans[subject] = Span{Low: s.p.Residency.Anon, High: s.p.Residency.Anon, Seconds: 15}
}

// work gives the run the CPU time of so many processors, and the collector a
// share of it; it allocates rate MiB a second.
func (s *scene) work(processors, share, rate float64) {
	t := &s.Ticks
	t.CPU, t.GC, t.Alloc = nil, nil, nil
	for _, at := range t.At {
		t.CPU, t.GC = append(t.CPU, processors*at), append(t.GC, share*processors*at)
		t.Alloc = append(t.Alloc, rate*at*float64(mib))
	}
}

// allocator adds a line that allocated v MiB, a share of all.
func (s *scene) allocator(function, file string, line int, v, share float64, stack ...string) {
	a := Allocator{Place: sample.Place{Function: function, File: file, Line: line}, Own: true, Bytes: bytesOf(v), Objects: int64(bytesOf(v)) / 64, Share: share}
	for _, name := range stack {
		a.Stack = append(a.Stack, sample.Frame{Func: name})
	}
	a.Stack = append(a.Stack, sample.Frame{Func: function, File: file, Line: line})
	s.Allocators = append(s.Allocators, a)
}

// collections sets n of them over the run, each of which found live MiB and aimed
// at goal MiB.
func (s *scene) collections(n int, live, goal, alloc float64) {
	marked := make([]float64, n)
	for i := range marked {
		marked[i] = live
	}
	s.cycles(alloc, marked...)
	for i := range s.Cycles {
		s.Cycles[i].Goal = bytesOf(goal)
	}
}

// killed ends the run by the kernel at the moment.
func (s *scene) killed() {
	s.At, s.Moment.Kind, s.p.Signal = "kill", sample.MomentDeath, 9
	s.End = s.Moment.At
	s.charge()
	if left := s.Moment.Cgroup.Limit.V.Sub(s.Moment.Cgroup.Usage); left > 0 {
		s.Moment.Cgroup.Stat.PageCache += left
		s.charge()
	}
	s.Events = []sample.Event{{At: began, Kind: sample.EventStart, Process: subject},
		{At: s.End, Kind: sample.EventOOMKill, Value: 1}, {At: s.End, Kind: sample.EventExit, Process: subject, Value: 137, Text: "signal 9"}}
}

// cycles sets what collections found live, in MiB, evenly over the run, with
// alloc MiB allocated between two of them.
func (s *scene) cycles(alloc float64, live ...float64) {
	s.Cycles = nil
	step := s.Moment.At.Sub(s.Start) / time.Duration(len(live)+1)
	for i, v := range live {
		s.Cycles = append(s.Cycles, sample.GCCycle{At: s.Start.Add(step * time.Duration(i+1)), Process: subject, N: uint32(i + 1), Marked: bytesOf(v),
			Alloc: bytesOf(alloc * float64(i+1))})
	}
	total := bytesOf(alloc*float64(len(live)) + alloc)
	s.p.Go.TotalFree, s.p.Go.TotalAlloc = total.Sub(s.p.Go.HeapAlloc()), total
}

// early is the same, all of them in the first tenth of the run.
func (s *scene) early(alloc float64, live ...float64) {
	s.cycles(alloc, live...)
	for i := range s.Cycles {
		s.Cycles[i].At = s.Start.Add(s.Cycles[i].At.Sub(s.Start) / 10)
	}
}

// ended ends the run by itself, with a code.
func (s *scene) ended(code int64) {
	e := &s.Events[len(s.Events)-1]
	e.Value, e.Text = code, fmt.Sprintf("exit %d", code)
}

// stopped ends the run by --for.
func (s *scene) stopped() {
	s.Events = append(s.Events[:1], sample.Event{At: s.End, Kind: sample.EventSignal, Process: subject, Value: 15, Text: sample.SignalTime},
		s.Events[len(s.Events)-1])
}

// ramp is a program whose first bytes all stayed: collections at each doubling.
func (s *scene) ramp(live ...float64) {
	s.cycles(0, live...)
	for i := range s.Cycles {
		s.Cycles[i].Alloc = s.Cycles[i].Marked
	}
	s.p.Go.TotalAlloc, s.p.Go.TotalFree = s.p.Go.HeapInUse, 0
}

// site adds a line that holds v MiB and freed a share of all it allocated.
func (s *scene) site(function, file string, line int, v, freed float64) *Site {
	allocated := v / (1 - freed)
	s.Sites = append(s.Sites, Site{Place: sample.Place{Function: function, File: file, Line: line}, Own: true, Bytes: bytesOf(v), Error: bytesOf(v / 20),
		Growth: int64(bytesOf(v)), Marked: true,
		Allocated: bytesOf(allocated), Freed: bytesOf(allocated * freed), Samples: uint64(v * 2),
		Stack: []sample.Frame{{Func: "runtime.mallocgc", File: "runtime/malloc.go", Line: 1}, {Func: function, File: file, Line: line}}})
	return &s.Sites[len(s.Sites)-1]
}

// inside puts n goroutines into a function at the moment.
func (s *scene) inside(function string, n int) {
	s.p.Goroutines = append(s.p.Goroutines, sample.GoroutineGroup{State: "waiting", Reason: "IO wait", Count: n, Stack: []uint64{1},
		Where: []sample.Location{{Frames: []sample.Frame{{Func: "runtime.gopark"}}}, {Frames: []sample.Frame{{Func: function}}}}})
}

// waiting puts n goroutines to a place where they wait, the first of them for so
// many seconds.
func (s *scene) waiting(function, file string, line, n int, reason string, oldest float64) {
	s.p.Goroutines = append(s.p.Goroutines, sample.GoroutineGroup{State: "waiting", Reason: reason, Count: n, Stack: []uint64{1},
		StackBytes: sample.Bytes(n) * 2 * sample.KiB,
		Oldest:     time.Duration(oldest * float64(time.Second)), CreatedAt: sample.Location{Frames: []sample.Frame{{Func: "example.org/shop/push.Start",
			File: "/build/shop/push/push.go", Line: 5}}},
		Where: []sample.Location{{Frames: []sample.Frame{{Func: "runtime.gopark"}}}, {Frames: []sample.Frame{{Func: function, File: file, Line: line}}}}})
}

// goroutines sets their number over the run, evenly.
func (s *scene) goroutines(n ...float64) {
	for i := range s.Ticks.Goroutines {
		at := float64(i) / float64(len(s.Ticks.Goroutines)-1) * float64(len(n)-1)
		k := min(int(at), len(n)-2)
		s.Ticks.Goroutines[i] = n[k] + (at-float64(k))*(n[k+1]-n[k])
	}
	s.p.Go.Goroutines = int(n[len(n)-1])
}

// beside adds a process of v MiB anonymous memory; one in Go has all of it live.
func (s *scene) beside(pid int, name string, inGo bool, v float64) {
	key := sample.ProcessKey{PID: pid, Start: 98}
	p := sample.ProcessMoment{Key: key, Resident: &sample.Resident{Total: bytesOf(v)}}
	prog := sample.Program{Key: key, Name: name, Args: []string{name, "-part", "1"}}
	if inGo {
		prog.Go = &sample.GoProgram{Version: "go1.26.8"}
		p.Go = &sample.Runtime{GOGC: 100, HeapMarked: bytesOf(v), HeapLive: bytesOf(v), HeapInUse: bytesOf(v), TotalAlloc: bytesOf(v),
			MemoryLimit: sample.NoMemoryLimit}
	}
	s.Programs = append(s.Programs, prog)
	s.Spans[key] = Span{Low: bytesOf(v), High: bytesOf(v), Seconds: 15}
	s.Moment.Processes = append(s.Moment.Processes, p)
	s.p = &s.Moment.Processes[0]
	s.Moment.Cgroup.Usage += bytesOf(v)
	s.Moment.Cgroup.Stat.Anon += bytesOf(v)
}

// running adds n goroutines whose stacks could not be read.
func (s *scene) running(n int) {
	s.p.Goroutines = append(s.p.Goroutines, sample.GoroutineGroup{State: "running", Count: n})
}

// stand adds an earlier moment of the blamed line.
func (s *scene) stand(at, held float64, inFlight, unseen int) {
	s.Sites[0].Course = append(s.Sites[0].Course, SiteSnapshot{At: at, Bytes: bytesOf(held), Calls: []int{inFlight}, Unseen: unseen, Goroutines: true})
}

func bytesOf(v float64) sample.Bytes { return sample.Bytes(math.Round(v * float64(mib))) }

// retained adds the capture that is made at every kill: of what the first line holds, kept by a
// variable, or by frames of goroutines that began with that function.
func (s *scene) retained(function string) {
	root := sample.HeapPath{Parent: -1, Label: "main.store", Root: &sample.HeapRoot{Kind: sample.RootGlobal}}
	if function != "" {
		root = sample.HeapPath{Parent: -1, Label: "goroutine " + function, Root: &sample.HeapRoot{Kind: sample.RootGoroutine, Func: function, Count: 1, First: 40}}
	}
	site := &s.Sites[0]
	root.Retained, root.Type = site.Bytes, "?"
	held := sample.HeapPath{Parent: 0, Label: ".items", Type: "?", Retained: site.Bytes, Holder: true,
		Sites: []sample.HeapSite{{At: sample.Frame{Func: site.Function, File: site.File, Line: site.Line}, Bytes: site.Bytes}}}
	s.Heap = &sample.HeapCapture{At: s.Moment.At, Process: subject, Reason: sample.HeapKill, LiveBytes: site.Bytes, Paths: []sample.HeapPath{root, held}}
}
