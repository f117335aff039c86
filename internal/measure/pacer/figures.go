package pacer

import (
	"cmp"
	"math"
	"slices"

	"github.com/highwater-go/highwater/internal/words/sorting"
)

// percentile is the value below which a share (0 to 1) of the list lies,
// interpolated; NaN of an empty list. The list is sorted in place.
func percentile(v []float64, share float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	at := share * float64(len(v)-1)
	low := int(at)
	high := min(low+1, len(v)-1)
	return v[low] + (at-float64(low))*(v[high]-v[low])
}

// weighted is the value below which a share (0 to 1) of the weight lies: a figure
// weighs by its clock. NaN of an empty list, which is sorted in place.
func weighted(list []at, share float64) float64 {
	sorting.Stable(list, func(a, b at) int { return cmp.Compare(a.v, b.v) })
	all := 0.0
	for _, f := range list {
		all += f.clock
	}
	sum := 0.0
	for _, f := range list {
		if sum += f.clock; sum >= share*all {
			return f.v
		}
	}
	return math.NaN()
}

// slopeOf is that of the least-squares line through y over x; NaN where x does not vary.
func slopeOf(x, y []float64) float64 {
	n := float64(len(x))
	var sx, sy, sxx, sxy float64
	for i := range x {
		sx, sy = sx+x[i], sy+y[i]
	}
	for i := range x {
		dx := x[i] - sx/n
		sxx, sxy = sxx+dx*dx, sxy+dx*(y[i]-sy/n)
	}
	if sxx == 0 {
		return math.NaN()
	}
	return sxy / sxx
}
