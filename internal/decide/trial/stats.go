package trial

import (
	"math"

	"golang.org/x/perf/benchmath"
)

const (
	// alpha is the chance of a difference that is none, from which on it is said to be
	// noise; confidence is that of an interval.
	alpha      = 0.05
	confidence = 0.95
)

// Fisher is the probability that two groups of which the same share is lost differ
// in what was lost as much as these or more: Fisher's exact test, two-sided (the
// sum of the probabilities of all tables that are no more likely than this one).
func Fisher(lost1, n1, lost2, n2 int) float64 {
	lost, n := lost1+lost2, n1+n2
	chance := func(k int) float64 { // that k of the first group are among the lost
		return math.Exp(logChoose(n1, k) + logChoose(n2, lost-k) - logChoose(n, lost))
	}
	// Two tables of the same probability differ by rounding.
	seen, sum := chance(lost1)*(1+1e-9), 0.0
	for k := max(0, lost-n2); k <= min(n1, lost); k++ {
		if p := chance(k); p <= seen {
			sum += p
		}
	}
	return min(1, sum)
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// ClopperPearson is the greatest chance of a loss in one run that still makes lost
// of n or fewer as likely as 5 %: the exact one-sided upper bound of 95 %
// (Clopper and Pearson, Biometrika 26, 1934). Of 0 in n it is 1 - 0.05^(1/n).
func ClopperPearson(lost, n int) float64 {
	if n <= 0 || lost >= n {
		return 1
	}
	low, high := 0.0, 1.0
	for range 60 {
		middle := (low + high) / 2
		if atMost(lost, n, middle) > 1-confidence {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// atMost is the probability of k or fewer losses in n runs.
func atMost(k, n int, p float64) float64 {
	sum := 0.0
	for i := 0; i <= k; i++ {
		sum += math.Exp(logChoose(n, i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return min(1, sum)
}

// Interval is a median and the interval of 95 % around it. What cannot be said of so
// few values, or lies among bounds, is infinite.
type Interval struct{ Median, Low, High float64 }

func interval(values []float64) Interval {
	s := benchmath.AssumeNothing.Summary(sampleOf(values), confidence)
	return Interval{s.Center, s.Lo, s.Hi}
}

// MannWhitney is the probability that two samples of one distribution differ in rank
// as much as these or more. Infinite values are bounds: they tie with one another.
func MannWhitney(a, b []float64) float64 {
	return benchmath.AssumeNothing.Compare(sampleOf(a), sampleOf(b)).P
}

func sampleOf(values []float64) *benchmath.Sample {
	return benchmath.NewSample(append([]float64(nil), values...), &benchmath.DefaultThresholds)
}
