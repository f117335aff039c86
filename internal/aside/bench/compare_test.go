package main

import (
	"math"
	"testing"
)

// The expected probabilities are sums of the published table of U for small
// samples (Mann and Whitney, Annals of Mathematical Statistics 18, 1947).
func TestSamplesAreToldApartByTheirRanks(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []float64
		want float64
	}{
		{"all above", []float64{11, 12, 13, 14, 15}, []float64{1, 2, 3, 4, 5}, 2.0 / 252},
		{"all below", []float64{1, 2, 3, 4, 5}, []float64{11, 12, 13, 14, 15}, 2.0 / 252},
		{"one apart", []float64{11, 12, 13, 14, 3.5}, []float64{1, 2, 3, 4, 5}, 8.0 / 252},
		{"mixed", []float64{1, 4, 5, 8}, []float64{2, 3, 6, 7}, 1},
		{"too few to tell", []float64{1, 2}, []float64{3, 4}, 1.0 / 3},
	} {
		if got := sameP(c.a, c.b); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestEveryOrderIsCountedOnce(t *testing.T) {
	sum := 0.0
	for _, n := range uWays(7, 5) {
		sum += n
	}
	if sum != 792 { // 12 over 5
		t.Errorf("%v orders of 7 and 5", sum)
	}
}
