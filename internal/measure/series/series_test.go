package series

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var nan = math.NaN()

func TestIndicesPassOverWhatWasNotSeen(t *testing.T) {
	for _, c := range []struct {
		v                     []float64
		max, min, first, last int
	}{
		{nil, None, None, None, None},
		{[]float64{nan, nan}, None, None, None, None},
		{[]float64{nan, 3, 1, nan, 3, 1, nan}, 1, 2, 1, 5},
		{[]float64{math.Inf(1), -2}, 0, 1, 0, 1},
	} {
		got := []int{Max(c.v), Min(c.v), First(c.v), Last(c.v)}
		if want := []int{c.max, c.min, c.first, c.last}; !slices.Equal(got, want) {
			t.Errorf("%v: max, min, first, last %v, want %v", c.v, got, want)
		}
	}
}

func TestResamplingKeepsEveryPeak(t *testing.T) {
	at := []float64{0, 1, 2, 3, 4, 5, 6, 7, 8}
	v := []float64{5, 9, 1, nan, nan, nan, 2, 3, 7}
	b := Resample(at, v, 3)
	for name, c := range map[string]struct{ got, want []float64 }{
		"at": {b.At, []float64{0, 8.0 / 3, 16.0 / 3}}, "min": {b.Min, []float64{1, nan, 2}},
		"max": {b.Max, []float64{9, nan, 7}}, "last": {b.Last, []float64{1, nan, 7}},
	} {
		if !slices.EqualFunc(c.got, c.want, func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	if one := Resample([]float64{4}, []float64{6}, 2); one.Max[1] != 6 {
		t.Errorf("one instant: %+v", one)
	}
	if none := Resample(nil, nil, 5); none.At != nil {
		t.Errorf("no instants: %+v", none)
	}
}

func line(n int, f func(i float64) float64) (at, v []float64) {
	for i := range n {
		at, v = append(at, float64(i)/10), append(v, f(float64(i)/10))
	}
	return at, v
}

func TestALineHasTheSlopeOfWhatGrows(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		name  string
		n     int
		f     func(x float64) float64
		slope float64
	}{
		{"straight", 50, func(x float64) float64 { return 7 + 3*x }, 3},
		{"long", 5000, func(x float64) float64 { return -2 * x }, -2},
		{"noisy", 300, func(x float64) float64 { return 2*x + rng.NormFloat64() }, 2},
		{"with wild values", 100, func(x float64) float64 {
			if math.Mod(x, 1) < 0.15 {
				return 1e6
			}
			return x
		}, 1},
		{"with holes", 100, func(x float64) float64 {
			if math.Mod(x, 1) < 0.5 {
				return nan
			}
			return 4 * x
		}, 4},
	} {
		at, v := line(c.n, c.f)
		l := Line(at, v)
		if math.Abs(l.Slope-c.slope) > 0.2 || l.Low > c.slope+1e-9 || l.High < c.slope-1e-9 {
			t.Errorf("%s: %+v, want slope %v", c.name, l, c.slope)
		}
	}
}

// The interval holds the true slope of 0 in about 95 of 100 columns of noise.
func TestTheIntervalHoldsAsOftenAsItSays(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const trials = 1000
	hit := 0
	for range trials {
		at, v := line(40, func(float64) float64 { return rng.NormFloat64() })
		if l := Line(at, v); l.Low <= 0 && 0 <= l.High {
			hit++
		}
	}
	if share := float64(hit) / trials; share < 0.93 || share > 0.98 {
		t.Errorf("%v of the intervals hold", share)
	}
}

// Of five values that only rise Kendall's test says so (p = 2/120), of four not.
func TestFiveRisingValuesAreATrend(t *testing.T) {
	at, v := []float64{0, 1, 2, 3, 4}, []float64{1, 5, 6, 9, 30}
	if l := Line(at, v); l.Low != 1 || l.High != 21 {
		t.Errorf("five values: %+v, want 1 to 21", l)
	}
	if l := Line(at[:4], v[:4]); !math.IsInf(l.Low, -1) {
		t.Errorf("four values: %+v", l)
	}
}

func TestTooFewValuesGiveNoInterval(t *testing.T) {
	if l := Line([]float64{1}, []float64{2}); !math.IsNaN(l.Slope) || l.N != 1 {
		t.Errorf("one value: %+v", l)
	}
	if l := Line([]float64{1, 3}, []float64{2, 6}); l.Slope != 2 || l.Intercept != 0 || !math.IsInf(l.Low, -1) || !math.IsInf(l.High, 1) {
		t.Errorf("two values: %+v", l)
	}
	if l := Line([]float64{1, 1}, []float64{2, 6}); !math.IsNaN(l.Slope) {
		t.Errorf("one instant twice: %+v", l)
	}
}

func TestWavesAreRisesAndFalls(t *testing.T) {
	for _, c := range []struct {
		name string
		v    []float64
		want []Wave
	}{
		{"nothing", nil, nil},
		{"flat with noise", []float64{5, 6, 5, 7, 5}, nil},
		{"one burst", []float64{10, nan, 100, 50, 8, 9}, []Wave{{0, 2, 4}}},
		{"ends high", []float64{10, 12, 100, 99}, []Wave{{0, 2, None}}},
		{"two, the first falls short", []float64{0, 100, 40, 30, 35, 120, 0}, []Wave{{0, 1, 3}, {3, 5, 6}}},
		{"starts by falling", []float64{80, 10, 90, 20}, []Wave{{1, 2, 3}}},
	} {
		if got := Waves(c.v, 20); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func BenchmarkLineOfAnHour(b *testing.B) {
	at, v := line(36000, func(x float64) float64 { return x + math.Sin(x) })
	b.ReportAllocs()
	for b.Loop() {
		Line(at, v)
	}
}

func TestTimesThatDoNotAscendAreTakenToTheNearestStep(t *testing.T) {
	b := Resample([]float64{10, -1e300, 1e300, 20}, []float64{1, 2, 3, 4}, 2)
	if b.Min[0] != 1 || b.Max[0] != 2 || b.Max[1] != 4 || b.Min[1] != 3 {
		t.Errorf("%+v", b)
	}
}

func TestQuantilesAreInterpolated(t *testing.T) {
	v := []float64{1, 2, 4}
	for share, want := range map[float64]float64{0: 1, 0.25: 1.5, 0.5: 2, 0.75: 3, 1: 4, 2: 4} {
		if got := quantile(v, share); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v of %v is %v, want %v", share, v, got, want)
		}
	}
	if got := quantile(nil, 0.5); !math.IsNaN(got) {
		t.Errorf("of nothing: %v", got)
	}
}
