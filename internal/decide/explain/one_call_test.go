package explain

import (
	"slices"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// looksOf are looks of a second each at a line with two callers: how many calls of each were seen, and how many goroutines ran.
func looksOf(list ...[3]int) (course []SiteSnapshot) {
	for i, l := range list {
		held := sample.Bytes(0)
		if i > 5 {
			held = sample.Bytes(i-5) * 10 * mib
		}
		course = append(course, SiteSnapshot{At: float64(i), Goroutines: true, Calls: []int{l[0], l[1]}, Unseen: l[2], Bytes: held})
	}
	return course
}

// A call that began in the middle of the run and in which all of the memory came is found, whatever calls it makes itself; one that
// began with the run is the run, and what two calls allocated came in neither.
func TestTheOneCallInWhichTheMemoryCameIsFound(t *testing.T) {
	rest, out, in, ran := [3]int{}, [3]int{0, 1, 0}, [3]int{1, 1, 0}, [3]int{0, 0, 1}
	for name, k := range map[string]struct {
		course []SiteSnapshot
		now    []int
		want   bool
		ended  float64
	}{
		"returned":                     {looksOf(rest, rest, rest, rest, rest, out, in, out, ran, in, out), []int{0, 0}, true, 11},
		"goes on":                      {looksOf(rest, rest, rest, rest, rest, out, in, out, ran, in, out), []int{0, 1}, true, 0},
		"began with the run":           {looksOf(out, in, out, in, out, out, in, out, ran, in, out), []int{0, 0}, false, 0},
		"began again":                  {looksOf(rest, rest, rest, rest, rest, out, in, rest, out, in, out, out), []int{0, 0}, false, 0},
		"again, of which little stays": {looksOf(rest, out, in, rest, rest, out, in, out, ran, in, out), []int{0, 0}, true, 11},
		"two at the same time":         {looksOf(rest, rest, rest, rest, rest, out, in, [3]int{1, 2, 0}, out, in, out), []int{0, 0}, false, 0},
		"seen too seldom":              {looksOf(rest, rest, rest, rest, rest, ran, ran, ran, ran, ran, out), []int{0, 0}, false, 0},
	} {
		site := &Site{Bytes: 60 * mib, Course: k.course,
			Callers: []Caller{{"example.org/a.writeRow", true, 60 * mib}, {"example.org/a.MonthEnd", true, 64 * mib}}}
		got := oneCallOf(site, k.now, 0, 11)
		if (got != nil) != k.want || got != nil && (got.caller != 1 || got.began != 5 || got.ended != k.ended || got.held != 64*mib) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// What one call allocated counts as that call's until a GC has looked after it returned.
func TestWhatOneCallAllocatedIsNoLeakBeforeAGCSawItLater(t *testing.T) {
	s := leakScenes["slow leak, still running"]()
	before, err := Explain(s.Evidence, nil)
	if err != nil || before.Verdict.Class != Leak {
		t.Fatalf("%v: %s", err, before.Verdict.Class)
	}
	site := &s.Sites[0]
	end := s.Moment.At.Sub(s.Start).Seconds()
	site.Callers = []Caller{{site.Function, true, site.Bytes}, {"example.org/a.MonthEnd", true, site.Bytes}}
	site.Course = nil
	for i := range 20 {
		inside := 0
		if i >= 5 && i < 18 {
			inside = 1
		}
		site.Course = append(site.Course, SiteSnapshot{At: end * float64(i) / 20, Goroutines: true, Calls: []int{inside * (i % 2), inside},
			Bytes: site.Bytes * sample.Bytes(max(0, i-5)) / 15})
	}
	c := newCase(s.Evidence)
	if one := c.inFlight.one; one == nil || one.caller != 1 || one.ended == 0 {
		t.Fatalf("%+v", one)
	}
	if c.oneCallEnded() {
		t.Error("a GC after the call has returned shows what it left, and yet it counts as one call's")
	}
	was := weigh(c.measureAll(), leakEvidence).score
	cycles := c.Cycles
	if c.Cycles = nil; c.oneCallEnded() {
		t.Error("without collections that were read, none is known not to have run")
	}
	if c.Cycles = cycles[:1]; !c.oneCallEnded() {
		t.Fatal("no GC after the call")
	}
	leak, burst := weigh(c.measureAll(), leakEvidence), weigh(c.measureAll(), burstEvidence)
	if leak.score > was-highMargin.v() || !slices.Contains(burst.because(), doubtOneCall) {
		t.Errorf("a leak by %.1f, and by %.1f before; a burst by %.1f: %v", leak.score, was, burst.score, burst.because())
	}
	said := c.oneCallWords()
	for _, want := range []string{"One call of a.MonthEnd", ", all of that at ", "after start. No GC has run since then."} {
		if !strings.Contains(said, want) {
			t.Error(said)
		}
	}
}
