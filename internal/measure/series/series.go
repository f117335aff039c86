// Package series is arithmetic on columns over time: slices of equal length, an
// element an instant, NaN where nothing was seen. Every function passes over NaN,
// leaves its arguments as they are, and knows nothing of what the figures mean.
package series

import (
	"math"
	"slices"
)

// None is the index where there is no element.
const None = -1

// Max is the index of the greatest value, the first of equal ones; None if no
// value was seen.
func Max(v []float64) int { return best(v, func(a, b float64) bool { return a > b }) }

// Min is the index of the smallest value, the first of equal ones; None if no
// value was seen.
func Min(v []float64) int { return best(v, func(a, b float64) bool { return a < b }) }

func best(v []float64, better func(a, b float64) bool) int {
	at := None
	for i, x := range v {
		if !math.IsNaN(x) && (at == None || better(x, v[at])) {
			at = i
		}
	}
	return at
}

// Last is the index of the last value that was seen; None if there is none.
func Last(v []float64) int {
	for i := len(v) - 1; i >= 0; i-- {
		if !math.IsNaN(v[i]) {
			return i
		}
	}
	return None
}

// First is the index of the first value that was seen; None if there is none.
func First(v []float64) int {
	return slices.IndexFunc(v, func(x float64) bool { return !math.IsNaN(x) })
}

// quantile of sorted values is interpolated between neighbours (type 7 of Hyndman and Fan,
// 1996); NaN of none.
func quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := min(max(p, 0), 1) * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

// Buckets are a column in equal steps of time. A step in which nothing was seen
// is NaN in all of them.
type Buckets struct {
	At             []float64 // the beginning of each step
	Min, Max, Last []float64
}

// Resample divides the time from the first to the last instant into n steps and
// keeps of each the smallest, the greatest and the last value: no peak is lost.
// The times ascend; one that does not is taken to the nearest step. n of less than 1,
// or no instants, give no steps.
func Resample(at, v []float64, n int) Buckets {
	if n < 1 || len(at) == 0 {
		return Buckets{}
	}
	b := Buckets{At: make([]float64, n), Min: allNaN(n), Max: allNaN(n), Last: allNaN(n)}
	start := at[0]
	width := (at[len(at)-1] - start) / float64(n)
	for i := range b.At {
		b.At[i] = start + float64(i)*width
	}
	for i, x := range v {
		if math.IsNaN(x) {
			continue
		}
		k := n - 1 // the last instant belongs to the last step
		if width > 0 {
			k = int(min(max((at[i]-start)/width, 0), float64(n-1)))
		}
		if math.IsNaN(b.Last[k]) {
			b.Min[k], b.Max[k] = x, x
		}
		b.Min[k], b.Max[k], b.Last[k] = min(b.Min[k], x), max(b.Max[k], x), x
	}
	return b
}

func allNaN(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = math.NaN()
	}
	return v
}
