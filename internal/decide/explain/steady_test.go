package explain

import (
	"math"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Near the limit samples are a hundred times as dense, and most of them have read
// the charge alone; time counts, not samples.
func TestTheFootprintIsOfTimeNotOfSamples(t *testing.T) {
	s := newScene()
	s.Ticks = Ticks{}
	add := func(at, v, cache float64) {
		s.Ticks.At, s.Ticks.Usage = append(s.Ticks.At, at), append(s.Ticks.Usage, v*float64(mib))
		s.Ticks.PageCache = append(s.Ticks.PageCache, cache*float64(mib))
	}
	for i := range 90 {
		add(float64(i), 20, 0)
	}
	for i := range 1000 {
		if i%100 == 0 {
			add(90+float64(i)/1000, 205, 5)
		} else {
			add(90+float64(i)/1000, 205, math.NaN())
		}
	}
	f := newCase(s.Evidence).run.Footprint
	if f == nil || f.P50 != 20*mib || f.P95 != 20*mib || f.P99 == nil || *f.P99 != 200*mib || f.P999 == nil || *f.P999 != 200*mib {
		t.Errorf("%+v", f)
	}
	s.Ticks = Ticks{}
	add(0, 20, 0)
	if f := newCase(s.Evidence).run.Footprint; f == nil || f.P50 != 20*mib || f.P99 != nil || f.P999 != nil {
		t.Errorf("one sample: %+v", f)
	}
	s.Ticks = Ticks{}
	if f := newCase(s.Evidence).run.Footprint; f != nil {
		t.Errorf("no sample: %+v", f)
	}
}

func TestTheTendencyOfARun(t *testing.T) {
	for name, want := range map[string]Tendency{
		"a service that ran for a night": Stable, "a service that was watched for too short a time": TooSoon, "a slow leak in a night": Growing,
		"a cache that was filling up": Growing, "leak": TooSoon, "a night in which the machine slept": Stable,
		"nothing could be read": TooSoon, "steady and small": TooSoon,
	} {
		if got := newCase(scenes[name]().Evidence).run.Tendency; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// The live heap of the night grows by 34 MiB in 8 h; with GOGC=100 the heap's peaks
// grow twice as fast.
func TestTheTimeUntilTheLimitHasAnInterval(t *testing.T) {
	g := newCase(scenes["a slow leak in a night"]().Evidence).run.Growth
	if g == nil || g.LimitFrom == nil || math.Abs(g.PerHour/float64(mib)-34.0/8) > 0.2 || g.Low > g.PerHour || g.High < g.PerHour {
		t.Fatalf("%+v", g)
	}
	if room := 256.0 - 117; math.Abs(*g.LimitFrom/3600-room/8.5) > 2 || math.Abs(*g.LimitTo/3600-room/4.25) > 2 {
		t.Errorf("%.1f to %.1f h, want about %.1f to %.1f", *g.LimitFrom/3600, *g.LimitTo/3600, room/8.5, room/4.25)
	}
	for _, name := range []string{"a service that ran for a night", "a cache that was filling up", "no limit at all"} {
		if g := newCase(scenes[name]().Evidence).run.Growth; g != nil && g.LimitFrom != nil {
			t.Errorf("%s: the limit is said to come in %.0f s", name, *g.LimitFrom)
		}
	}
}

func TestCountersAreComparedWithinTheirTime(t *testing.T) {
	nan := math.NaN()
	ticks := Ticks{At: []float64{0, 1, 2, 3, 4}}
	for _, c := range []struct {
		column   []float64
		from, to float64
		want     float64
	}{
		{[]float64{1, 2, 4, 8, 16}, 0, 4, 15},
		{[]float64{1, 2, 4, 8, 16}, 1, 3, 6},
		{[]float64{nan, 2, nan, 8, nan}, 0, 4, 6},
		{[]float64{nan, nan, 4, nan, nan}, 0, 4, nan},
		{[]float64{5, 4, 3, 2, 1}, 0, 4, 0}, // a counter that was set back says nothing
		{nil, 0, 4, nan},
	} {
		if got := ticks.grown(c.column, c.from, c.to); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%v from %v to %v: %v, want %v", c.column, c.from, c.to, got, c.want)
		}
	}
}

// The runtime stamps collections with the wall clock; somebody set it back by an
// hour, then forward by a day.
func TestCollectionsAreOrderedThoughTheClockWasSet(t *testing.T) {
	s := newScene()
	s.cycles(25, 10, 20, 30, 40, 50, 60, 70, 80)
	s.work(1, 0.1, 225.0/30)
	want := append([]sample.GCCycle{}, s.Cycles...)
	for i := range s.Cycles {
		switch {
		case i >= 6:
			s.Cycles[i].At = s.Cycles[i].At.Add(24 * time.Hour)
		case i >= 3:
			s.Cycles[i].At = s.Cycles[i].At.Add(-time.Hour)
		}
	}
	for i, g := range onOneClock(s.Evidence) {
		if off := g.At.Sub(want[i].At).Abs(); off > 3*time.Second || g.Marked != want[i].Marked {
			t.Errorf("collection %d is %s off", i+1, off)
		}
	}
	last := began
	for i, g := range onOneClock(&Evidence{Start: began, End: began.Add(30 * time.Second), Cycles: s.Cycles}) { // without samples
		if g.At.Before(last) || g.At.Sub(began) > time.Minute {
			t.Errorf("collection %d goes back in time, or far ahead", i+1)
		}
		last = g.At
	}
}

func TestHolesInTheRecordingAreSaid(t *testing.T) {
	s := newScene()
	s.over(100*time.Second, 1001)
	if holes := newCase(s.Evidence).holes(); len(holes) != 0 {
		t.Errorf("%+v", holes)
	}
	for _, from := range []int{100, 300, 500} {
		for i := from; i < len(s.Ticks.At); i++ {
			s.Ticks.At[i] += 60
		}
		want := 1
		if from == 300 {
			want = 2
		}
		if holes := newCase(s.Evidence).holes(); len(holes) != want {
			t.Errorf("from %d on: %+v", from, holes)
		}
	}
}

func TestWhoAskedALibraryIsAHint(t *testing.T) {
	c := newCase(scenes["connections that nobody asked for"]().Evidence)
	k, n := c.askers(c.Allocators[0].Stack)
	if k == nil || k.Line != 99 || n != 62 || !k.Hint {
		t.Errorf("%+v, %d", k, n)
	}
	if k, _ := c.askers([]sample.Frame{{Func: "database/sql.(*DB).conn"}}); k != nil {
		t.Errorf("%+v asked for what nobody stands in", k)
	}
	for name, want := range map[string]string{"net/http.(*Transport).dialConn": "net/http", "main.main": "main", "example.org/a/b.F": "example.org/a/b",
		"os.Open": "os", "example.org/a/b.G[example.org/c.T]": "example.org/a/b", "runtime.mallocgc": "runtime"} {
		if got := packageOf(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
