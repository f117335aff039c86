package explain

import (
	"testing"
)

// evenly is a live heap that rises from reading to reading until a time, and rests from then to the end.
func evenly(until, end float64) *Case {
	c := &Case{Evidence: newScene().Evidence, outcome: Outcome{Elapsed: end, MomentElapsed: end}}
	for at := 0.5; at <= end; at += 0.5 {
		c.curve.points = append(c.curve.points, point{at: at, live: float64(mib) * (1 + min(at, until))})
	}
	c.rise = riseOf(c.curve.points, c.warmUntil(), end, 0)
	return c
}

// A profile that samples may miss what a line allocated last. That is no sign that the live heap, which was read exactly
// and rose to the end, stopped growing.
func TestALiveHeapThatRisesToTheEndIsNotFlatForALineOfFewSamples(t *testing.T) {
	for _, k := range []struct {
		name  string
		until float64
		error float64 // of the line's bytes, in MiB
		want  TrendState
	}{
		{"few samples", 20, 3, TrendGrowing},
		{"many samples, and the line rests", 20, 0.1, NotEnoughData},
		{"the live heap rests, too", 12, 0.1, TrendFlat},
	} {
		c := evenly(k.until, 20)
		c.site = &Site{Bytes: bytesOf(16), Error: bytesOf(k.error), Allocated: bytesOf(16)}
		c.Sites = []Site{*c.site}
		for at := 1.0; at <= 15; at++ {
			c.site.Course = append(c.site.Course, SiteSnapshot{At: at, Bytes: bytesOf(min(16, at*1.1)), Allocated: bytesOf(min(16, at*1.1)), Goroutines: true})
		}
		if got := c.heapState(); got != k.want {
			t.Errorf("%s: %s, want %s (late %.2f, line %.2f)", k.name, got, k.want, c.rise.late, c.lineLate())
		}
	}
}

// Little growth in half a second is much growth in a minute: a run that ends then does not tell that nothing grows.
func TestAFewReadingsWithinASecondAreNoRest(t *testing.T) {
	for pace, want := range map[float64]TrendState{0.02: TrendFlat, 1: NotEnoughData} {
		c := &Case{Evidence: newScene().Evidence, outcome: Outcome{Elapsed: 2, MomentElapsed: 2}}
		for i := range 4 {
			c.curve.points = append(c.curve.points, point{at: 1.4 + float64(i)/5, live: float64(mib) * (50 + pace*float64(i)/2)})
		}
		c.rise = riseOf(c.curve.points, 0.4, 2, 0)
		if got := c.heapState(); got != want {
			t.Errorf("%v MiB: %s, want %s (%+v)", pace, got, want, c.rise)
		}
	}
}

// Calls that only began in the seconds before a kill may end, and may never: a burst is not sure then.
func TestABurstOfCallsThatNeverEndedIsNotSure(t *testing.T) {
	c := newCase(scenes["burst in the first rise"]().Evidence)
	before := judgeBurst(c)
	c.inFlight.gather = 1.1
	if f := judgeBurst(c); before.Confidence == Low || f.Confidence != Low || f.Because[0] != doubtNoneEnded {
		t.Errorf("%s, then %s: %q", before.Confidence, f.Confidence, f.Because)
	}
}

// Killed within a second, a program whose goroutines only became more and retain its memory has probably a pile of them,
// and no leak of what they hold.
func TestGoroutinesThatHoldAllOfAProgramKilledAtOnceProbablyPileUp(t *testing.T) {
	for frames, want := range map[float64]Class{1: Goroutines, 0: Leak} {
		s := shortKill(1200, 0.2, 0)
		s.goroutines(10, 400, 800, 1200, 1700)
		s.p.Go.Goroutines = 1700
		s.waiting("example.org/shop/api.(*store).lock", "/build/shop/api/store.go", 31, 1690, "sync.Mutex.Lock", 1)
		c := newCase(s.Evidence)
		c.kept = keepers{lasting: 1 - frames, frames: frames, of: bytesOf(160)}
		f := c.lean([]Finding{{Class: Goroutines, Stance: Open}, {Class: Leak, Stance: Open}})
		if f == nil || f.Class != want || f.Confidence != Low {
			t.Errorf("frames %v: %+v", frames, f)
		}
	}
}

// Many readings that rise and fall by half of what they differ show no growth, though the last is above the first.
func TestALiveHeapThatSwingsDoesNotGrow(t *testing.T) {
	for swing, want := range map[float64]TrendState{12: ComesAndGoes, 0.5: TrendGrowing} {
		c := &Case{Evidence: newScene().Evidence, outcome: Outcome{Elapsed: 40, MomentElapsed: 40}}
		for i := range 20 {
			c.curve.points = append(c.curve.points, point{at: 2 * float64(i+1), live: float64(mib) * (40 + 0.6*float64(i) + swing*float64(i*7%5)/2)})
		}
		c.rise = riseOf(c.curve.points, 8, 40, 0)
		if got := c.heapState(); got != want {
			t.Errorf("swing %v: %s, want %s (%+v)", swing, got, want, c.rise)
		}
	}
}

// What a program loads at its start is no growth: after it an even rise does not slow down.
func TestWhatIsLoadedAtTheStartIsNoGrowthThatSlowsDown(t *testing.T) {
	for loaded, slows := range map[bool]bool{true: false, false: true} {
		c := &Case{Evidence: newScene().Evidence, outcome: Outcome{Elapsed: 30, MomentElapsed: 30}}
		for i := range 16 {
			at := 2 * float64(i)
			live := 60 + at/2
			if !loaded {
				live = 60 + 15*(1-1/(1+at/2)) // a cache that comes to its bound
			} else if at < 2 {
				live = 30
			}
			c.curve.points = append(c.curve.points, point{at: at, live: float64(mib) * live, alloc: float64(mib) * (40 + 3*at)})
		}
		c.rise = riseOf(c.curve.points, 6, 30, 0)
		if got := c.slowsDown(); got != slows {
			early, late, _ := c.halves()
			t.Errorf("loaded %v: %v (%.3f, then %.3f)", loaded, got, early, late)
		}
	}
}

// A rise in leaps within a second has no interval of its pace; where nothing fell, it rose.
func TestAnUnevenRiseThatGaveNothingBackIsOne(t *testing.T) {
	for fall, want := range map[float64]bool{0.02: true, 0.3: false} {
		r := rise{n: 11, grown: 490 * float64(mib), last: 501 * float64(mib), low: -1e6, fall: fall}
		if got := r.onlyRose(); got != want {
			t.Errorf("fall %v: %v", fall, got)
		}
	}
	if few := (rise{n: 4, grown: 490, last: 501}); few.onlyRose() {
		t.Error("four readings are too few")
	}
}

// Memory that grew by a few MiB in two seconds is not said to rest, where nothing else was read.
func TestMemoryThatGrewForTwoSecondsIsNotFlat(t *testing.T) {
	for pace, want := range map[float64]TrendState{0: TrendFlat, 2: NotEnoughData} {
		c := &Case{Evidence: newScene().Evidence, outcome: Outcome{Elapsed: 2, MomentElapsed: 2}}
		c.Ticks = Ticks{}
		for at := 0.0; at <= 2; at += 0.1 {
			c.Ticks.At, c.Ticks.Usage = append(c.Ticks.At, at), append(c.Ticks.Usage, float64(mib)*(60+pace*at))
			c.Ticks.PageCache = append(c.Ticks.PageCache, 0)
		}
		if got := c.memoryOnly(); got.State != want {
			t.Errorf("%v MiB a second: %s (%+v)", pace, got.State, got)
		}
	}
}
