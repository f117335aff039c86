package gostats

import (
	"cmp"
	"math"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// histograms copies the counts out.
func (m *metricReader) histograms(dst []sample.Histogram) []sample.Histogram {
	for i := range m.times {
		h := &m.times[i]
		counts := make([]uint64, 0, len(m.timeBounds))
		counts = append(counts, uint64(m.of(h.underflow)))
		for k := range h.counts.n {
			counts = append(counts, uint64(m.of(h.counts.item(k))))
		}
		counts = append(counts, uint64(m.of(h.overflow)))
		dst = append(dst, sample.Histogram{Name: h.name, Bounds: m.timeBounds, Counts: counts})
	}
	for i := range m.sizes {
		h := &m.sizes[i]
		counts := make([]uint64, 0, len(m.sizeBounds))
		for k := uint64(1); k < h.small.n; k++ { // class 0 is that of large objects, which are counted apart
			counts = append(counts, uint64(m.of(h.small.item(k))))
		}
		counts = append(counts, uint64(m.of(h.large)))
		dst = append(dst, sample.Histogram{Name: h.name, Bounds: m.sizeBounds, Counts: counts})
	}
	slices.SortFunc(dst, func(a, b sample.Histogram) int { return cmp.Compare(a.Name, b.Name) })
	return dst
}

// item is the k-th number alone.
func (t term) item(k uint64) term {
	t.addr, t.n = t.addr+k*t.size, 1
	return t
}

// timeBounds are the runtime's bounds of durations, in seconds: from 2^8 ns on
// four steps for each power of two, up to 2^47 ns (runtime/histogram.go).
func timeBounds() []float64 {
	const minBits, maxBits, steps = 9, 48, 4
	b := []float64{math.Inf(-1)}
	for j := range steps {
		b = append(b, float64(j<<(minBits-3))/1e9)
	}
	for i := minBits; i < maxBits; i++ {
		for j := range steps {
			b = append(b, float64(1<<(i-1)+j<<(i-3))/1e9)
		}
	}
	return append(b, float64(uint64(1)<<(maxBits-1))/1e9, math.Inf(1))
}

// sizeBounds are those of objects: a class holds what is larger than the one
// before it.
func sizeBounds() []float64 {
	b := []float64{1}
	for _, size := range gomem.SizeClasses {
		b = append(b, size+1)
	}
	return append(b, math.Inf(1))
}
