package explain

import (
	"math"
	"testing"
)

func curveOf(alloc float64, live ...float64) curve {
	s := newScene()
	s.cycles(alloc, live...)
	s.p.Live = nil
	return liveCurve(s.Evidence)
}

func TestTheCurveKnowsWhatItCameBackTo(t *testing.T) {
	for name, c := range map[string]struct {
		live    []float64
		returns []float64
		floor   float64
	}{
		"flat":                   {[]float64{10, 11, 10, 11}, nil, 10},
		"only up":                {[]float64{10, 50, 90, 120}, nil, 10},
		"two bursts and a third": {[]float64{9, 80, 10, 90, 9, 120}, []float64{10, 9}, 9},
		"down at the end":        {[]float64{9, 80, 10}, []float64{10}, 10},
		"small unrest on a rise": {[]float64{10, 50, 48, 90, 88, 120}, nil, 10},
		"down from the start":    {[]float64{80, 10, 11}, []float64{10}, 10},
	} {
		k := curveOf(50, c.live...)
		ok := len(k.returns) == len(c.returns) && k.floor == c.floor*float64(mib)
		for i := range k.returns {
			ok = ok && k.returns[i] == c.returns[i]*float64(mib)
		}
		if !ok {
			t.Errorf("%s: returns %v, floor %v, want %v and %v MiB", name, k.returns, k.floor, c.returns, c.floor)
		}
	}
}

func TestTheTailIsWhatTheLastThirdGained(t *testing.T) {
	if got := curveOf(10, 10, 20, 30, 40, 50, 60, 70).tail / float64(mib); math.Abs(got-20) > 0.1 {
		t.Errorf("an even rise of 60: tail %.1f, want 20", got)
	}
	if got := curveOf(10, 10, 40, 70, 70, 70, 70, 70).tail; got != 0 {
		t.Errorf("a rise that ended: tail %v, want 0", got)
	}
}

func TestATrendNeedsAnIntervalAboveZero(t *testing.T) {
	if k := curveOf(10, 10, 20, 30, 40, 50, 60); k.trend.Low <= 0 || k.trend.Slope <= 0 {
		t.Errorf("an even rise: %+v", k.trend)
	}
	if k := curveOf(10, 30, 10, 40, 12, 35, 20, 31, 15); k.trend.Low > 0 {
		t.Errorf("unrest: %+v", k.trend)
	}
	if k := curveOf(10, 10, 20, 30); k.trend.Low > 0 {
		t.Errorf("three points: %+v", k.trend)
	}
}

func TestTheShareThatStaysIsOfTheLastCollections(t *testing.T) {
	s := newScene()
	s.cycles(100, 10, 10, 11, 10, 10, 11, 10, 10)
	if share, ok := grownShare(s.Cycles); !ok || share > 0.02 {
		t.Errorf("a flat heap: %v, %v", share, ok)
	}
	s.cycles(20, 10, 30, 50, 70)
	if share, ok := grownShare(s.Cycles); !ok || math.Abs(share-1) > 0.01 {
		t.Errorf("all stays: %v, %v", share, ok)
	}
	if _, ok := grownShare(s.Cycles[:2]); ok {
		t.Error("two collections are too few")
	}
}

// GC runs when much is allocated: readings that each fell into such a burst say nothing of the time between, those of a program that allocates
// evenly do.
func TestReadingsInBurstsSayNothingOfTheTimeBetween(t *testing.T) {
	for name, c := range map[string]struct {
		burst float64 // MiB allocated in the second before a reading
		want  bool
	}{"in bursts": {200, true}, "evenly": {2, false}} {
		k := &Case{Evidence: &Evidence{}}
		sum := 0.0
		for i := range 71 {
			at := float64(i)
			if sum += float64(mib); i%20 == 19 {
				sum += c.burst * float64(mib)
			}
			k.Ticks.At, k.Ticks.Alloc = append(k.Ticks.At, at), append(k.Ticks.Alloc, sum)
		}
		for _, at := range []float64{19.5, 39.5, 59.5} {
			k.curve.points = append(k.curve.points, point{at: at, live: 200 * float64(mib)})
		}
		k.rise = rise{reached: 19.5}
		if got := k.readInBursts(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
