package series

import (
	"math"
	"slices"
)

// Trend is a straight line through a column.
type Trend struct {
	// Slope is the growth in units of the column per unit of time; it lies between
	// Low and High with 95 % confidence. Low and High are infinite where there are
	// too few values to say.
	Slope, Low, High float64
	// Intercept is the line's value at time 0.
	Intercept float64
	// N is the number of values behind it.
	N int
}

// maxTrend bounds the pairs that Line looks at: a longer column is thinned evenly.
const maxTrend = 400

// Line is the robust line of Theil and Sen: the median of the slopes between all
// pairs of instants, which up to 29 % wild values do not move, so that a saw-tooth
// or a single burst does not pass for growth. The interval is Sen's (1968), by the
// spread of Kendall's rank correlation; it takes the values for independent, so
// that a column sampled much faster than it moves gets one that is too narrow.
// Columns longer than 400 values are thinned to 400. Fewer than two instants give
// a slope of NaN.
func Line(at, v []float64) Trend {
	x, y := thin(at, v)
	t := Trend{Slope: math.NaN(), Intercept: math.NaN(), Low: math.Inf(-1), High: math.Inf(1), N: len(x)}
	slopes := pairSlopes(x, y)
	if len(slopes) == 0 {
		return t
	}
	t.Slope = quantile(slopes, 0.5)
	t.Intercept = intercept(x, y, t.Slope)
	if len(x) < 4 {
		return t
	}
	t.Low, t.High = interval(slopes, len(x))
	return t
}

// thin returns the values that were seen, evenly at most maxTrend of them.
func thin(at, v []float64) (x, y []float64) {
	for i := range v {
		if !math.IsNaN(v[i]) {
			x, y = append(x, at[i]), append(y, v[i])
		}
	}
	if len(x) <= maxTrend {
		return x, y
	}
	for i := range maxTrend {
		k := i * (len(x) - 1) / (maxTrend - 1)
		x[i], y[i] = x[k], y[k] // k >= i: not overwritten yet
	}
	return x[:maxTrend], y[:maxTrend]
}

// pairSlopes are the slopes between all pairs of different times, sorted.
func pairSlopes(x, y []float64) []float64 {
	slopes := make([]float64, 0, len(x)*max(len(x)-1, 0)/2)
	for i := range x {
		for j := range i {
			if x[i] != x[j] {
				slopes = append(slopes, (y[i]-y[j])/(x[i]-x[j]))
			}
		}
	}
	slices.Sort(slopes)
	return slopes
}

func intercept(x, y []float64, slope float64) float64 {
	rest := make([]float64, len(x))
	for i := range x {
		rest[i] = y[i] - slope*x[i]
	}
	slices.Sort(rest)
	return quantile(rest, 0.5)
}

// interval takes as many slopes from the middle as the standard deviation of
// Kendall's S, n(n-1)(2n+5)/18, allows for 95 %. Rounded to the nearest rank it is
// the exact one for 5 to 10 values (Hollander and Wolfe, table A.30).
func interval(sorted []float64, n int) (low, high float64) {
	const z = 1.959964
	spread := z * math.Sqrt(float64(n)*float64(n-1)*float64(2*n+5)/18)
	i := int(math.Round((float64(len(sorted)) - spread) / 2))
	if i < 1 {
		return math.Inf(-1), math.Inf(1)
	}
	return sorted[i-1], sorted[len(sorted)-i]
}

// Wave is one rise of a column and the fall after it, as indices.
type Wave struct {
	// Before is the trough it rose from, Peak the top, After the lowest point
	// before the next wave, or of what follows; None where nothing follows.
	Before, Peak, After int
}

// Waves divides a column into rises of at least rise, each followed by a fall of
// at least rise or by the end.
func Waves(v []float64, rise float64) []Wave {
	t := tide{v: v, least: rise, low: None, high: None}
	for i, x := range v {
		if !math.IsNaN(x) {
			t.see(i, x)
		}
	}
	if t.rising {
		t.waves = append(t.waves, Wave{t.low, t.high, None})
	}
	return t.waves
}

// tide is where a column stands between two turns.
type tide struct {
	v         []float64
	least     float64 // that a rise or a fall has
	waves     []Wave
	low, high int  // since the last turn
	rising    bool // from low to high; else it falls, or nothing rose yet
}

func (t *tide) see(i int, x float64) {
	if t.rising {
		t.up(i, x)
	} else {
		t.down(i, x)
	}
}

func (t *tide) up(i int, x float64) {
	switch {
	case x > t.v[t.high]:
		t.high = i
	case t.v[t.high]-x >= t.least:
		t.waves = append(t.waves, Wave{t.low, t.high, i})
		t.rising, t.low = false, i
	}
}

func (t *tide) down(i int, x float64) {
	switch {
	case t.low == None || x < t.v[t.low]:
		t.low = i
	case x-t.v[t.low] >= t.least:
		t.rising, t.high = true, i
		return
	}
	if n := len(t.waves); n > 0 && t.v[t.low] < t.v[t.waves[n-1].After] {
		t.waves[n-1].After = t.low
	}
}
