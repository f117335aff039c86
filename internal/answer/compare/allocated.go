package compare

import (
	"cmp"
	"math"
	"path"

	"github.com/highwater-go/highwater/internal/answer/moment"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// allocated compares what the lines of two runs allocated in all, live or not: how
// churn shows, of which the moments know nothing. A line that is not among the first
// of one side counts as though it had allocated nothing there.
func (d *Diff) allocated(before, after *moment.Profiled) {
	type line struct {
		function, file string
		number         int
	}
	lines := map[line]*Line{}
	var order []*Line
	for i, side := range []*moment.Profiled{before, after} {
		for _, a := range side.Allocators {
			key := line{a.Function, path.Base(a.File), a.Line}
			l := lines[key]
			if l == nil {
				l = &Line{Place: a.Place}
				lines[key], order = l, append(order, l)
			}
			if i == 0 {
				l.Before += int64(a.Bytes)
			} else {
				l.After += int64(a.Bytes)
			}
		}
	}
	d.Allocated = delta(allAllocated(before), allAllocated(after), 0)
	for _, l := range order {
		// A sampled sum of objects smaller than the rate is off by about this.
		err := math.Sqrt(float64(l.Before)*float64(before.Rate) + float64(l.After)*float64(after.Rate))
		l.Delta = delta(l.Before, l.After, err)
		if change := float64(abs(l.Change)); change > 2*err && change >= 0.05*float64(max(d.Allocated.Before, d.Allocated.After)) {
			d.AllocatedBy = append(d.AllocatedBy, *l)
		}
	}
	sorting.Stable(d.AllocatedBy, func(a, b Line) int { return cmp.Compare(abs(b.Change), abs(a.Change)) })
}

// allAllocated is what the subject allocated in all, as far as a sample or its profile
// tells.
func allAllocated(s *moment.Profiled) int64 {
	most, sum := 0.0, 0.0
	for _, v := range s.Ticks.Alloc {
		if v > most { // NaN compares false
			most = v
		}
	}
	for _, a := range s.Allocators {
		sum += float64(a.Bytes)
	}
	return int64(max(most, sum))
}
