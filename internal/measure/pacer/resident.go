package pacer

import (
	"math"
)

// resident is how the heap becomes resident memory:
//
//	mapped by Go = heap + nonheap + what is free at the peak
//	anonymous    = what of that was touched, and what is not Go's
type resident struct {
	fixed, slope float64 // nonheap = fixed + slope * heap
	free         float64 // share of the heap that lay free when most was mapped
	levels       []level
	beyond       float64 // anonymous memory that is not Go's: C, its own mmaps
	shared       float64
}

// level is how much was anonymous and resident when no more than ready was mapped
// so far. Both ascend. What is allocated fresh and never written is not resident.
type level struct{ ready, anon float64 }

func residentOf(h *History) resident {
	var r resident
	r.fixed, r.slope = nonHeapOf(h.ticks)
	most := 0.0
	for _, t := range h.ticks {
		most, r.shared = max(most, t.ready), max(r.shared, t.shared)
	}
	if peak := h.Recorded.Peak; peak > 0 {
		r.free = max(0, (most-r.fixed)/peak/(1+r.slope)-1)
	}
	r.levels = levelsOf(h.ticks)
	if n := len(r.levels); n > 0 { // the moment of its death may have seen more
		r.levels[n-1].anon = max(r.levels[n-1].anon, h.Recorded.Anon)
	}
	for _, t := range h.ticks {
		r.beyond = max(r.beyond, t.anon-t.ready)
	}
	return r
}

// levelsOf notes where more was mapped than ever before.
func levelsOf(ticks []tick) (levels []level) {
	var now level
	for _, t := range ticks {
		if t.ready > now.ready*1.01 && now.ready > 0 {
			levels, now.ready = append(levels, now), t.ready
		}
		now.ready, now.anon = max(now.ready, t.ready), max(now.anon, t.anon)
	}
	return append(levels, now)
}

// nonHeapOf fits a line through what is mapped beside objects, where the heap was
// above what was marked by half the way to the goal: freed slots in spans count as
// nonheap, and are gone when the heap is full.
func nonHeapOf(ticks []tick) (fixed, slope float64) {
	var heap, rest []float64
	least, most := math.Inf(1), 0.0
	for _, t := range ticks {
		if t.marking || t.live < t.marked+(min(t.goal, 4*t.marked+heapMinimum)-t.marked)/2 {
			continue
		}
		heap, rest = append(heap, t.heap), append(rest, t.nonHeap())
		least, most = min(least, t.heap), max(most, t.heap)
	}
	if len(heap) == 0 {
		last := ticks[len(ticks)-1]
		return last.nonHeap(), 0
	}
	if s := slopeOf(heap, rest); most > 1.2*least && !math.IsNaN(s) {
		slope = min(max(s, 0), 0.3)
	}
	over := make([]float64, len(heap))
	for i := range heap {
		over[i] = rest[i] - slope*heap[i]
	}
	return percentile(over, 0.5), slope
}

func (r resident) nonHeapAt(heap float64) float64 { return max(0, r.fixed+r.slope*heap) }

// underLimit is how large a heap a limit leaves room for.
func (r resident) underLimit(limit float64) float64 {
	return max(0, limit-r.fixed) / (1 + r.slope)
}

// readyAt is what Go has mapped when the heap is of that size. A memory limit makes
// it give back what is free.
func (r resident) readyAt(heap float64, set Setting) float64 {
	need := heap + r.nonHeapAt(heap)
	ready := need + r.free*heap*(1+r.slope)
	if set.limited() {
		ready = max(need, min(ready, float64(set.Limit)))
	}
	return ready
}

// anonAt is the anonymous resident set that goes with so much mapped. A program
// that passed through a level quickly had not yet touched what it would have: so
// at least what it had at a higher level, less all that this has more.
func (r resident) anonAt(ready float64) float64 {
	anon, top := 0.0, r.top()
	for _, l := range r.levels {
		if l.ready <= ready {
			anon = max(anon, l.anon)
		} else {
			anon = max(anon, l.anon-(l.ready-ready))
		}
	}
	return anon + max(0, ready-top.ready)
}

// top is the highest level that was seen.
func (r resident) top() level { return r.levels[len(r.levels)-1] }

// sparselyWritten is the part of what is mapped that a program has at least written
// which uses what it allocates.
const sparselyWritten = 0.75

// sparse reports whether much of what Go had mapped was never written. With more collections memory is given out again
// that was, or that was not: between the level's resident set and all of the recorded one nothing is known.
func (r resident) sparse() bool { return r.top().anon < sparselyWritten*r.top().ready }
