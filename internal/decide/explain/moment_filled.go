package explain

import (
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// mostFilled bounds how many moments before the peak are looked at.
const mostFilled = 32

// filledAt is the moment that tells what the memory of a peak was needed for, where the peak itself does not: most of it
// was free heap, which Go kept of a rise before. It is the one before it, with four fifths of the memory, at which the heap
// held most, if that was twice as much. A peak near the limit stays: the free heap counts against the limit.
func (l *loader) filledAt(peak int, m *sample.Moment) int {
	at := l.moments[peak]
	if g := m.Cgroup; g == nil || g.Limit.OK && float64(needOf(at)) >= nearTheLimit.v()*float64(g.Limit.V) {
		return peak
	}
	held := l.heapInUse(at)
	if held == 0 || held*2 > needOf(at) {
		return peak
	}
	best, most := peak, 2*held
	for i, looked := peak-1, 0; i >= 0 && looked < mostFilled; i-- {
		one := l.moments[i]
		if !one.Usage.OK || needOf(one) < needOf(at)*4/5 || lacks(l.moments, i) || ended(one) {
			continue
		}
		looked++
		if n := l.heapInUse(one); n > most {
			best, most = i, n
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
