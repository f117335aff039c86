package explain

import (
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// shortKill is a program that was killed after so many milliseconds in its first rise, to 170 MiB; busy is the part of a
// processor that it used.
func shortKill(after float64, busy float64, unseen int) *scene {
	s := newScene()
	s.Moment.At = s.Start.Add(time.Duration(after * float64(time.Millisecond)))
	s.heap(170, 175, 180)
	s.killed()
	s.ramp(45, 90, 130)
	s.work(busy, 0.2, 200)
	s.site("example.org/shop/api.(*store).put", "/build/shop/api/store.go", 20, 160, 0)
	for i := range 6 {
		at := after / 6000 * float64(i)
		s.Sites[0].Course = append(s.Sites[0].Course, SiteSnapshot{At: at, Bytes: bytesOf(40 * float64(max(0, i-3))), Allocated: bytesOf(50 * float64(max(0, i-3))),
			Unseen: unseen, Calls: []int{0}, Goroutines: true})
	}
	return s
}

// A killed program has no more readings to give: where calls returned and left what they had allocated, that is a leak as
// far as anyone can tell, and the answer says how far that is.
func TestAProgramWhoseCallsLeaveMemoryAndIsKilledInItsFirstRiseProbablyLeaks(t *testing.T) {
	a := explained(t, shortKill(1200, 0.7, 0))
	if a.Verdict.Class != Leak || a.Verdict.Confidence != Low || a.Verdict.Culprit == nil || a.Verdict.Culprit.Line != 20 {
		t.Fatalf("%s, %s: %s", a.Verdict.Class, a.Verdict.Confidence, a.Verdict.Sentence)
	}
	if !strings.Contains(a.Verdict.Sure, doubtCutShort) || len(a.Verdict.Next) == 0 {
		t.Errorf("sure: %q, next: %q", a.Verdict.Sure, a.Verdict.Next)
	}
	for _, f := range a.Fixes {
		if f.State == "predicted" {
			t.Errorf("a fix is predicted from a rise that was cut short: %s", f.Text)
		}
	}
}

// One that worked all the time was loading, as far as anyone can tell; the same program that was not killed needs no such guess.
func TestAProgramThatWorksAndIsKilledInItsFirstRiseProbablyNeedsMore(t *testing.T) {
	a := explained(t, shortKill(1200, 0.95, 1))
	if a.Verdict.Class != Baseline || a.Verdict.Confidence != Low || !strings.Contains(a.Verdict.Sentence, "rose for the first time") {
		t.Errorf("%s, %s: %s", a.Verdict.Class, a.Verdict.Confidence, a.Verdict.Sentence)
	}
	for _, f := range a.Fixes {
		if f.State == "predicted" {
			t.Errorf("a fix is predicted from a rise that was cut short: %s", f.Text)
		}
	}
	half := shortKill(1200, 0.6, 0)
	for i := range half.Sites[0].Course {
		half.Sites[0].Course[i].Unseen = i % 2
	}
	if a := explained(t, half); a.Verdict.Class != Inconclusive && a.Verdict.Class != Leak {
		t.Errorf("one that worked half of the time: %s: %s", a.Verdict.Class, a.Verdict.Sentence)
	}
}

// A larger array that append or a bytes.Buffer is filling is in no variable yet. It takes the place of the smaller one, and
// is no memory of a call.
func TestAnArrayThatIsBeingFilledIsNoMemoryOfACall(t *testing.T) {
	c := &Case{Evidence: newScene().Evidence}
	for function, want := range map[string]tenure{" in bytes.growSlice": unknownTenure, " in runtime.growslice": unknownTenure, " in " + preempted: passing,
		" in main.main": lasts} {
		if got := c.tenureOfFrame(&sample.HeapRoot{Kind: sample.RootGoroutine, Func: "runtime.main", First: 1, Count: 1}, function); got != want {
			t.Errorf("%s: %v, want %v", function, got, want)
		}
	}
}

// A value that doubles its array makes uneven readings of the live heap; resident memory, read often, climbs step by step.
func TestAValueThatDoublesGrows(t *testing.T) {
	c := &Case{Evidence: newScene().Evidence, outcome: Outcome{Kernel: true, MomentElapsed: 8}}
	c.rise = rise{from: 2, to: 8, grown: 150 * float64(mib), fall: 0.2}
	memory := func(list ...float64) {
		c.Ticks = Ticks{}
		for i, v := range list {
			c.Ticks.At, c.Ticks.Usage = append(c.Ticks.At, float64(i)), append(c.Ticks.Usage, v*float64(mib))
			c.Ticks.PageCache = append(c.Ticks.PageCache, 0)
		}
	}
	memory(10, 20, 23, 27, 36, 53, 87, 154, 200)
	if !c.memoryRose() {
		t.Error("six steps up were no growth")
	}
	memory(10, 20, 23, 27, 80, 53, 87, 154, 200)
	if c.memoryRose() {
		t.Error("memory that was given back only grew")
	}
	memory(10, 20, 23, 23, 23, 23, 23, 154, 154)
	if c.memoryRose() {
		t.Error("one step is growth")
	}
}

// A call that had not returned after a second or so, in a program that waits for work, may have been giving its memory back.
func TestAnOpenCallOfAProgramKilledAtOnceIsProbablyABurst(t *testing.T) {
	for after, want := range map[float64]Class{1200: Burst, 8000: Inconclusive} {
		s := shortKill(after, 0.1, 0)
		s.Sites[0].Course = s.Sites[0].Course[:3]
		for i := range s.Sites[0].Course {
			s.Sites[0].Course[i].Calls[0] = i % 2
		}
		s.inside("example.org/shop/api.(*store).put", 1)
		s.p.Goroutines[len(s.p.Goroutines)-1].Where[1].Frames[0] = sample.Frame{Func: "example.org/shop/api.(*store).put", File: "/build/shop/api/store.go", Line: 20}
		if a := explained(t, s); a.Verdict.Class != want || a.Verdict.Confidence != Low {
			t.Errorf("after %v ms: %s, %s: %s", after, a.Verdict.Class, a.Verdict.Confidence, a.Verdict.Sentence)
		}
	}
}
