package trial

import (
	"math"
	"slices"
	"testing"
)

func TestACurveKeepsItsPeaksHoweverLongTheRun(t *testing.T) {
	const samples = 100_000
	at, usage, cache := make([]int64, samples), make([]float64, samples), make([]float64, samples)
	for i := range at {
		at[i], usage[i], cache[i] = int64(i)*1e8, 100, math.NaN()
	}
	cache[0], usage[77_777] = 40, 900
	c := curveOf(Run{Variant: "a"}, at, usage, cache)
	if n := len(c.Bytes); n > curvePoints+1 || n < curvePoints/2 {
		t.Errorf("%d points", n)
	}
	if most := slices.Max(c.Bytes); most != 860 {
		t.Errorf("the peak is %v, want 860: 900 without 40 of page cache", most)
	}
	if i := slices.Index(c.Bytes, 860); c.Seconds[i] != 7777.7 {
		t.Errorf("it is at %v s", c.Seconds[i])
	}
	if !slices.IsSorted(c.Seconds) {
		t.Error("time goes back")
	}
	if c := curveOf(Run{}, nil, nil, nil); len(c.Bytes) != 0 {
		t.Errorf("of nothing: %v", c)
	}
}
