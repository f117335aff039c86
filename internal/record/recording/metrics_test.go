package recording

import (
	"database/sql/driver"
	"errors"
	"math"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestMetricsThatAreNoneAreRefused(t *testing.T) {
	known := []metric{{name: "/a:bytes"}, {"/b:seconds", []float64{0, 1, 2}}}
	for _, c := range []struct {
		name, text string
		want       error
	}{
		{"none", `[]`, nil},
		{"one of each kind", `[[1,2.5],[2,[1,7]]]`, nil},
		{"a bucket behind the last", `[[2,[9,7]]]`, nil},
		{"an unknown name", `[[3,1]]`, ErrMissing},
		{"row 0", `[[0,1]]`, ErrMissing},
		{"a bucket without a count", `[[2,[1]]]`, errMetrics},
		{"a number for a histogram", `[[2,1]]`, errMetrics},
		{"a histogram for a number", `[[1,[1,2]]]`, errMetrics},
		{"no number", `[["1",2]]`, errMetrics},
		{"no list", `{}`, errMetrics},
	} {
		if err := parseMetrics(new(sample.RuntimeMetrics), c.text, known); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestInfiniteBoundsAreReadBack(t *testing.T) {
	want := []float64{math.Inf(-1), 0, 1e-9, 140737.488355328, math.Inf(1)}
	equal(t, "bounds", boundsOf(boundList(want).(string)), want)
}

func FuzzMetrics(f *testing.F) {
	f.Add(`[[1,2.5],[2,[1,7]]]`, `[null,0,0.25,null]`)
	f.Fuzz(func(t *testing.T, text, bounds string) {
		m := new(sample.RuntimeMetrics)
		_ = parseMetrics(m, text, []metric{{name: "/a:bytes"}, {"/b:seconds", boundsOf(bounds)}})
		for _, h := range m.Histograms {
			if len(h.Counts) >= maxMetrics {
				t.Errorf("%d counts", len(h.Counts))
			}
		}
	})
}

// BenchmarkMetricsOfAMoment writes what Go 1.26 has: some 60 figures and 8
// histograms of 163 bounds, a tenth of whose buckets are in use.
func BenchmarkMetricsOfAMoment(b *testing.B) {
	w, _ := create(b, meta)
	m := makeMetrics(0)
	m.Histograms = nil
	for i := range 60 {
		m.Values = append(m.Values, sample.Metric{Name: string(rune('a'+i)) + "/bytes", Value: float64(i * 1234567)})
	}
	bounds := make([]float64, 163)
	counts := make([]uint64, 162)
	for i := range 16 {
		counts[40+i] = uint64(i * 100)
	}
	for i := range 8 {
		m.Histograms = append(m.Histograms, sample.Histogram{Name: string(rune('a' + i)), Bounds: bounds, Counts: counts})
	}
	must(b, w.begin())
	var row []driver.Value
	for b.Loop() {
		var err error
		row, err = w.putMetrics(row[:0], m)
		must(b, err)
	}
	b.ReportMetric(float64(len(row[1].(string))), "bytes/moment")
}
