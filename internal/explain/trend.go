package explain

import (
	"math"
	"sort"
)

// trend is a slope in bytes a second with its 95 % interval.
type trend struct {
	slope, low, high float64
	n                int
}

// rising: the whole interval is above zero.
func (t trend) rising() bool { return t.n >= 4 && t.low > 0 }

// trendOf is the Theil-Sen slope of y over x with the 95 % interval that
// Kendall's statistic gives it (Sen 1968): robust to a third of outliers.
func trendOf(x, y []float64) trend {
	var slopes []float64
	for i := range x {
		for j := i + 1; j < len(x); j++ {
			if x[j] > x[i] {
				slopes = append(slopes, (y[j]-y[i])/(x[j]-x[i]))
			}
		}
	}
	if len(slopes) == 0 {
		return trend{n: len(x)}
	}
	sort.Float64s(slopes)
	n := float64(len(x))
	half := 1.96 * math.Sqrt(n*(n-1)*(2*n+5)/18)
	low := int((float64(len(slopes)) - half) / 2)
	high := len(slopes) - 1 - low
	return trend{slope: slopes[len(slopes)/2], low: slopes[max(0, low)], high: slopes[min(len(slopes)-1, high)], n: len(x)}
}
