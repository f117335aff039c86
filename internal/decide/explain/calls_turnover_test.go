package explain

import (
	"math"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Where far more of a line was freed than it ever held, its calls ended between the looks, though each look saw at least one.
func TestCallsWhoseMemoryWasFreedDidEnd(t *testing.T) {
	for name, k := range map[string]struct {
		freed sample.Bytes
		want  float64
	}{
		"kept":                                {0, 30},
		"grew into larger slices":             {20 * mib, 30}, // append frees four times what is left
		"came and went":                       {40 * mib, 0},
		"one sample, and nothing is held yet": {512 << 10, 30},
	} {
		site := &Site{}
		for i, n := range []int{1, 1, 2, 3, 5, 7} {
			s := SiteSnapshot{At: 5 * float64(i), Calls: []int{n}, Goroutines: true, Freed: k.freed, Bytes: 4 * mib}
			if k.freed < mib {
				s.Bytes = 0
			}
			site.Course = append(site.Course, s)
		}
		if got := gatherOf(site, 0, 8, 0, 30); got != k.want {
			t.Errorf("%s: %v s, want %v", name, got, k.want)
		}
	}
}

// A call whose goroutine ran at a look stands all the same.
func TestCallsStandWhileOneOfThemRuns(t *testing.T) {
	for name, k := range map[string]struct {
		looks [][2]int
		want  bool
	}{
		"one runs now and then": {[][2]int{{24, 0}, {24, 0}, {24, 0}, {24, 0}, {24, 0}, {24, 0}, {24, 0}, {23, 1}, {24, 0}, {24, 0}, {24, 0}}, true},
		"several ran":           {[][2]int{{8, 0}, {6, 2}, {8, 0}, {7, 1}, {6, 2}, {8, 0}}, false},
		"none was seen":         {[][2]int{{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}}, false},
		"some had not begun":    {[][2]int{{9, 0}, {24, 0}, {24, 0}, {24, 0}, {24, 0}, {24, 0}, {24, 0}, {24, 0}, {24, 0}, {24, 0}, {24, 0}}, true},
		"some began later":      {[][2]int{{24, 0}, {24, 0}, {9, 0}, {24, 0}, {24, 0}, {24, 0}, {24, 0}, {24, 0}, {24, 0}, {24, 0}, {24, 0}}, false},
		"one ended":             {[][2]int{{24, 0}, {24, 0}, {23, 0}, {24, 0}, {23, 1}, {24, 0}}, false},
	} {
		site := &Site{Bytes: sample.Bytes(len(k.looks)) * mib}
		for i, l := range k.looks {
			site.Course = append(site.Course, SiteSnapshot{At: float64(i), Calls: []int{l[0]}, Unseen: l[1], Goroutines: true, Bytes: sample.Bytes(i) * mib})
		}
		if got := standing(site, 0, 24, 0); got != k.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Of connections of which half wait for a request, the program's own handler has the name and the number.
func TestCallsThatHoldTheMemoryAreTheProgramsOwn(t *testing.T) {
	callers := []Caller{
		{"example.org/a/render.Open", true, 50 * mib}, {"example.org/a/server.(*Server).Handle", true, 90 * mib},
		{"github.com/valyala/fasthttp.(*Server).serveConn", false, 91 * mib},
	}
	for name, k := range map[string]struct {
		calls []int
		want  int
	}{
		"half of them wait":     {[]int{3, 17, 35}, 1},
		"nearly all are inside": {[]int{3, 34, 35}, 1},
		"one is inside":         {[]int{1, 1, 35}, 2},
	} {
		if got := nameOf(callers, k.calls); got != k.want {
			t.Errorf("%s: %s", name, callers[got].Function)
		}
	}
	callers[1].Under = 20 * mib
	if got := nameOf(callers, []int{3, 17, 35}); got != 2 {
		t.Errorf("most of the memory is others': %s", callers[got].Function)
	}
}

// Samples that add up to more than there is are of memory that went back, and not of a program that was taken on late.
func TestMemoryThatWentBackIsWhyPageFaultsAddUpToMore(t *testing.T) {
	for seen, want := range map[sample.Bytes]string{100 * mib: "", 150 * mib: doubtReturned, 60 * mib: doubtPartFaults, 220 * mib: doubtTurnsOver} {
		c := newCase(residentScenes["cgo leak by line"]().Evidence)
		f := Finding{Confidence: High}
		line := ResidentLine{Place: sample.Place{Function: "example.org/a.open", File: "/a/a.go", Line: 3}, Bytes: 60 * mib, Samples: 1000, Mapped: true}
		r := &Resident{Lines: []ResidentLine{line}, SeenBytes: seen, TotalBytes: seen, RowBytes: 100 * mib}
		if !c.blameResident(&f, r) {
			t.Fatal("the line is not blamed")
		}
		if want != "" && (len(f.Because) == 0 || f.Because[0] != want) {
			t.Errorf("%v seen: %v, want %q", seen, f.Because, want)
		}
	}
}

// Where GOGC lets garbage grow far over what is live, that is said of memory of which it is not known whether it lives.
func TestAHighGOGCIsSaidWhereTheLiveHeapIsNotKnown(t *testing.T) {
	c := newCase(gcScenes["garbage over the limit"]().Evidence)
	c.ledger.Rows = []sample.LedgerRow{{Name: sample.RowNew, Bytes: 200 * mib}}
	c.g.GOGC, c.g.HeapGoal = 100, 260*mib
	if c.collectsSeldom() {
		t.Error("GOGC=100 is Go's own")
	}
	if c.g.GOGC = 800; !c.collectsSeldom() {
		t.Error("GOGC=800 is not told")
	}
}

// A peak of which nothing came, and that no call was seen to retain, leaves nothing open: the answer is what the rest of it says.
func TestAPeakWithoutCallsOfWhichNothingCameIsNoDoubt(t *testing.T) {
	for _, killed := range []bool{true, false} {
		c := newCase(workScenes["burst of uploads"]().Evidence)
		c.pressed, c.outcome.Kernel = killed, killed
		c.inFlight = callCorrelation{name: c.inFlight.name, read: true}
		c.site.Course, c.curve.points, c.kept = nil, nil, keepers{}
		f, not := c.noBurst(weighed{score: 4.5}, 0, nil)
		if want := map[bool]Stance{true: Open, false: Silent}[killed]; !not || f.Stance != want {
			t.Errorf("killed %v: %v, %+v", killed, not, f)
		}
	}
}

// Garbage over the limit within a second of the start is hardly sure where GOGC is Go's own, as any first rise has as much.
func TestGarbageOfAFirstRiseIsHardlySure(t *testing.T) {
	for gogc, want := range map[int32]Confidence{100: Low, 400: Medium} {
		c := newCase(gcScenes["garbage over the limit"]().Evidence)
		c.live.exact, c.outcome.Elapsed, c.outcome.MomentElapsed, c.outcome.Kernel = true, 0.5, 0.5, true
		c.curve.returns, c.rise, c.Watched = nil, rise{}, false
		c.g.GOGC = gogc
		if f := gcUnawareFound(c, nil); f.Confidence != want {
			t.Errorf("GOGC=%d: %s, want %s: %v", gogc, f.Confidence, want, f.Because)
		}
	}
}

// Of calls that were seen at one look alone any memory is in proportion to them.
func TestCallsThatWereSeenOnceCorrelateWithNothing(t *testing.T) {
	for seen, known := range map[int]bool{0: false, 4: true} {
		site := &Site{Bytes: 60 * mib}
		for i := range 6 {
			s := SiteSnapshot{At: float64(i), Calls: []int{0}, Goroutines: true}
			if i == 5 {
				s.Calls, s.Bytes = []int{seen}, sample.Bytes(seen)*2*mib
			}
			site.Course = append(site.Course, s)
		}
		if got := followsOf(site, 0, 22); math.IsNaN(got) == known {
			t.Errorf("%d calls at a look before: %v", seen, got)
		}
	}
}

// What comes and goes all the time while the same calls stand has the usual size of the program; one peak is far above it.
func TestWhatComesAndGoesAllTheTimeIsNoSpike(t *testing.T) {
	for returns, want := range map[int]bool{1: true, 6: false} {
		c := newCase(workScenes["burst of uploads"]().Evidence)
		c.pressed, c.limit, c.At = false, 0, "peak"
		c.inFlight.standing, c.inFlight.calls, c.rise.returns = true, 24, returns
		c.Ticks = Ticks{}
		if got := c.spiked(); got != want {
			t.Errorf("%d returns: %v (%.1f times what stays)", returns, got, c.liveSpike())
		}
	}
}
