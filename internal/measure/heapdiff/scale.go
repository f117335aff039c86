// Package heapdiff is arithmetic on heap profiles: what sampled counts stand for
// and how sure that is, what grew between two profiles, whose code allocated it,
// and the same as a pprof file. It reads nothing and judges nothing.
//
// Counts are kept, added and subtracted as they were sampled, and scaled last.
package heapdiff

import (
	"math"
	"slices"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Amount is an estimate of objects and their bytes. A difference may be negative.
type Amount struct {
	Objects, Bytes int64
}

// Add is the sum of two estimates.
func (a Amount) Add(b Amount) Amount { return Amount{a.Objects + b.Objects, a.Bytes + b.Bytes} }

// Sub is a - b.
func (a Amount) Sub(b Amount) Amount { return Amount{a.Objects - b.Objects, a.Bytes - b.Bytes} }

// Scale is what count sampled objects of one size stand for, to the byte as the
// program's own profile would say it (runtime/pprof/protomem.go,
// scaleHeapSample): an object of size S is sampled with the probability
// p = 1 - exp(-S/rate), so there are count/p of them. Rates up to 1 sample every
// object.
func Scale(count int64, size sample.Bytes, rate int64) Amount {
	bytes := count * int64(size)
	if count == 0 || size == 0 {
		return Amount{}
	}
	if rate <= 1 {
		return Amount{count, bytes}
	}
	scale := 1 / probability(size, rate)
	return Amount{int64(float64(count) * scale), int64(float64(bytes) * scale)}
}

// Error is the standard error of Scale's bytes: count is a sum of count/p
// independent draws of probability p, so that objects stray by
// sqrt(count (1-p)) / p. It is 0 for what was not sampled at all: a count of 0
// says little about objects much smaller than the rate.
func Error(count int64, size sample.Bytes, rate int64) float64 {
	if rate <= 1 || size == 0 {
		return 0
	}
	p := probability(size, rate)
	return math.Sqrt(math.Abs(float64(count))*(1-p)) / p * float64(size)
}

// probability of an object to be in the profile.
func probability(size sample.Bytes, rate int64) float64 {
	return 1 - math.Exp(-float64(size)/float64(rate))
}

// View is one of the two ways to read a profile.
type View int

// Published is what the program's own profile says, up to two collections old.
// Now adds what was allocated since, and what of it was swept: its objects in use
// include dead ones, so that it is no measure of the live heap.
const (
	Published View = iota
	Now
)

// Allocs is the sampled objects allocated since the program's start.
func (v View) Allocs(c sample.BucketCounts) int64 {
	if v == Now {
		return int64(c.NowAllocs)
	}
	return int64(c.PubAllocs)
}

// InUse is the sampled objects allocated and not freed, 0 at least: counts that
// were read while they changed may have a free before its allocation.
func (v View) InUse(c sample.BucketCounts) int64 {
	if v == Now {
		return max(0, int64(c.NowAllocs-c.NowFrees))
	}
	return max(0, int64(c.PubAllocs-c.PubFrees))
}

// Since is the sampled objects allocated after what is published: the burst that
// the program's own profile does not show yet.
func Since(c sample.BucketCounts) int64 { return max(0, int64(c.NowAllocs-c.PubAllocs)) }

// Growth is how much more one site held in the later profile than in the earlier:
// the difference of the counts, scaled; where the program changed its rate in
// between, the difference of what they stand for. Either profile may be nil, and
// a site that is not in it yet held nothing.
func Growth(earlier, later *sample.HeapProfile, site int, size sample.Bytes, v View) Amount {
	before, rateBefore := held(earlier, site, v)
	after, rate := held(later, site, v)
	if before == 0 || rateBefore == rate {
		return Scale(after-before, size, rate)
	}
	return Scale(after, size, rate).Sub(Scale(before, size, rateBefore))
}

func held(p *sample.HeapProfile, site int, v View) (count, rate int64) {
	if p == nil {
		return 0, 0
	}
	if site >= len(p.Counts) {
		return 0, p.Rate
	}
	return v.InUse(p.Counts[site]), p.Rate
}

// Live is a profile whose objects in use, in the view Now, are those that a mark
// reached: reached[i] sampled objects of site i.
func Live(p *sample.HeapProfile, reached []uint64) *sample.HeapProfile {
	return with(p, func(i int, n *sample.BucketCounts) {
		n.NowFrees = n.NowAllocs
		if i < len(reached) {
			n.NowFrees -= min(n.NowAllocs, reached[i])
		}
	})
}

// AsPublished is a profile that says in the view Now what is published, so that
// it can be the earlier one of a Live; nil of nil.
func AsPublished(p *sample.HeapProfile) *sample.HeapProfile {
	if p == nil {
		return nil
	}
	return with(p, func(_ int, n *sample.BucketCounts) { n.NowAllocs, n.NowFrees = n.PubAllocs, n.PubFrees })
}

func with(p *sample.HeapProfile, change func(site int, n *sample.BucketCounts)) *sample.HeapProfile {
	out := *p
	out.Counts = slices.Clone(p.Counts)
	for i := range out.Counts {
		change(i, &out.Counts[i])
	}
	return &out
}
