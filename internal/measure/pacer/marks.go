package pacer

import (
	"math"
	"slices"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// mark is one collection as it can be put together from the samples around it.
type mark struct {
	n      int     // its number
	clock  float64 // at its start
	live   float64 // what was live there: found, less what was allocated during it
	during float64 // allocated during it; NaN: not known
	peak   float64 // heap in use at its end; 0: not known
	runway float64 // how far below its goal it began, as a share of what was to be scanned; 0: not known
	left   float64 // bytes from its start to its goal; 0: not known
}

// marksOf joins collections with the samples before and after each. A sample in
// the cycle that a collection ended tells the clock of its start, the first sample
// after it that of its end:
//
//	start = alloc + (trigger - live)     before
//	end   = alloc - (live - marked)      after
//
// live counts whole spans as soon as one is taken into use (mcache.refill), so it
// runs some percent ahead of the clock: grain is by how much.
func marksOf(ticks []tick, cycles []sample.GCCycle) []mark {
	var marks []mark
	o, i := observed{grainOf(ticks), fullOf(ticks), scannedOf(ticks)}, 0
	for _, c := range cycles {
		for i < len(ticks) && ticks[i].gcs < int(c.N) {
			i++
		}
		if i == len(ticks) {
			break
		}
		if c.Marked == 0 {
			continue
		}
		marks = append(marks, o.markOf(ticks, i, c))
	}
	fillUnknown(marks)
	return inOrder(marks)
}

// observed is what the samples of a whole run tell of each collection.
type observed struct{ grain, full, scanned float64 }

// markOf is a collection that ended before ticks[i].
func (o observed) markOf(ticks []tick, i int, c sample.GCCycle) mark {
	after, found := ticks[i], float64(c.Marked)
	end := after.alloc - max(0, after.live-after.marked)/o.grain
	m := mark{n: int(c.N), clock: end, live: found, during: math.NaN()}
	if after.gcs != int(c.N) {
		m.clock = math.NaN() // others ended since: found is of one, the sample of another
	}
	trigger, known := triggerOf(ticks, i, c)
	if !known {
		return m
	}
	m.peak = trigger * o.full // at least
	if i == 0 || ticks[i-1].gcs != int(c.N)-1 || math.IsNaN(m.clock) {
		m.allocated(max(0, found-trigger)) // at least: all of it may have been live when it began
		return m
	}
	before := ticks[i-1]
	if before.marked == found && before.live < trigger { // the mark had ended, its number was not yet counted
		return m
	}
	m.clock = min(end, max(before.alloc, before.alloc+(trigger-before.live)/o.grain))
	if before.marking {
		m.clock = min(end, before.alloc+(trigger-before.live)/o.grain)
	}
	m.during = end - m.clock
	m.live = max(0, found-m.during)
	// What a mark freed is in use until it is swept, which it is before the next one
	// begins: heapLive does not count it.
	m.peak = max(m.peak, min(before.heap, before.live)+end-before.alloc)
	m.runway = runwayOf(before, trigger, o.scanned)
	if before.goal < math.MaxInt64/2 {
		m.left = max(0, before.goal-trigger)
	}
	return m
}

// triggerOf is the size at which a collection began. A sample that lies in the next
// one's mark read that one's trigger; then it is known only if the sample before lay
// in this one's.
func triggerOf(ticks []tick, i int, c sample.GCCycle) (trigger float64, known bool) {
	if !ticks[i].marking {
		return float64(c.Trigger), true
	}
	if i > 0 && ticks[i-1].marking && ticks[i-1].gcs == int(c.N)-1 {
		return ticks[i-1].trigger, true
	}
	return 0, false
}

// fullOf is how much of heapLive is in use when a collection begins: live counts
// whole spans as soon as one is taken (mcache.refill). Of a small heap that is much.
func fullOf(ticks []tick) float64 {
	var shares []float64
	for _, t := range ticks {
		if t.live > 0 && t.live > t.marked+(t.trigger-t.marked)/2 && t.heap <= t.live {
			shares = append(shares, t.heap/t.live)
		}
	}
	if len(shares) == 0 {
		return 1
	}
	return percentile(shares, 0.5)
}

// runwayOf is how far below its goal a collection began, as a share of what was to be
// scanned. One that began above the highest trigger was carried there by a large
// allocation, and tells nothing.
func runwayOf(before tick, trigger, scanned float64) float64 {
	s := State{Marked: before.marked}
	if s.Marked < heapMinimum || trigger > s.Trigger(before.goal, 0)+mib || before.marked >= before.goal {
		return 0
	}
	return max(0, before.goal-trigger) / (before.marked + scanned)
}

// allocated notes what was allocated during a mark whose start was not seen, unless
// that is nothing that is known.
func (m *mark) allocated(during float64) {
	if during == 0 {
		return
	}
	m.during, m.live, m.clock = during, m.live-during, m.clock-during
}

// grainOf is how fast heapLive grows for each byte allocated.
func grainOf(ticks []tick) float64 {
	live, alloc := 0.0, 0.0
	for i := 1; i < len(ticks); i++ {
		if a, b := ticks[i-1], ticks[i]; a.gcs == b.gcs && !a.marking && !b.marking && b.live >= a.live {
			live, alloc = live+b.live-a.live, alloc+b.alloc-a.alloc
		}
	}
	if alloc < mib {
		return 1
	}
	return min(max(live/alloc, 0.95), 1.25)
}

// fillUnknown takes what is typical for marks whose start was not seen.
func fillUnknown(marks []mark) {
	var shares []float64
	for _, m := range marks {
		if !math.IsNaN(m.during) && m.live > 0 {
			shares = append(shares, m.during/m.live)
		}
	}
	share := percentile(shares, 0.5)
	if math.IsNaN(share) {
		return
	}
	for i := range marks {
		if m := &marks[i]; math.IsNaN(m.during) {
			during := min(m.live*share/(1+share), m.live/2)
			m.live -= during
			if !math.IsNaN(m.clock) {
				m.clock -= during
			}
		}
	}
}

// inOrder drops marks whose clock is not known or does not ascend.
func inOrder(marks []mark) []mark {
	last := math.Inf(-1)
	return slices.DeleteFunc(marks, func(m mark) bool {
		if math.IsNaN(m.clock) || m.clock <= last {
			return true
		}
		last = m.clock
		return false
	})
}
