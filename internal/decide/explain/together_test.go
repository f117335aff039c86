package explain

import (
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// A rise that many lines of a library make together is theirs, and not that of what the program loaded before.
func TestManyLinesOfAPackageMakeARiseTogether(t *testing.T) {
	s := newScene()
	s.heap(130, 130, 140)
	s.charge()
	s.cycles(28, 30, 50, 70, 90, 110, 130)
	const lib = "example.net/metrics.new"
	s.site("main.load", "/build/shop/main.go", 33, 30, 0)
	for i, name := range []string{"Bucket", "Counter", "Label", "Value", "Name", "Sum", "Key", "Entry", "List", "Set", "Map", "Ring", "Slot"} {
		s.site(lib+name, "/mod/metrics/new.go", 100+i, 8+0.01*float64(i), 0)
	}
	for i := range s.Sites {
		site := &s.Sites[i]
		site.Cycle = 9
		for n := range 7 {
			now := float64(site.Bytes) * float64(n+1) / 7
			if site.Function == "main.load" {
				now = float64(site.Bytes)
			}
			site.Course = append(site.Course, SiteSnapshot{At: 4 * float64(n), Cycle: uint32(n + 2), Bytes: sample.Bytes(now), Allocated: sample.Bytes(now),
				Goroutines: true})
		}
	}
	c := newCase(s.Evidence)
	if c.site == nil || c.site.Function == "main.load" || !c.explains() {
		t.Errorf("blamed is %+v, which explains the rise: %v", c.site, c.explains())
	}
}

// What is loaded once does not come and go: the line whose memory does is to blame for a peak that was gone soon.
func TestAPeakThatIsGoneBelongsToTheLineThatCameAndWent(t *testing.T) {
	s := newScene()
	s.site("main.newStore", "/build/shop/main.go", 35, 30.8, 0)
	s.site("main.parse", "/build/shop/main.go", 54, 1, 0)
	store, split := &s.Sites[0], &s.Sites[1]
	for i, held := range []float64{21, 30.8, 30.8, 30.8} {
		store.Course = append(store.Course, SiteSnapshot{At: float64(i), Cycle: uint32(i + 2), Bytes: bytesOf(held)})
		split.Course = append(split.Course, SiteSnapshot{At: float64(i), Cycle: uint32(i + 2), Bytes: bytesOf([]float64{1, 61, 15, 1}[i])})
	}
	if got := s.blamed(rise{n: 9, fall: 0.9, returns: 4, grown: 0}, 30); got == nil || got.Function != "main.parse" {
		t.Errorf("blamed is %+v", got)
	}
	if store.swing() != 0 || split.swing() != float64(60*mib) {
		t.Errorf("swings of %v and %v bytes", store.swing(), split.swing())
	}
}

// One value that was read once is gone where a later collection found next to nothing live in the whole heap, though
// no look at its line came after: it is the line of the peak.
func TestWhatIsCertainlyGoneLaterCameAndWent(t *testing.T) {
	s := newScene()
	s.site("main.readAll", "/build/shop/main.go", 55, 104, 0)
	s.site("main.split", "/build/shop/main.go", 56, 16, 0)
	whole, split := &s.Sites[0], &s.Sites[1]
	for i := range 3 {
		whole.Course = append(whole.Course, SiteSnapshot{At: float64(i), Cycle: uint32(i + 2), Bytes: bytesOf(104)})
		split.Course = append(split.Course, SiteSnapshot{At: float64(i), Cycle: uint32(i + 2), Bytes: bytesOf([]float64{0, 7, 16}[i])})
	}
	for at, live := range map[float64]float64{10: 110, 20: 120, 35: 1, 38: 80} {
		s.Cycles = append(s.Cycles, sample.GCCycle{At: began.Add(time.Duration(at * float64(time.Second))), Marked: bytesOf(live), Alloc: bytesOf(20 * at)})
	}
	c := newCase(s.Evidence)
	if got := c.blamed(rise{n: 9, fall: 0.9, returns: 4}, 30); got == nil || got.Function != "main.readAll" || whole.Gone != bytesOf(103) {
		t.Errorf("blamed is %+v; %v is gone", got, whole.Gone)
	}
}

// Whether goroutines pile up or what they hold does is one growth seen twice: that one of the two is not sure
// does not take the other back.
func TestTwoFormsOfOneGrowthDoNotContradict(t *testing.T) {
	list := []Finding{{Class: Goroutines, Stance: Open, Bytes: 112 * mib, Reason: "whether they finish"},
		{Class: Leak, Stance: Speaks, Bytes: 87 * mib, Score: 7, Confidence: High}}
	if got := decide(list, 0); got == nil || got.Class != Leak || got.Confidence != Low {
		t.Errorf("%+v", got)
	}
	list[1].Confidence = Low // as of a rise of less than three seconds
	if got := decide(list, 0); got != nil {
		t.Errorf("neither is sure, and yet: %+v", got)
	}
	list[0].Class = GCUnaware
	list[1] = Finding{Class: Burst, Stance: Speaks, Bytes: 87 * mib, Score: 3, Confidence: Low}
	if got := decide(list, 0); got != nil {
		t.Errorf("garbage that would explain more stays open, and yet: %+v", got)
	}
}

// Calls that begin one after the other and do not end gather; calls that came at once, or of which one ended, do not.
func TestCallsOfWhichNoneEndsGather(t *testing.T) {
	for _, c := range []struct {
		calls []int
		want  float64
	}{
		{[]int{1, 1, 2, 3, 5, 7}, 30},
		{[]int{0, 0, 0, 8, 8, 8}, 0},
		{[]int{1, 1, 3, 2, 3, 3}, 0},
		{[]int{9, 4, 1, 2, 3, 5}, 0}, // one ended while it ran
	} {
		site := &Site{}
		for i, n := range c.calls {
			site.Course = append(site.Course, SiteSnapshot{At: 5 * float64(i), Calls: []int{n}, Goroutines: true})
		}
		if got := gatherOf(site, 0, 8, 0, 30); got != c.want {
			t.Errorf("%v: %v s, want %v", c.calls, got, c.want)
		}
	}
}

// What several goroutines keep, or one that was stopped while it ran, is kept by no variable that lasts.
func TestRootsThatNobodyKnowsLastNoLongerThanCalls(t *testing.T) {
	for _, c := range []struct {
		root  sample.HeapRoot
		label string
		want  tenure
	}{
		{sample.HeapRoot{Kind: sample.RootGoroutine}, ": [9]attribute", unknownTenure},
		{sample.HeapRoot{Kind: sample.RootGoroutine, Func: "net/http.(*Server).Serve.gowrap3", First: 20, Last: 40, Count: 10}, " in " + preempted, passing},
		{sample.HeapRoot{Kind: sample.RootGoroutine, Func: "net/http.(*Server).Serve.gowrap3", First: 20, Last: 40, Count: 10}, " and others: []string",
			unknownTenure},
		{sample.HeapRoot{Kind: sample.RootGoroutine, Func: "runtime.main", First: 1, Last: 1, Count: 1}, ": []offer", lasts},
	} {
		s := newScene()
		site := s.site("main.read", "/build/shop/read.go", 9, 100, 0)
		for i := range 6 {
			site.Course = append(site.Course, SiteSnapshot{At: 5 * float64(i), Goroutines: true, Begun: map[string]int{begunBy + "net/http.(*Server).Serve": 10}})
		}
		s.captured(100, sample.HeapPath{Parent: -1, Label: "goroutine " + c.root.Func, Root: &c.root},
			sample.HeapPath{Parent: 0, Label: c.label, Retained: 100 * mib})
		k := &Case{Evidence: s.Evidence, site: site, outcome: Outcome{MomentElapsed: 30}}
		if got := k.tenureOf(1); got != c.want {
			t.Errorf("%q%s: %d, want %d", c.root.Func, c.label, got, c.want)
		}
	}
}

// A capture right after a collection counts less, since what died while that marked is not in it: the greater of
// both is the reading, as that of the others is.
func TestReadingsOfOneInstantAreOfOneKind(t *testing.T) {
	at := func(s, live float64) point { return point{at: s, live: live * float64(mib)} }
	got := apart([]point{at(7.35, 76), at(12.42, 124), at(18.19, 180), at(18.23, 129)})
	if len(got) != 3 || got[2].live != 180*float64(mib) {
		t.Errorf("%+v", got)
	}
}

// What frames of calls hold at a kill is work in flight, also where the live heap had not come back to a floor before.
func TestWhatFramesHoldIsAboveAnyFloor(t *testing.T) {
	s := newScene()
	s.Moment.Kind = sample.MomentDeath
	s.heap(80, 80, 90)
	s.charge()
	s.cycles(28, 17, 112, 52, 80, 80, 80)
	s.captured(80, sample.HeapPath{Parent: -1, Label: "goroutine main.serve",
		Root: &sample.HeapRoot{Kind: sample.RootGoroutine, Func: "main.serve", First: 7, Last: 30, Count: 20}, Retained: 62 * mib},
		sample.HeapPath{Parent: 0, Label: " in main.decode", Retained: 62 * mib})
	s.Heap.At = s.Moment.At
	c := newCase(s.Evidence)
	c.pressed, c.site = true, nil
	if c.kept.frames < 0.9 || c.aboveFloor() < 60*float64(mib) {
		t.Errorf("frames hold %v of %v, %v MiB above the floor", c.kept.frames, c.kept.of, c.aboveFloor()/float64(mib))
	}
}

// Free heap is what a burst leaves behind: it does not hide it.
func TestFreeHeapComesAfterWhatLeftItBehind(t *testing.T) {
	list := []Finding{{Class: IdleHeap, Stance: Speaks, Bytes: 123 * mib, Confidence: High},
		{Class: Burst, Stance: Speaks, Bytes: 80 * mib, Score: 13, Confidence: High}}
	if got := decide(list, 0); got == nil || got.Class != Burst {
		t.Errorf("%+v", got)
	}
	if got := decide(list[:1], 0); got == nil || got.Class != IdleHeap {
		t.Errorf("alone: %+v", got)
	}
	list[1] = Finding{Class: Leak, Stance: Speaks, Bytes: 20 * mib, Score: 6}
	if got := decide(list, 0); got == nil || got.Class != IdleHeap {
		t.Errorf("beside growth of a sixth: %+v", got)
	}
}
