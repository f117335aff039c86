package explain

import (
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// mostFilled bounds how many moments before the peak are looked at.
const mostFilled = 32

// filledAt is the moment that tells what the memory of a peak was needed for, where the peak itself does not: most of it
// was free heap, which Go kept of a rise before. It is the one before it, with four fifths of the memory, at which the heap
// held most, if that was twice as much, or the first of those that held nearly as much. A peak near the limit stays: the free heap counts against the limit.
func (l *loader) filledAt(peak int, m *sample.Moment) int {
	at, need := l.moments[peak], needOf
	if !at.Usage.OK {
		need = anonOfAll // its cgroup is not its own
	}
	if g := m.Cgroup; g != nil && g.Limit.OK && float64(need(at)) >= nearTheLimit.v()*float64(g.Limit.V) {
		return peak
	}
	if held := l.heapInUse(at); held > 0 && held*2 <= need(at) {
		return l.fullestBefore(peak, held, need)
	}
	return peak
}

// fullestBefore is the moment before a peak, with as much memory or nearly, at which the heap held most and at least twice as much.
func (l *loader) fullestBefore(peak int, held sample.Bytes, need func(recording.MomentInfo) sample.Bytes) int {
	at, best, most := l.moments[peak], peak, 2*held
	for i, looked := peak-1, 0; i >= 0 && looked < mostFilled; i-- {
		one := l.moments[i]
		if one.Usage.OK != at.Usage.OK || need(one) < need(at)*4/5 || lacks(l.moments, i) || ended(one) {
			continue
		}
		looked++
		if n := l.heapInUse(one); n > most {
			best, most = i, n
		} else if best < peak && n >= most-most/10 {
			best = i // as full, and more of the calls that filled it may still be there
		}
	}
	return best
}

// heapInUse is what the heaps of a moment's processes held by the sample next to it, 0: it is not known.
func (l *loader) heapInUse(m recording.MomentInfo) (sum sample.Bytes) {
	point, err := l.PointAt(m.At)
	if err != nil {
		return 0
	}
	for _, p := range point.Processes {
		if p.Go != nil {
			sum += p.Go.HeapInUse
		}
	}
	return sum
}
