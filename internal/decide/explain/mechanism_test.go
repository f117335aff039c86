package explain

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// What was read at the start and then only at the end grew in between, whatever the readings of the end say
// among themselves.
func TestReadingsThatLieTogetherTellNothingOfTheTimeBefore(t *testing.T) {
	at := func(s, live float64) point { return point{at: s, live: live * float64(mib)} }
	together := riseOf([]point{at(0.1, 40), at(7.2, 49.9), at(7.4, 50.2), at(7.6, 50.4)}, 1.5, 7.6, 0)
	if together.from != 1.5 || together.grown < 8*float64(mib) {
		t.Errorf("from %v s it grew by %v MiB; want the time from the warm-up on", together.from, together.grown/float64(mib))
	}
	apart := riseOf([]point{at(0.1, 40), at(3, 50.1), at(5, 50.2), at(7.6, 50.4)}, 1.5, 7.6, 0)
	if apart.from != 3 || apart.grown > float64(mib) {
		t.Errorf("readings over the whole time: from %v s, grew by %v MiB", apart.from, apart.grown/float64(mib))
	}
}

// A map that is filled evenly has as much room after it doubled as it had in all before: until that time is
// over its memory rests, and it still grows. A slice's room is a quarter.
func TestAContainerBetweenTwoStepsHasNotComeToRest(t *testing.T) {
	for _, c := range []struct {
		function string
		stepAt   float64 // seconds of 40
		want     bool
	}{
		{"internal/runtime/maps.(*table).split", 24, true},
		{"internal/runtime/maps.(*table).split", 16, false},
		{"runtime.growslice", 24, false},
		{"runtime.growslice", 34, true},
		{"runtime.makeslice", 34, false},
	} {
		s := newScene()
		s.site("example.org/shop/seen.(*Set).Add", "/build/shop/seen/seen.go", 5, 60, 0)
		s.Sites[0].Stack = []sample.Frame{{Func: c.function}, {Func: "example.org/shop/seen.(*Set).Add"}}
		k := &Case{Evidence: s.Evidence, site: &s.Sites[0], outcome: Outcome{Elapsed: 40, MomentElapsed: 40}}
		k.rise = rise{grown: 50, reached: c.stepAt}
		if got := k.betweenSteps(); got != c.want {
			t.Errorf("%s at %v of 40 s: %v", c.function, c.stepAt, got)
		}
	}
}

// What was allocated before a look at which nobody was inside the calls, and is not freed, those calls left:
// the profile that publishes it may be two collections late.
func TestWhatEndedCallsAllocatedIsLeftBeforeItIsPublished(t *testing.T) {
	s := newScene()
	site := s.site("example.org/shop/cache.(*Cache).Put", "/build/shop/cache/cache.go", 57, 100, 0)
	site.Cycle = 7
	site.Course = []SiteSnapshot{
		{At: 5, Bytes: 4 * mib, Allocated: 20 * mib, Cycle: 3, Calls: []int{1}, Goroutines: true},
		{At: 20, Bytes: 12 * mib, Allocated: 80 * mib, Cycle: 4, Calls: []int{0}, Goroutines: true},
		{At: 25, Bytes: 12 * mib, Allocated: 90 * mib, Cycle: 4, Calls: []int{0}, Unseen: 1, Goroutines: true},
	}
	if got := leftByCalls(site, 0, 1, 0); got < 0.79 || got > 0.81 {
		t.Errorf("of 100 MiB %v were left; 80 were allocated before nobody was inside", got)
	}
	site.Since = 50 * mib // of 150 MiB 50 are gone, and may be the earlier ones
	if got := leftByCalls(site, 0, 1, 0); got > 0.31 {
		t.Errorf("%v were left, though a part was freed", got)
	}
}

// What calls had that have ended is not left behind before a collection looked at it: one that began after they ended.
func TestWhatNoCollectionHasSeenIsNotLeft(t *testing.T) {
	for cycle, want := range map[uint32]bool{4: false, 5: false, 6: true} {
		s := newScene()
		site := s.site("example.org/shop/report.Write", "/build/shop/report/report.go", 57, 100, 0)
		site.Marked, site.Cycle = false, cycle
		site.Course = []SiteSnapshot{
			{At: 5, Bytes: 4 * mib, Allocated: 20 * mib, Cycle: 3, Calls: []int{1}, Goroutines: true},
			{At: 20, Bytes: 90 * mib, Allocated: 100 * mib, Cycle: 4, Calls: []int{0}, Goroutines: true},
		}
		if got := leftByCalls(site, 0, 0, 0); (got >= leftBehind.v()) != want {
			t.Errorf("collection %d: %v were left", cycle, got)
		}
	}
}

// A leak that grows into GOMEMLIMIT ends in a spiral, and is the cause of it.
func TestALeakThatEndsInASpiralIsTheVerdict(t *testing.T) {
	for grown, want := range map[sample.Bytes]Class{57 * mib: Leak, 20 * mib: Spiral} {
		list := []Finding{{Class: Spiral, Stance: Speaks, Bytes: 119 * mib, Confidence: High},
			{Class: Leak, Stance: Speaks, Bytes: grown, Score: 6.5, Confidence: High}}
		if got := foremost(list); got.Class != want {
			t.Errorf("%d MiB grew: %s, want %s", grown>>20, got.Class, want)
		}
	}
	list := []Finding{{Class: GCUnaware, Stance: Speaks, Bytes: 119 * mib}, {Class: Leak, Stance: Speaks, Bytes: 57 * mib, Score: 6.5}}
	if got := foremost(list); got.Class != GCUnaware {
		t.Errorf("garbage of 119 MiB beside growth of 57: %s", got.Class)
	}
}

// A function that writes the first bytes of Go's heap and of mapped memory alike fills what others made.
func TestAHelperThatFillsBothHeapsIsNotToBlame(t *testing.T) {
	at := func(names ...string) (where []sample.Location) {
		for i, n := range names {
			where = append(where, sample.Location{Frames: []sample.Frame{{Func: "example.org/shop/" + n, File: n + ".go", Line: 10 + i}}})
		}
		return where
	}
	s := newScene()
	s.Resident = []sample.ResidentGrowth{
		{Process: subject, Kind: sample.ResidentNative, Where: at("fill.Touch", "store.segment", "store.Add"), Samples: 300, Bytes: 60 * mib},
		{Process: subject, Kind: sample.ResidentNative, Where: at("fill.Touch", "index.load"), Samples: 20, Bytes: 4 * mib},
	}
	k := &Case{Evidence: s.Evidence}
	if got, _ := residentLines(k.Resident, sample.ResidentNative, k.module()); len(got) != 1 || got[0].Function != "example.org/shop/fill.Touch" {
		t.Errorf("seen in native memory alone: %+v", got)
	}
	s.Resident = append(s.Resident, sample.ResidentGrowth{Process: subject, Kind: sample.ResidentHeap, Where: at("fill.Touch", "cache.fill"), Samples: 100,
		Bytes: 20 * mib})
	if got, _ := residentLines(k.Resident, sample.ResidentNative, k.module()); len(got) != 2 || got[0].Function != "example.org/shop/store.segment" ||
		got[0].Bytes != 60*mib {
		t.Errorf("seen in both: %+v", got)
	}
	s.Resident = []sample.ResidentGrowth{s.Resident[2], {Process: subject, Kind: sample.ResidentNative,
		Where: append([]sample.Location{{Frames: []sample.Frame{{Func: "example.net/fastcache.(*bucket).Set", File: "bucket.go", Line: 5}}}},
			at("fill.Touch", "cache.fill")...), Samples: 300, Bytes: 60 * mib}}
	if got, _ := residentLines(s.Resident, sample.ResidentNative, k.module()); len(got) != 1 || got[0].Function != "example.org/shop/fill.Touch" {
		t.Errorf("it called a library, which wrote: %+v", got)
	}
}

// GC that takes half of the little CPU time of a program that waits costs nobody anything; of one that is
// held up by it, it does.
func TestGarbageOfAProgramThatWaitsIsNoFault(t *testing.T) {
	for cores, want := range map[float64]Class{0.3: Healthy, 1.2: Churn} {
		s := newScene()
		s.work(cores, 0.45, 300)
		s.collections(600, 4, 8, 20)
		s.allocator("example.org/shop/send.format", "/build/shop/send/send.go", 42, 12000, 0.98)
		a, err := Explain(s.Evidence, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a.Verdict.Class != want || a.Verdict.Confidence == High {
			t.Errorf("%v cores: %s (%s): %s", cores, a.Verdict.Class, a.Verdict.Confidence, a.Verdict.Sentence)
		}
	}
}

// Where others use the processors, the clock books their time to GC.
func TestAShareOfGCThatIsNotToBeTrustedAccusesNobody(t *testing.T) {
	s := newScene()
	s.work(0.9, 0.97, 300)
	s.collections(600, 4, 8, 20)
	s.allocator("example.org/shop/send.format", "/build/shop/send/send.go", 42, 12000, 0.98)
	a, err := Explain(s.Evidence, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.Verdict.Class != Healthy {
		t.Errorf("%s: %s", a.Verdict.Class, a.Verdict.Sentence)
	}
}

// Goroutines whose stacks are most of the memory are named, though nothing is wrong with them.
func TestStacksThatAreMostOfTheMemoryAreNamedInAHealthyAnswer(t *testing.T) {
	s := newScene()
	s.Moment.Cgroup.Limit = sample.Some(1024 * mib)
	s.p.Residency.GoStacks = 240 * mib
	s.charge()
	s.waiting("example.org/shop/pool.worker", "/build/shop/pool/pool.go", 8, 60000, "chan receive", 20)
	s.cycles(20, 10, 10, 10, 10, 10, 10)
	a, err := Explain(s.Evidence, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.Verdict.Class != Healthy || !strings.Contains(a.Verdict.Sentence, "60,000 goroutines that wait at pool/pool.go:8") {
		t.Errorf("%s: %s", a.Verdict.Class, a.Verdict.Sentence)
	}
}

// So they are where nothing can be decided.
func TestStacksThatAreMostOfTheMemoryAreNamedWhereNothingIsDecided(t *testing.T) {
	s := newScene()
	s.Moment.Cgroup.Limit = sample.Some(1024 * mib)
	s.p.Residency.GoStacks = 240 * mib
	s.charge()
	s.waiting("example.org/shop/pool.worker", "/build/shop/pool/pool.go", 8, 60000, "chan receive", 20)
	s.cycles(20, 10)
	a := answerOf(t, s)
	if a.Verdict.Class != Inconclusive || !strings.Contains(a.Verdict.Sentence, "stacks: 240 MiB, of 60,000 goroutines that wait at pool/pool.go:8.") {
		t.Errorf("%s: %s", a.Verdict.Class, a.Verdict.Sentence)
	}
}

// The stacks of goroutines that have ended are not those of the few that are left.
func TestStacksOfGoroutinesThatEndedAreNotBlamedOnTheRest(t *testing.T) {
	s := newScene()
	s.Moment.Cgroup.Limit = sample.Some(1024 * mib)
	s.p.Residency.GoStacks = 240 * mib
	s.charge()
	s.waiting("example.org/shop/pool.worker", "/build/shop/pool/pool.go", 8, 600, "chan receive", 20)
	s.cycles(20, 10, 10, 10, 10, 10, 10)
	if a := explained(t, s); strings.Contains(a.Verdict.Sentence, "600 goroutines") {
		t.Errorf("1.2 MiB of 240: %s", a.Verdict.Sentence)
	}
}

// A program that waits between pieces of work and ends by itself while its live heap rises is not healthy: it is not
// known whether it would have grown on.
func TestAProgramThatGrewUntilItsOwnEndIsNotHealthy(t *testing.T) {
	for _, busy := range []float64{0.1, 0.95} {
		s := newScene()
		s.heap(60, 62, 70)
		s.charge()
		s.cycles(20, 10, 20, 30, 40, 50, 60)
		s.work(busy, 0.02, 5)
		s.site("example.org/shop/api.(*store).load", "/build/shop/api/store.go", 20, 50, 0.5)
		s.inside("example.org/shop/api.(*store).load", 1)
		s.ended(0)
		if a := explained(t, s); (a.Verdict.Class == Healthy) != (busy > 0.5) {
			t.Errorf("on %v of a processor: %s: %s", busy, a.Verdict.Class, a.Verdict.Sentence)
		}
	}
}

// Without need, growth that slows down within a minute is that of a cache that comes to its bound, as far as anyone can tell.
func TestGrowthThatSlowsDownIsNoLeakYet(t *testing.T) {
	s := newScene()
	s.heap(60, 62, 70)
	s.charge()
	s.cycles(20, 10, 22, 33, 42, 49, 55, 60)
	s.site("example.org/shop/cache.(*Cache).Put", "/build/shop/cache/cache.go", 57, 50, 0)
	s.work(0.1, 0.02, 5)
	s.retained("")
	if a := explained(t, s); a.Verdict.Class == Leak {
		t.Errorf("%s: %s", a.Verdict.Class, a.Verdict.Sentence)
	}
}

// Growth that slows down is seen from five readings on.
func TestFiveReadingsTellThatGrowthSlowsDown(t *testing.T) {
	for late, want := range map[float64]bool{170: true, 250: false} {
		s := newScene()
		s.noMark()
		s.cycles(60, 40, 90, 140, 140+(late-140)/2, late)
		if got := (&Case{Evidence: s.Evidence, curve: liveCurve(s.Evidence)}).slowsDown(); got != want {
			t.Errorf("to %v MiB at last: %v", late, got)
		}
	}
}

// A line's few samples more are no growth beneath a live heap fifty times as large that did not grow.
func TestAFewSamplesOfALineAreNoGrowthOfAHeap(t *testing.T) {
	for live, want := range map[float64]bool{90: false, 20: true} {
		s := newScene()
		s.heap(live, live, live+5)
		s.charge()
		s.cycles(20, live, live, live, live, live, live, live, live)
		site := s.site("example.org/shop/shelf.Open", "/build/shop/shelf/shelf.go", 44, 3, 0)
		for i := range 8 {
			site.Course = append(site.Course, SiteSnapshot{At: float64(3 * i), Cycle: uint32(i + 2), Bytes: bytesOf(0.4 * float64(i)),
				Allocated: bytesOf(0.4 * float64(i)), Goroutines: true})
		}
		if got := newCase(s.Evidence).ofLine; got != want {
			t.Errorf("3 MiB beneath %v: %v", live, got)
		}
	}
}

// Goroutines that a wrapped go statement began are counted by who has the statement.
func TestAWrappedGoroutineIsALoopWhereAsManyWereThereAllAlong(t *testing.T) {
	for last, want := range map[int]bool{1: true, 4: false} {
		s := newScene()
		site := s.site("main.read", "/build/shop/read.go", 9, 100, 0)
		for i, n := range []int{1, 1, 1, last, last} {
			site.Course = append(site.Course, SiteSnapshot{At: 4 * float64(i), Goroutines: true,
				Begun: map[string]int{"net/rpc.(*Client).input": n, begunBy + "net/rpc.NewClientWithCodec": n, "main.serve": 7 + i}})
		}
		k := &Case{Evidence: s.Evidence, site: site, outcome: Outcome{MomentElapsed: 30}}
		if got := k.runsAlong("net/rpc.NewClientWithCodec.gowrap1"); got != want {
			t.Errorf("%d at last: %v", last, got)
		}
	}
}

// Two readings of a heap of which most was never written leave no leak open beside the calls in flight.
func TestTooFewReadingsLeaveNothingOpenThatTheEvidenceSpeaksAgainst(t *testing.T) {
	s := scenes["buffers in flight that are hardly touched"]()
	s.Cycles = s.Cycles[:min(1, len(s.Cycles))]
	k := newCase(s.Evidence)
	if f := judgeLeak(k); f.Stance != Silent {
		t.Errorf("%s: %s", f.Stance, f.Reason)
	}
	if f := judgeBurst(k); f.Stance == Speaks && f.Bytes > k.liveRows()+k.waste() {
		t.Errorf("calls in flight explain %s of %s that is live, and %s of garbage", size(f.Bytes), size(k.liveRows()), size(k.waste()))
	}
}

// A call that holds a hundredth of a rise has not caused it.
func TestACallThatHoldsLittleIsNoBurst(t *testing.T) {
	for held, want := range map[float64]bool{180: true, 1.2: false} {
		s := scenes["burst of uploads"]()
		site := &s.Sites[0]
		site.Bytes, site.Since = bytesOf(held), 0
		for i := range site.Callers {
			site.Callers[i].Under = bytesOf(held)
		}
		if f := judgeBurst(newCase(s.Evidence)); (f.Stance == Speaks) != want {
			t.Errorf("%v MiB: %s %s%s", held, f.Stance, f.Sentence, f.Reason)
		}
	}
}

// A job of which the live heap was hardly read while its memory grew is not called healthy.
func TestGrowthThatWasHardlyReadIsNotHealthy(t *testing.T) {
	for grown, want := range map[float64]Stance{1: Speaks, 30: Open} {
		s := newScene()
		c := newCase(s.Evidence)
		f := c.endedFound(Finding{Stance: Speaks}, Trend{State: NotEnoughData, Of: ofMemory, GrownBytes: grown * float64(mib),
			Why: "the live heap was read only twice"})
		if f.Stance != want {
			t.Errorf("memory grew by %v MiB: %v, want %v", grown, f.Stance, want)
		}
	}
}

// A few MiB in many seconds, but less than a minute, are what buffers and tables gain that reach their size.
func TestASmallSlowRiseIsNoLeakYet(t *testing.T) {
	for _, c := range []struct {
		grown, took float64
		pressed     bool
		want        bool
	}{{5, 20, false, true}, {5, 20, true, false}, {5, 3, false, false}, {5, 90, false, false}, {30, 20, false, false}} {
		k := &Case{pressed: c.pressed, rise: rise{grown: c.grown * float64(mib), to: c.took}}
		if got := k.barelyRose(); got != c.want {
			t.Errorf("%v MiB in %v s, pressed %v: %v", c.grown, c.took, c.pressed, got)
		}
	}
}

// A ballast that is never written takes nothing of the limit: the garbage that its goal lets pile up does. What grows
// may be written yet, and then counts.
func TestABallastNeedsNoMemory(t *testing.T) {
	s := newScene()
	s.heap(202, 273, 320)
	s.p.Residency.GoObjects, s.p.Residency.Untouched = 115*mib, 205*mib
	c := newCase(s.Evidence)
	c.rise = rise{}
	if got := c.liveNeeds(); got != 68*mib {
		t.Errorf("at rest the live heap needs %v, want 68 MiB", got/mib)
	}
	if c.rise = (rise{n: 9, grown: float64(100 * mib), last: float64(273 * mib), low: 1}); c.liveNeeds() != 273*mib {
		t.Errorf("while it grows it needs %v", c.liveNeeds()/mib)
	}
}

// What a line holds is no leak, and none of its calls may have been caught, where as much was freed many times over: it is the
// memory of work in flight. How often is told by the profiles alone.
func TestMemoryThatWasFreedManyTimesOverIsOfWorkInFlight(t *testing.T) {
	for freed, want := range map[float64]bool{100: false, 2000: true} {
		s := newScene()
		s.Moment.Cgroup.Limit = sample.Opt[sample.Bytes]{}
		s.heap(150, 160, 340)
		s.charge()
		s.cycles(100, 20, 120, 150, 110, 140, 100, 150, 120, 150)
		s.work(0.7, 0.1, 150)
		site := s.site("example.org/shop/patch.Apply", "/build/shop/patch/patch.go", 58, 115, 0)
		site.Allocated, site.Freed, site.Cycle = bytesOf(115+freed), bytesOf(freed), 9
		site.Course = []SiteSnapshot{{At: 5, Bytes: 100 * mib, Cycle: 2, Goroutines: true, Calls: []int{0}, Unseen: 1},
			{At: 20, Bytes: 110 * mib, Cycle: 6, Goroutines: true, Calls: []int{0}, Unseen: 1}}
		if a := explained(t, s); (a.Verdict.Class == Burst) != want {
			t.Errorf("%v MiB freed: %s: %s", freed, a.Verdict.Class, a.Verdict.Sentence)
		}
	}
}

// Of two causes that explain as much, within the error of sampling, the surer one is told; where one explains far more, that one.
func TestOfTwoCausesOfOneSizeTheSurerIsTold(t *testing.T) {
	for garbage, want := range map[sample.Bytes]Class{29 * mib: Burst, 45 * mib: GCUnaware} {
		list := []Finding{{Class: GCUnaware, Stance: Speaks, Bytes: garbage, Confidence: Medium},
			{Class: Burst, Stance: Speaks, Bytes: 28 * mib, Score: 8, Confidence: High}}
		if got := foremost(list); got.Class != want {
			t.Errorf("%d MiB of garbage beside a burst of 28: %s, want %s", garbage>>20, got.Class, want)
		}
	}
}

// What a queue lets go and takes again does not speak against the line that fills it where many collections found more and
// more: another line keeps all that it allocates, and less.
func TestAQueueThatOnlyGrowsComesBeforeALineThatKeepsLess(t *testing.T) {
	for fell, want := range map[float64]int{0: 36, 6: 34} {
		s := newScene()
		s.cycles(20, 8, 10, 14, 18, 22, 26, 35)
		s.site("example.org/shop/session.Send", "/build/shop/session.go", 36, 20, 0)
		s.site("example.org/shop/hub.Publish", "/build/shop/hub.go", 34, 11, 0)
		for i := range 14 {
			at, part := 2*float64(i), float64(i)
			stand := SiteSnapshot{At: at, Cycle: uint32(i), Bytes: bytesOf(1.4 * part), Allocated: bytesOf(5 * part), Freed: bytesOf(3.6 * part)}
			if i%3 == 2 {
				stand.Bytes = stand.Bytes.Sub(bytesOf(fell))
			}
			s.Sites[0].Course = append(s.Sites[0].Course, stand)
			s.Sites[1].Course = append(s.Sites[1].Course, SiteSnapshot{At: at, Cycle: uint32(i), Bytes: bytesOf(0.8 * part), Allocated: bytesOf(0.8 * part)})
		}
		s.Sites[0].Cycle, s.Sites[0].Allocated, s.Sites[0].Freed, s.Sites[0].FreedOfHeld = 15, 74*mib, 54*mib, sample.Some(0.55)
		s.Sites[1].Cycle, s.Sites[1].FreedOfHeld = 15, sample.Some(0.0)
		r := rise{n: 7, from: 6, to: 28, first: 8 * float64(mib), last: 35 * float64(mib), grown: 27 * float64(mib)}
		if got := s.blamed(r, 28); got == nil || got.Line != want {
			t.Errorf("fell by %v MiB: %+v, want line %d", fell, got, want)
		}
	}
}

// A line that allocates for the first time when a rise is nearly over has not made it, however much that is: as what a program
// writes at its end.
func TestALineThatBeganAtTheEndDidNotMakeTheRise(t *testing.T) {
	s := newScene()
	s.cycles(20, 40, 43, 46, 49, 52, 55, 58)
	s.site("example.org/shop/labels.With", "/build/shop/labels/labels.go", 44, 10, 0)
	late := s.site("example.org/shop/report.Gather", "/build/shop/report/report.go", 35, 0, 0)
	late.Since, late.Allocated, late.Captured = 12*mib, 0, sample.Some(12*mib)
	for i := range 10 {
		at := 3 * float64(i)
		s.Sites[0].Course = append(s.Sites[0].Course, SiteSnapshot{At: at, Bytes: bytesOf(float64(i)), Allocated: bytesOf(float64(i)), Cycle: uint32(i)})
		s.Sites[1].Course = append(s.Sites[1].Course, SiteSnapshot{At: at, Cycle: uint32(i)})
	}
	r := rise{n: 7, from: 6, to: 30, first: 40 * float64(mib), last: 58 * float64(mib), grown: 18 * float64(mib)}
	if got := s.blamed(r, 30); got == nil || got.Line != 44 {
		t.Errorf("blamed: %+v", got)
	}
	s.Sites[1].Bytes, s.Sites[1].Since, s.Sites[1].Course[9].Allocated = 12*mib, 12*mib, 7*mib // half of it was there at the last look
	if got := s.blamed(r, 30); got == nil || got.Line != 44 {
		t.Errorf("blamed: %+v", got)
	}
	for i := range s.Sites[1].Course {
		s.Sites[1].Course[i].Allocated, s.Sites[1].Allocated, s.Sites[1].Bytes = mib, mib, mib // a little all along: then it may have
	}
	if got := s.blamed(r, 30); got == nil || got.Line != 35 {
		t.Errorf("blamed: %+v", got)
	}
}

// A program that worked at every look was loading, though the call it did that in is not known at the kill.
func TestAProgramThatWorksAtEveryLookWasCutShort(t *testing.T) {
	for unseen, want := range map[int]float64{0: 0, 1: 1} {
		s := newScene()
		s.heap(36, 36, 38)
		s.killed()
		s.ramp(2, 8, 14, 20, 26, 32)
		s.work(0.99, 0.02, 5)
		s.site("example.org/shop/rows.Load.func2", "/build/shop/rows/rows.go", 35, 35, 0)
		for i := range 6 {
			s.Sites[0].Course = append(s.Sites[0].Course, SiteSnapshot{At: 5 * float64(i), Bytes: bytesOf(5 * float64(i)), Unseen: unseen, Calls: []int{0},
				Goroutines: true})
		}
		if got := newCase(s.Evidence).flatOut(); got != want {
			t.Errorf("%d ran at each look: %v", unseen, got)
		}
	}
}

// Whether garbage or what was being loaded passed the limit first is not sure in the first seconds.
func TestGarbageOfTheFirstSecondsIsNotSurelyTheCause(t *testing.T) {
	for after, want := range map[float64]Confidence{1: Low, 20: Medium} {
		s := scenes["garbage over the limit"]()
		s.Moment.At = s.Start.Add(durationOf(after))
		s.End = s.Moment.At
		s.cycles(40, 60, 80, 100, 120, 140, 148)
		for i := range s.Events {
			if s.Events[i].Kind != sample.EventStart {
				s.Events[i].At = s.End
			}
		}
		if f := gcUnawareFound(newCase(s.Evidence), nil); f.Confidence != want {
			t.Errorf("after %v s: %s: %s", after, f.Confidence, f.Because)
		}
	}
}

// A goroutine whose stack grew to tens of MiB by calling itself is named, with that function; free heap is what its smaller stacks were.
func TestDeepRecursionIsNamed(t *testing.T) {
	frame := func(name string, line int) sample.Location {
		return sample.Location{Frames: []sample.Frame{{Func: "example.net/parse." + name, File: "parse.go", Line: line}}}
	}
	s := newScene()
	s.heap(40, 40, 42)
	s.p.Residency.GoStacks, s.p.Residency.GoIdle = 70*mib, 70*mib
	s.killed()
	s.cycles(10, 38, 39, 40, 40, 40, 40)
	var where []sample.Location
	for range 10 {
		where = append(where, frame("value", 30), frame("array", 34))
	}
	s.p.Goroutines = append(s.p.Goroutines, sample.GoroutineGroup{State: "running", Count: 1, StackBytes: 64 * mib, Stack: []uint64{1}, Where: where})
	a := explained(t, s)
	if a.Verdict.Class != Burst || a.Verdict.Culprit == nil || a.Verdict.Culprit.Function != "example.net/parse.value" ||
		!strings.Contains(a.Verdict.Sentence, "64.0 MiB") || !strings.Contains(a.Fixes[0].Text, "bound how deep") {
		t.Errorf("%s: %s", a.Verdict.Class, a.Verdict.Sentence)
	}
	if two := largestOf(sample.GoroutineGroup{Count: 2, StackBytes: 66 * mib}); two != 64*mib {
		t.Errorf("of two with 66 MiB the largest has %d MiB", two>>20)
	}
	if three := largestOf(sample.GoroutineGroup{Count: 3, StackBytes: 96 * mib}); three != 32*mib {
		t.Errorf("three with 32 MiB each may have %d MiB", three>>20)
	}
	s.p.Goroutines[len(s.p.Goroutines)-1].Count = 10000 // of 6.5 KiB each
	if a := explained(t, s); strings.Contains(a.Verdict.Sentence, "deep in calls") {
		t.Errorf("ten thousand small stacks: %s", a.Verdict.Sentence)
	}
}

// Growth of a line that the live heap, read exactly, does not show is that of its samples.
func TestGrowthOfALineThatTheLiveHeapDoesNotShowIsNone(t *testing.T) {
	k := &Case{}
	k.curve.points = []point{{at: 0, live: 30 * float64(mib)}, {at: 10, live: 30 * float64(mib)}, {at: 20, live: 30.1 * float64(mib)},
		{at: 28, live: 30.1 * float64(mib)}}
	if k.shows(rise{from: 5, to: 28, grown: 6 * float64(mib)}) {
		t.Error("6 MiB in a live heap that rose by 0.1")
	}
}

// Buffers that many calls reserve and hardly write are not charged, but the collector aims at twice what they take: the garbage
// below that goal is theirs. Under a limit that was not reached, a burst did no harm.
func TestWhatCallsReserveMakesTheGarbage(t *testing.T) {
	for calls, want := range map[int]Class{100: Burst, 1: GCUnaware} {
		s := newScene()
		s.heap(600, 600, 900)
		s.p.Residency.GoObjects = 240 * mib
		s.p.Go.HeapGoal = 1200 * mib
		s.killed()
		s.cycles(100, 400, 600)
		s.site("example.org/shop/api.(*uploads).stream", "/build/shop/api/upload.go", 71, 560, 0)
		s.inside("example.org/shop/api.(*uploads).stream", calls)
		c := newCase(s.Evidence)
		if got := c.reserves(); got != (want == Burst) {
			t.Errorf("%d calls: %v; of %s live %s have no page", calls, got, size(c.live.bytes), size(c.untouched()))
		}
	}
}

// A program of 8 MiB that rests after its start had "probably a leak": the watcher had not run for 3.7 of 4.8 s.
func TestAFewReadingsAroundAHoleAreNoLeakYet(t *testing.T) {
	for name, c := range map[string]struct {
		n       int
		took    float64
		pressed bool
		hole    float64 // seconds
		want    bool
	}{
		"a hole of most of it":         {4, 4.8, false, 3.7, true},
		"under a limit that was hit":   {4, 4.8, true, 3.7, false},
		"many readings beside it":      {40, 4.8, false, 3.7, false},
		"a suspended machine":          {4, 3600, false, 3500, false},
		"no hole":                      {4, 4.8, false, 0, false},
		"less than half of it":         {4, 12, false, 3.7, false},
		"a hole, but after the growth": {4, -1, false, 3.7, false},
	} {
		k := &Case{Evidence: &Evidence{}, pressed: c.pressed, rise: rise{n: c.n, from: 1, to: 1 + c.took}}
		if c.took < 0 {
			k.rise.to = 1.9
		}
		for i := range 20 {
			k.Ticks.At = append(k.Ticks.At, float64(i)/10)
		}
		for i := range 20 {
			k.Ticks.At = append(k.Ticks.At, 1.9+c.hole+float64(i+1)/10)
		}
		if got := k.hardlyWatched(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A live heap that is larger than the memory charged contradicts it, unless the answer says what was not written yet.
func TestALeakOfUnwrittenMemorySaysSo(t *testing.T) {
	for resident, want := range map[sample.Bytes]bool{180 * mib: true, 240 * mib: false} {
		s := leaking()
		s.p.Residency.GoObjects, s.p.Residency.Untouched = resident, 240*mib-resident
		s.charge()
		s.Events = s.Events[:1]
		a := answerOf(t, s)
		said := "Of this heap, 60.0 MiB was not written yet, so the kernel does not count it."
		if got := strings.Contains(a.Verdict.Sentence, said); got != want || a.Verdict.Class != Leak {
			t.Errorf("%s resident: %s, %s", size(resident), a.Verdict.Class, a.Verdict.Sentence)
		}
	}
}
