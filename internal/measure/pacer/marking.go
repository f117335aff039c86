package pacer

import "sort"

// remembered is how many cycles the runtime looks back for the most that was
// allocated for each byte scanned (gcControllerState.lastConsMark, and the last one).
const remembered = 5

// runway is what the runtime expects to be allocated during the next mark: the most
// of the last cycles. It weighs the collector's share of the Ps, a quarter, against
// the program's, and so comes to the plain ratio of the two amounts.
func (r *replay) runway() float64 {
	most := 0.0
	for _, share := range r.before {
		most = max(most, share)
	}
	return most * (r.state.Marked + r.state.Scanned)
}

// throttled is what of the usual allocation passes while collections run back to
// back; notes of measured spirals say 0.5 to 0.7.
const throttled = 0.6

// assisted is what passes beyond the goal whatever assists do, of the live heap.
const assisted = 0.02

// leastMark is how much longer a mark takes than what is live does, in bytes marked:
// waking workers, stacks, termination.
const leastMark = 2 * mib

// during is what is allocated while a mark runs. Assists hold it to what is left to
// the goal: measured, to 105 % of it and 2 % of the live heap; more on a machine so
// busy that marks stood still, as far as this recording shows.
func (r *replay) during(live, left float64, close bool) float64 {
	d := nearest(r.shares, r.now) * (live + r.scanned + leastMark)
	if close {
		d *= throttled
	}
	return max(min(d, r.passed*max(0, left)+assisted*live), eachP)
}

// nearest is the middle one by size of the three figures around clock a.
func nearest(list []at, a float64) float64 {
	if len(list) == 0 {
		return 0
	}
	i := sort.Search(len(list), func(i int) bool { return list[i].clock >= a })
	first := min(max(0, i-1), max(0, len(list)-3))
	v := make([]float64, 0, 3)
	for _, f := range list[first:min(len(list), first+3)] {
		v = append(v, f.v)
	}
	sort.Float64s(v)
	return v[len(v)/2]
}
