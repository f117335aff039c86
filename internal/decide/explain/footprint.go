package explain

import (
	"math"

	"github.com/highwater-go/highwater/internal/measure/series"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// Footprint is how much of the time memory was how large, without page cache. The
// higher percentiles are nil where fewer than 100 or 1,000 samples were taken.
type Footprint struct {
	P50  sample.Bytes  `json:"p50_bytes"`
	P95  sample.Bytes  `json:"p95_bytes"`
	P99  *sample.Bytes `json:"p99_bytes"`
	P999 *sample.Bytes `json:"p999_bytes"`
}

// hard is what of the charge cannot be taken back, sample by sample; without a
// cgroup, the processes' anonymous memory.
func (c *Case) hard() []float64 {
	t := &c.Ticks
	if len(t.Usage) == 0 || series.First(t.Usage) == series.None {
		return t.Anon
	}
	out := make([]float64, len(t.Usage))
	cache := math.NaN()
	for i := range out {
		// Near the limit most samples read the charge alone: the page cache is then
		// that of the full sample before, a tenth of a second ago at most.
		if !math.IsNaN(t.PageCache[i]) {
			cache = t.PageCache[i]
		}
		out[i] = max(0, t.Usage[i]-cache)
	}
	return out
}

// maxSampleWeight is the longest time that one sample stands for, in seconds: what was
// not watched has no size.
const maxSampleWeight = 2

// footprint weighs each sample with the time to the next, as they are denser where
// memory is short.
func (c *Case) footprint() *Footprint {
	type reading struct{ v, weight float64 }
	var list []reading
	all := 0.0
	hard := c.hard()
	for i, v := range hard {
		if math.IsNaN(v) {
			continue
		}
		r := reading{v, 0.1}
		if i+1 < len(hard) {
			r.weight = c.Ticks.At[i+1] - c.Ticks.At[i]
			if !c.Ticks.rested(i + 1) {
				r.weight = min(maxSampleWeight, r.weight)
			}
		}
		list, all = append(list, r), all+r.weight
	}
	if len(list) == 0 {
		return nil
	}
	sorting.Stable(list, func(a, b reading) int { return int(math.Copysign(1, a.v-b.v)) })
	share := func(p float64) sample.Bytes {
		sum := 0.0
		for _, r := range list {
			if sum += r.weight; sum >= p*all {
				return sample.Bytes(r.v)
			}
		}
		return sample.Bytes(list[len(list)-1].v)
	}
	f := &Footprint{P50: share(0.5), P95: share(0.95)}
	if len(list) >= 100 {
		p := share(0.99)
		f.P99 = &p
	}
	if len(list) >= 1000 {
		p := share(0.999)
		f.P999 = &p
	}
	return f
}

// hardNow is the last reading of what cannot be taken back.
func (c *Case) hardNow() float64 {
	hard := c.hard()
	if i := series.Last(hard); i != series.None {
		return hard[i]
	}
	return 0
}
