package explain

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// What main's goroutine has in the frame of a function that it called lasts as long as the call.
func TestAFrameLastsAsLongAsItsCall(t *testing.T) {
	for _, c := range []struct {
		frame  string
		inside []int // goroutines inside main.unpack at looks from 5 s on
		want   tenure
	}{
		{"main.main", []int{1, 1, 1, 1, 1}, lasts},
		{"main.unpack", []int{1, 1, 1, 1, 1}, lasts},
		{"main.unpack", []int{1, 0, 1, 1, 1}, passing},
		{"main.unpack", []int{1, 1}, unknownTenure},
		{"example.org/shop/cli.Execute", []int{1, 0}, lasts}, // scaffolding, which the line's stacks do not pass
		{sample.WholeStack, []int{1, 1, 1, 1, 1}, unknownTenure},
	} {
		s := newScene()
		site := s.site("main.read", "/build/shop/read.go", 9, 100, 0)
		site.Callers = []Caller{{Function: "main.read", Own: true}, {Function: "main.unpack", Own: true}, {Function: "main.main", Own: true}}
		for i, n := range c.inside {
			site.Course = append(site.Course, SiteSnapshot{At: 5 + float64(i), Calls: []int{0, n, 1}, Goroutines: true})
		}
		s.captured(100,
			sample.HeapPath{Parent: -1, Label: "goroutine runtime.main", Root: &sample.HeapRoot{Kind: sample.RootGoroutine, Func: "runtime.main", First: 1, Count: 1}},
			sample.HeapPath{Parent: 0, Label: " in " + c.frame, Retained: 100 * mib})
		k := &Case{Evidence: s.Evidence, site: site, outcome: Outcome{MomentElapsed: 12}}
		if got := k.tenureOf(1); got != c.want {
			t.Errorf("%s, %v: %d, want %d", c.frame, c.inside, got, c.want)
		}
	}
}

// Goroutines that ran when they were looked at may have been inside a call, and may not: of such looks it is not known.
func TestLooksAtRunningGoroutinesTellNoTenure(t *testing.T) {
	var s Site
	for i := range 9 {
		s.Course = append(s.Course, SiteSnapshot{At: float64(i), Unseen: 1, Goroutines: true})
	}
	if got := s.tenureOf(func(*SiteSnapshot) int { return 0 }, 0); got != unknownTenure {
		t.Errorf("%d, want unknown", got)
	}
	s.Course[4].Unseen = 0
	if got := s.tenureOf(func(*SiteSnapshot) int { return 0 }, 0); got != passing {
		t.Errorf("%d, want passing: nobody was inside", got)
	}
}

// A call that the blamed line's stacks do not pass, as what is done with the memory later, lasts where somebody was
// inside of it at all looks; what the line was called through is scaffolding.
func TestACallBesideTheLineLastsAsItWasSeen(t *testing.T) {
	for _, c := range []struct {
		frame  string
		inside []int // goroutines inside the frame's function at looks from 5 s on
		want   tenure
	}{
		{"shop.(*report).write", []int{1, 1, 1, 1, 1}, lasts},
		{"shop.(*report).write", []int{0, 0, 0, 1, 1}, passing},
		{"shop.(*report).write", []int{1, 1}, unknownTenure},
		{"example.org/shop/cli.Execute", []int{0, 0}, lasts},
		{"io.ReadAll", []int{1, 1, 1, 1, 1}, passing}, // the line's own call, which was left
	} {
		s := newScene()
		site := s.site("main.read", "/build/shop/read.go", 9, 100, 0)
		site.Callers = []Caller{{Function: "main.read", Own: true}}
		site.Stack = []sample.Frame{{Func: "io.ReadAll"}, {Func: "main.read"}, {Func: "example.org/shop/cli.Execute"}, {Func: "main.main"}}
		for i, n := range c.inside {
			site.Course = append(site.Course, SiteSnapshot{At: 5 + float64(i), Calls: []int{i % 2}, Inside: map[string]int{c.frame: n}, Goroutines: true})
		}
		s.captured(100,
			sample.HeapPath{Parent: -1, Label: "goroutine runtime.main", Root: &sample.HeapRoot{Kind: sample.RootGoroutine, Func: "runtime.main", First: 1, Count: 1}},
			sample.HeapPath{Parent: 0, Label: " in " + c.frame, Retained: 100 * mib})
		k := &Case{Evidence: s.Evidence, site: site, outcome: Outcome{MomentElapsed: 12}}
		if got := k.tenureOf(1); got != c.want {
			t.Errorf("%s, %v: %d, want %d", c.frame, c.inside, got, c.want)
		}
	}
}

// What calls and a loop keep together lasts as long as the loop does, whatever it is named after.
func TestWhatSeveralGoroutinesKeepLastsAsLongAsTheLastOfThem(t *testing.T) {
	call := sample.HeapSharer{HeapRoot: sample.HeapRoot{Kind: sample.RootGoroutine, Func: "dns.(*Server).serve", First: 900, Count: 40},
		Frame: "dns.(*Server).serve"}
	main := sample.HeapSharer{HeapRoot: sample.HeapRoot{Kind: sample.RootGoroutine, Func: "runtime.main", First: 1, Count: 1}, Frame: "main.main"}
	for _, c := range []struct {
		sharers []sample.HeapSharer
		want    tenure
	}{{nil, passing}, {[]sample.HeapSharer{call, call}, passing}, {[]sample.HeapSharer{call, main}, lasts}} {
		s := newScene()
		s.captured(100, sample.HeapPath{Parent: -1, Label: "goroutine dns.(*Server).serve and others: dns.Server", Retained: 100 * mib,
			Root: &sample.HeapRoot{Kind: sample.RootGoroutine, Func: "dns.(*Server).serve", First: 900, Count: 40, Sharers: c.sharers}})
		k := &Case{Evidence: s.Evidence, outcome: Outcome{MomentElapsed: 12}}
		if got := k.tenureOf(0); got != c.want {
			t.Errorf("%d sharers: %d, want %d", len(c.sharers), got, c.want)
		}
	}
}

// A service's own pool, which a call has in hand at the kill, was there while no call was; of what a call alone has, or
// of what was not seen without calls, that is not so.
func TestWhatWasThereWithoutCallsIsNoCallsOwn(t *testing.T) {
	for _, c := range []struct {
		label string
		left  float64
		want  tenure
	}{
		{"goroutine main.serve and others: bpool.BufferPool", 0.8, lasts},
		{"goroutine main.serve and others: bpool.BufferPool", 0.2, passing},
		{"goroutine main.serve and others: bpool.BufferPool", math.NaN(), passing},
		{"goroutine main.serve", 0.8, passing},
	} {
		s := newScene()
		s.captured(100, sample.HeapPath{Parent: -1, Label: c.label, Retained: 100 * mib,
			Root: &sample.HeapRoot{Kind: sample.RootGoroutine, Func: "main.serve", First: 900, Count: 40}})
		k := &Case{Evidence: s.Evidence, outcome: Outcome{MomentElapsed: 12}, inFlight: callCorrelation{calls: 1, left: c.left}}
		if got := k.tenureOf(0); got != c.want {
			t.Errorf("%s, %v left: %d, want %d", c.label, c.left, got, c.want)
		}
	}
}

// Goroutines that wake up now and then have not waited for long, and yet do not end: their number rose
// evenly under an even load for longer than any of them could live. Under a load that rises they may end.
func TestGoroutinesThatWakeUpDoNotEnd(t *testing.T) {
	for load, want := range map[float64]Class{1: Goroutines, 3: Burst} {
		s := workScenes["thousands of goroutines that never end"]()
		s.goroutines(12, 10000, 20000, 30000, 40000)
		for i := range s.p.Goroutines {
			s.p.Goroutines[i].Oldest = 2 * time.Second
		}
		s.Ticks.Alloc = nil
		for _, at := range s.Ticks.At {
			rate := 1.0
			if at > 15 {
				rate = load
			}
			s.Ticks.Alloc = append(s.Ticks.Alloc, (at+(rate-1)*max(0, at-15))*float64(mib))
		}
		a, err := Explain(s.Evidence, nil)
		if err != nil {
			t.Fatal(err)
		}
		if (a.Verdict.Class == Goroutines) != (want == Goroutines) {
			t.Errorf("load times %.0f: %s: %s", load, a.Verdict.Class, a.Verdict.Sentence)
		}
	}
}

// Too few readings rule no growth out.
func TestALeakThatWasReadTwiceIsNotRuledOut(t *testing.T) {
	s := newScene()
	s.noMark()
	s.cycles(10, 9, 10)
	a, err := Explain(s.Evidence, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range a.RuledOut {
		if r.Class == Leak || r.Class == Backlog {
			t.Errorf("%s is ruled out: %s", r.Class, r.Reason)
		}
	}
}

// Many collections in a short time make each rise small: a heap that rises at each is not steady.
func TestARiseInManySmallStepsIsNoSteadyNeed(t *testing.T) {
	s := newScene()
	s.heap(230, 240, 245)
	s.killed()
	live := make([]float64, 60)
	for i := range live {
		live[i] = 120 + 2*float64(i)
	}
	s.cycles(3, live...)
	s.site("example.org/shop/cache.(*Cache).Put", "/build/shop/cache/cache.go", 57, 120, 0)
	a, err := Explain(s.Evidence, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.Verdict.Class == Baseline {
		t.Errorf("%s: %s", a.Verdict.Class, a.Verdict.Sentence)
	}
}

// What grew for a second or two may be a program that loads its data.
func TestARiseOfASecondIsToldWithLowConfidence(t *testing.T) {
	s := scenes["slow leak, still running"]()
	s.faster(30)
	a, err := Explain(s.Evidence, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.Verdict.Class == Leak && a.Verdict.Confidence == High {
		t.Errorf("%s (%s): %s", a.Verdict.Class, a.Verdict.Confidence, a.Verdict.Sentence)
	}
}

// A panic is the cause of its end, whatever the memory did below the limit.
func TestAPanicBelowTheLimitIsNoLeak(t *testing.T) {
	s := newScene()
	s.heap(80, 80, 100)
	s.charge()
	s.cycles(20, 10, 20, 30, 40, 50, 60, 70, 80)
	s.site("example.org/shop/cache.(*Cache).Put", "/build/shop/cache/cache.go", 57, 75, 0)
	s.ended(2)
	s.Crash = &Crash{Kind: panicked, Reason: "index out of range", Place: sample.Place{Function: "main.pick", File: "/build/shop/main.go", Line: 23}}
	a, err := Explain(s.Evidence, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "shop panicked (index out of range) at shop/main.go:23. Memory was not the cause."; a.Verdict.Class == Leak ||
		!strings.HasPrefix(a.Verdict.Detail+" "+a.Verdict.Sentence, want) {
		t.Errorf("%s: %s %s", a.Verdict.Class, a.Verdict.Detail, a.Verdict.Sentence)
	}
}

// faster lets the run happen in a part of its time.
func (s *scene) faster(by float64) {
	sooner := func(at time.Time) time.Time { return began.Add(time.Duration(float64(at.Sub(began)) / by)) }
	for i := range s.Ticks.At {
		s.Ticks.At[i] /= by
	}
	for i := range s.Cycles {
		s.Cycles[i].At = sooner(s.Cycles[i].At)
	}
	for i := range s.Events {
		s.Events[i].At = sooner(s.Events[i].At)
	}
	s.Moment.At, s.End = sooner(s.Moment.At), sooner(s.End)
}

// Two seconds without growth are few, however many readings they have.
func TestARunOfTwoSecondsIsNotHealthyForSure(t *testing.T) {
	s := scenes["steady and small"]()
	s.faster(20)
	a, err := Explain(s.Evidence, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.Verdict.Confidence == High {
		t.Errorf("%s (%s): %s", a.Verdict.Class, a.Verdict.Confidence, a.Verdict.Sentence)
	}
	c := newCase(s.Evidence) // of one that goes on even less was seen
	c.outcome.State, c.outcome.ExitCode = Running, nil
	if f := healthyFound(c); f.Detail != tooBriefly || f.Confidence != Low {
		t.Errorf("running: %s (%s)", f.Detail, f.Confidence)
	}
}

// What rose until the peak and was gone soon after is no leak.
func TestWhatIsGoneAfterThePeakIsNoLeak(t *testing.T) {
	for gone, want := range map[bool]bool{false: true, true: false} {
		s := scenes["slow leak, still running"]()
		if last := s.Cycles[len(s.Cycles)-1]; gone {
			last.N, last.At, last.Marked = last.N+1, s.Moment.At.Add(time.Second), 8*mib
			s.Cycles = append(s.Cycles, last)
		}
		a, err := Explain(s.Evidence, nil)
		if err != nil {
			t.Fatal(err)
		}
		if (a.Verdict.Class == Leak) != want {
			t.Errorf("gone %v: %s: %s", gone, a.Verdict.Class, a.Verdict.Sentence)
		}
	}
}

// A goroutine that has been there all along is a loop, and no call: so where their number never moved.
func TestWhereNoGoroutineBeganTheyRunAlong(t *testing.T) {
	for _, c := range []struct {
		n    func(i int) float64
		want bool
	}{
		{func(int) float64 { return 9 }, true},
		{func(i int) float64 { return 9 + float64(i%3) }, false},
		{func(i int) float64 { return float64(i) }, false},
	} {
		s := newScene()
		s.Ticks.At, s.Ticks.Goroutines = nil, nil
		for i := range 40 {
			s.Ticks.At, s.Ticks.Goroutines = append(s.Ticks.At, float64(i)/2), append(s.Ticks.Goroutines, c.n(i))
		}
		k := &Case{Evidence: s.Evidence, outcome: Outcome{MomentElapsed: 20}}
		if got := k.sameGoroutines(); got != c.want {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}

// What workers gather is not in flight, though a look finds it on their stacks: they were there all along, and nothing of it was
// freed. Where they finish what they have, or more of them come, it may be.
func TestWhatWorkersThatRunAlongHoldIsNotInFlight(t *testing.T) {
	for _, c := range []struct {
		freed float64
		more  int // of them at each look than at the one before
		want  bool
	}{{0, 0, true}, {0.5, 0, false}, {0, 1, false}} {
		s := newScene()
		site := s.site("main.write", "/build/shop/table.go", 65, 100, 0)
		site.FreedOfHeld = sample.Some(c.freed)
		for i := range 9 {
			site.Course = append(site.Course, SiteSnapshot{At: 5 + float64(i), Calls: []int{0}, Begun: map[string]int{"main.read": 12 + c.more*i}, Goroutines: true})
		}
		s.captured(100, sample.HeapPath{Parent: -1, Label: "goroutine main.read and others", Holder: true, Retained: 90 * mib,
			Root: &sample.HeapRoot{Kind: sample.RootGoroutine, Func: "main.read", First: 19, Last: 30, Count: 12}})
		k := &Case{Evidence: s.Evidence, site: site, outcome: Outcome{MomentElapsed: 14}}
		if got := k.heldByLoops(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
