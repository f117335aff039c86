package top

import (
	"math"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

const mib = float64(sample.MiB)

// seen is a figure as it is sampled, ten times a second.
func seen(seconds float64, of func(s float64) float64) *history {
	h, start := &history{}, time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)
	for i := range int(seconds * 10) {
		s := float64(i) / 10
		h.add(start.Add(time.Duration(s*1e9)), of(s))
	}
	return h
}

func TestGrowthIsToldOnceItIsCertain(t *testing.T) {
	for name, c := range map[string]struct {
		seconds float64
		of      func(s float64) float64
		want    float64 // bytes a second; NaN: not known
	}{
		"nothing seen":                     {0, nil, math.NaN()},
		"two seconds of a climb":           {2, func(s float64) float64 { return 50 * mib * s }, math.NaN()},
		"a climb":                          {8, func(s float64) float64 { return 50 * mib * s }, 50 * mib},
		"a climb after rest":               {200, func(s float64) float64 { return 100*mib + 2*mib*max(0, s-180) }, 2 * mib},
		"a climb that has ended":           {300, func(s float64) float64 { return 100*mib + 2*mib*min(20, s) }, 0},
		"a slow leak":                      {300, func(s float64) float64 { return 100*mib + 36*mib/3600*s }, 36 * mib / 3600},
		"rest":                             {60, func(float64) float64 { return 100 * mib }, 0},
		"rest, seen for five seconds":      {5, func(float64) float64 { return 100 * mib }, math.NaN()},
		"up and down":                      {120, func(s float64) float64 { return 100*mib + 30*mib*math.Sin(2*math.Pi*s/2.5) }, 0},
		"a fall":                           {20, func(s float64) float64 { return 500*mib - 10*mib*s }, -10 * mib},
		"noise below a hundredth":          {60, func(s float64) float64 { return 1000*mib + math.Mod(s*7919, 5)*mib }, 0},
		"a trickle that comes to one page": {60, func(s float64) float64 { return 100*mib + 68*s }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := seen(c.seconds, c.of).growth()
			if math.IsNaN(c.want) != !got.OK {
				t.Fatalf("growth %v, want %v", got, c.want)
			}
			if got.OK && math.Abs(got.V-c.want) > 0.02*math.Abs(c.want) {
				t.Errorf("growth %v a second, want %v", got.V, c.want)
			}
		})
	}
}

func TestAHistoryKeepsTheLastValueOfEachOfItsSeconds(t *testing.T) {
	h := seen(400, func(s float64) float64 { return s })
	if len(h.v) != remembered || len(h.at) != remembered {
		t.Fatalf("%d values at %d times, want %d", len(h.v), len(h.at), remembered)
	}
	if h.v[0] != 100.9 || h.v[remembered-1] != 399.9 {
		t.Errorf("from %v to %v, want from 100.9 to 399.9", h.v[0], h.v[remembered-1])
	}
	if _, last := h.since(10 * time.Second); len(last) != 11 {
		t.Errorf("ten seconds are %d values, want 11", len(last))
	}
}

func TestAShareIsOfTheLastMinute(t *testing.T) {
	c := &counters{part: *seen(200, func(s float64) float64 { return 0.25 * max(0, s-120) }), whole: *seen(200, func(s float64) float64 { return s })}
	if got := c.share(); !got.OK || math.Abs(got.V-0.25) > 1e-9 {
		t.Errorf("share %v, want 0.25", got)
	}
	idle := &counters{part: *seen(20, func(float64) float64 { return 3 }), whole: *seen(20, func(float64) float64 { return 9 })}
	if got := idle.share(); !got.OK || got.V != 0 {
		t.Errorf("a program that does nothing: %v, want 0", got)
	}
	if got := (&counters{}).share(); got.OK {
		t.Errorf("share %v of nothing seen", got)
	}
	// The runtime books wall time of its processors: more than the kernel's CPU time.
	booked := &counters{part: *seen(20, func(s float64) float64 { return 2 * s }), whole: *seen(20, func(s float64) float64 { return s })}
	if got := booked.share(); got.V != 1 {
		t.Errorf("share %v, want 1 at most", got)
	}
}

func BenchmarkGrowthOfFiveMinutes(b *testing.B) {
	h := seen(300, func(s float64) float64 { return 100*mib + s*1000 + math.Mod(s*7919, 5)*mib })
	for b.Loop() {
		h.growth()
	}
}
