package trial

import (
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6 {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// The probabilities are sums over 2x2 tables, written out by hand: 4 in 4 against
// 0 in 4 is 2 of the 70 ways to lose 4 of 8, and the lady of Fisher's own example
// who names 3 of 4 cups has 34 of 70.
func TestFisherCountsTheTablesThatAreNoMoreLikely(t *testing.T) {
	near(t, "4/4, 0/4", Fisher(4, 4, 0, 4), 2.0/70)
	near(t, "0/4, 4/4", Fisher(0, 4, 4, 4), 2.0/70)
	near(t, "3/4, 1/4", Fisher(3, 4, 1, 4), 34.0/70)
	near(t, "6/6, 0/6", Fisher(6, 6, 0, 6), 2.0/924)
	near(t, "3/3, 0/3", Fisher(3, 3, 0, 3), 2.0/20)
	near(t, "unequal groups", Fisher(2, 2, 0, 3), 1.0/10)
	near(t, "nothing lost", Fisher(0, 5, 0, 5), 1)
	near(t, "all lost", Fisher(5, 5, 5, 5), 1)
}

// Of 0 in n the bound is 1 - 0.05^(1/n); of 1 in 10 it is 0.3942 in the tables of
// Clopper and Pearson's limits (one-sided 95 %).
func TestTheBoundOfALossIsExact(t *testing.T) {
	for _, n := range []int{1, 3, 10, 20, 300} {
		near(t, "none lost", ClopperPearson(0, n), 1-math.Pow(0.05, 1/float64(n)))
	}
	if got := ClopperPearson(1, 10); math.Abs(got-0.3942) > 5e-5 {
		t.Errorf("1 of 10: %v", got)
	}
	near(t, "all lost", ClopperPearson(4, 4), 1)
	near(t, "no run", ClopperPearson(0, 0), 1)
}

// The expected probabilities are sums of the published table of U for small
// samples (Mann and Whitney, Annals of Mathematical Statistics 18, 1947).
func TestSamplesAreToldApartByTheirRanks(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name string
		a, b []float64
		want float64
	}{
		{"all above", []float64{11, 12, 13, 14, 15}, []float64{1, 2, 3, 4, 5}, 2.0 / 252},
		{"one apart", []float64{11, 12, 13, 14, 3.5}, []float64{1, 2, 3, 4, 5}, 8.0 / 252},
		{"mixed", []float64{1, 4, 5, 8}, []float64{2, 3, 6, 7}, 1},
		{"too few to tell", []float64{1, 2}, []float64{3, 4}, 1.0 / 3},
		{"bounds stand above all", []float64{inf, inf, inf, inf}, []float64{1, 2, 3, 4}, 2.0 / 70},
		{"bounds tie", []float64{inf, inf}, []float64{inf, inf}, 1},
	} {
		before := append([]float64(nil), c.a...)
		near(t, c.name, MannWhitney(c.a, c.b), c.want)
		for i := range before {
			if before[i] != c.a[i] {
				t.Errorf("%s: the values were put in order: %v", c.name, c.a)
			}
		}
	}
}

func TestAnIntervalIsNotSaidOfTooFewValues(t *testing.T) {
	if i := interval([]float64{3, 1, 2}); i.Median != 2 || !math.IsInf(i.Low, -1) || !math.IsInf(i.High, 1) {
		t.Errorf("of three: %+v", i)
	}
	if i := interval([]float64{6, 1, 2, 3, 4, 5}); i.Median != 3.5 || i.Low != 1 || i.High != 6 {
		t.Errorf("of six: %+v", i)
	}
}
