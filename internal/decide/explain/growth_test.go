package explain

import (
	"math"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// pointsOf are points of seconds and MiB.
func pointsOf(pairs ...float64) (list []point) {
	for i := 0; i+1 < len(pairs); i += 2 {
		list = append(list, point{at: pairs[i], live: pairs[i+1] * float64(mib)})
	}
	return list
}

func TestTwoReadingsOfOneInstantAreOne(t *testing.T) {
	if r := riseOf(pointsOf(0, 10, 5, 50, 10, 90, 10.1, 90.1), 0, 10.1, 0); r.n != 3 || !(r.low > 0) {
		t.Errorf("%d readings, at least %.0f a second", r.n, r.low)
	}
}

func TestOneStepIsNotASteadyRise(t *testing.T) {
	for name, c := range map[string]struct {
		points []point
		rises  bool
	}{
		"even":          {pointsOf(0, 10, 3, 40, 6, 70, 9, 100), true},
		"one step":      {pointsOf(0, 10, 3, 10, 6, 10, 9, 100), false},
		"two readings":  {pointsOf(0, 10, 9, 100), false},
		"up and down":   {pointsOf(0, 10, 3, 60, 6, 20, 9, 100), false},
		"a slow second": {pointsOf(0, 10, 1, 20, 9, 100), true},
	} {
		if r := riseOf(c.points, 0, 9, 0); (r.low > 0) != c.rises {
			t.Errorf("%s: at least %.0f a second", name, r.low)
		}
	}
}

// What is loaded at the start is left out, and what was live when that was done counts.
func TestTheWarmUpEndsWhereItsNeighboursTell(t *testing.T) {
	r := riseOf(pointsOf(0, 0, 1, 100, 9, 180, 10, 190), 2, 10, 0)
	if want := 110 * float64(mib); r.from != 2 || math.Abs(r.first-want) > 1 || r.n != 3 || r.all != 4 {
		t.Errorf("from %.1f s on, %.0f of %.0f, %d of %d readings", r.from, r.first, want, r.n, r.all)
	}
}

// main has returned when a program's heap is captured at its exit: at least so much was live.
func TestACaptureAtTheExitTellsOfGrowthAndNotOfRest(t *testing.T) {
	at := func(live float64) rise {
		points := pointsOf(0, 10, 4, 50, 8, 90, 9, 91, 10, live)
		points[len(points)-1].least = true
		return riseOf(withoutLower(points), 0, 10, 0)
	}
	if r := at(92); r.late < lateGrowth.v() {
		t.Errorf("a rest of %.2f", r.late)
	}
	if r := at(20); r.last != 91*float64(mib) {
		t.Errorf("it ends at %.0f", r.last)
	}
	if r := at(110); r.last != 110*float64(mib) {
		t.Errorf("it ends at %.0f", r.last)
	}
}

// A collection publishes the profile of the one before it: a cache that was filled then is not said
// to have been filled since.
func TestAProfileTellsOfTheCollectionBeforeItsOwn(t *testing.T) {
	s := newScene()
	s.cycles(40, 10, 20, 30, 40)
	for i := range s.Cycles {
		s.Cycles[i].N = uint32(i + 1)
	}
	if got, want := s.asOf(&SiteSnapshot{At: 39, Cycle: 3}), s.seconds(s.Cycles[1].At); got != want {
		t.Errorf("it tells of %.1f s, want %.1f s", got, want)
	}
	if got := s.asOf(&SiteSnapshot{At: 39, Cycle: 9}); got != 39 {
		t.Errorf("a collection that nobody saw is of %.1f s", got)
	}
}

// A published profile is one or two collections old: of a leak that began after them it knows nothing.
func TestACaptureNamesTheLineThatTheProfileDoesNotShowYet(t *testing.T) {
	s := newScene()
	s.noMark()
	s.stopped()
	s.heap(30, 60, 62)
	s.p.Live = nil
	s.charge()
	s.cycles(40, 23, 37, 49)
	s.site("example.org/shop/cache.Load", "/build/shop/cache/load.go", 12, 20, 0)
	s.stand(5, 20, 0, 0)
	s.site("example.org/shop/cart.Add", "/build/shop/cart/add.go", 30, 0, 0)
	s.Sites[1].Since, s.Sites[1].Course = 40*mib, []SiteSnapshot{{At: 5}}
	lines := func(cart float64) []sample.HeapSite {
		return []sample.HeapSite{{At: sample.Frame{Func: "example.org/shop/cache.Load", Line: 12}, Bytes: 20 * mib},
			{At: sample.Frame{Func: "example.org/shop/cart.Add", Line: 30}, Bytes: bytesOf(cart)}}
	}
	s.Captures = []Captured{{At: 8, InUse: 24 * mib, Lines: lines(4)}, {At: 18, InUse: 42 * mib, Lines: lines(22)}, {At: 30, InUse: 60 * mib, Lines: lines(40)}}
	c := newCase(s.Evidence)
	if k := c.site; k == nil || k.Line != 30 || k.Bytes != 40*mib || !c.explains() || c.SiteView != "captured" {
		t.Errorf("%+v by a view %q", k, c.SiteView)
	}
	if trend := c.trend(); trend.State != TrendGrowing {
		t.Errorf("%+v", trend)
	}
}

// A program that fills its limit before it is read for the first time was the end of its explanation.
func TestWithoutAReadingNothingIsLate(t *testing.T) {
	if late := lateOf(nil, 1<<20, 2); !math.IsNaN(late) {
		t.Errorf("late %v, want NaN", late)
	}
}
