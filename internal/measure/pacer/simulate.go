package pacer

import (
	"math"
	"sort"
)

// model is a History made ready to be run again under other settings.
type model struct {
	h    *History
	live *liveness
	resident
	grain   float64
	scanned float64 // stacks and globals
	shares  []at    // allocated during a mark, as a share of what was live, by clock
	passed  float64 // how far marks passed their goals, as a share of what was left to them
	// A program that starts allocates as fast as it can, in collections too short to
	// be seen one by one. That they were is seen from the runway of the next ones.
	rampEnd, rampShare float64
	grows              float64 // bytes of live heap a second; 0: it does not
	errors             pastErrors
	unsure             float64 // see unsureOf
}

// at is a figure at a clock.
type at struct{ clock, v float64 }

func newModel(h *History) *model {
	m := &model{h: h, live: livenessOf(h), grain: grainOf(h.ticks), scanned: scannedOf(h.ticks), resident: residentOf(h)}
	for _, k := range h.marks {
		if k.live <= 0 {
			continue
		}
		if !math.IsNaN(k.during) {
			m.shares = append(m.shares, at{k.clock, k.during / (k.live + m.scanned + leastMark)})
			if k.left > mib {
				m.passed = max(m.passed, (k.during-assisted*k.live)/k.left)
			}
		}
	}
	m.passed = min(max(m.passed, 1.05), 5)
	m.rampEnd = m.live.knots[m.live.work].clock
	m.grows = h.growth(m.live)
	m.errors = readErrors(residualsTable)
	seen := 0
	for _, k := range h.marks {
		if k.clock >= m.rampEnd && seen <= remembered {
			m.rampShare, seen = max(m.rampShare, k.runway), seen+1
		}
	}
	m.unsure = unsureOf(h, m.live, m.run(h.Setting, h.forced).peak)
	return m
}

// scannedOf is the stacks and globals in the goal, found from goals that GOGC alone
// gave: goal = marked + (marked + scanned) * GOGC/100. Of a small heap they are much.
// It is what is typical of the collections: a sample within the end of a mark read the
// goal of one and what another found.
func scannedOf(ticks []tick) float64 {
	var all []float64
	last := ticks[len(ticks)-1]
	for i, t := range ticks {
		if i > 0 && ticks[i-1].gcs == t.gcs && len(all) > 0 {
			continue
		}
		share := float64(t.gogc) / 100
		if t.gogc <= 0 || t.marking || t.goal <= heapMinimum*share || t.goal > math.MaxInt64/2 || t.memoryLimit != last.memoryLimit {
			continue
		}
		if s := (t.goal-t.marked)/share - t.marked; s >= 0 {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return 0
	}
	return percentile(all, 0.5)
}

// outcome is one run of the model.
type outcome struct {
	peak  float64 // greatest heap in use
	ready float64 // greatest amount mapped by the runtime
	live  float64 // most live at a collection
	gcs   int
	close int     // collections that followed the one before back to back
	work  float64 // bytes marked, with a fixed part for each collection
}

// eachMark is what a collection costs besides what is live, in bytes marked: its
// pauses, waking of workers, stacks. Measured: 0.3 to 0.6 ms at 1 to 2 GB/s.
const eachMark = 0.5 * mib

// mostCollections ends a run of the model that would go on for too long.
const mostCollections = 100_000

// run goes through the recording's line of allocations under a setting. when are
// the clocks at which a collection is asked for.
func (m *model) run(set Setting, when []float64) outcome {
	r := replay{model: m, set: set, when: when, path: path{l: m.live}}
	r.now = m.h.start()
	r.heap = m.live.knots[0].live
	if !m.h.begins { // seen from the middle: what the collector knew then
		r.heap, r.state.Marked = m.h.ticks[0].heap, m.h.ticks[0].marked
	}
	r.state.Scanned = m.scanned
	for end := m.h.end(); r.now < end && r.out.gcs < mostCollections; {
		r.collection(end)
	}
	return r.out
}

// replay is a run of the model under way.
type replay struct {
	*model
	set    Setting
	when   []float64
	path   path
	state  State
	now    float64             // clock
	heap   float64             // in use
	last   float64             // seconds at which the last collection ended
	before [remembered]float64 // allocated during each of the last marks, as a share of what was live
	out    outcome
}

// collection allocates up to the next one's trigger, marks, and frees.
func (r *replay) collection(end float64) {
	r.state.NonHeap = r.nonHeapAt(r.goalNear())
	goal := r.state.Goal(r.set)
	trigger := r.state.Trigger(goal, r.runway())
	byLimit := r.state.byLimit(r.set.Limit) <= goal
	if !byLimit { // the sweeper is given room (sweepHeapLiveBasis + sweepMinHeapDistance)
		trigger = max(trigger, r.heap+mib)
	}
	close := r.state.Marked >= goal-mib/4
	start := r.now + max(0, trigger-r.heap)/r.grain
	start = r.asked(start)
	start = max(start, r.now+eachP)
	if start >= end {
		r.grow(end - r.now)
		return
	}
	r.grow(start - r.now)
	live := r.path.live(r.now)
	during := r.during(live, goal-r.heap, close)
	r.grow(min(during, end-r.now))
	r.out.gcs++
	if close {
		r.out.close++
	}
	r.out.work += live + eachMark
	r.out.live = max(r.out.live, live)
	r.heap = min(r.heap, live+during)
	share := during / max(live+r.scanned, heapMinimum)
	if r.now <= r.rampEnd {
		share = max(share, r.rampShare)
	}
	r.before[r.out.gcs%remembered] = share
	r.state.Marked, r.last = r.heap, r.h.seconds(r.now)
}

// eachP is the least that is allocated between two collections: what the caches of
// the Ps hold already.
const eachP = 64 * kib

// grow allocates.
func (r *replay) grow(bytes float64) {
	r.now += bytes
	r.heap += bytes
	r.out.peak = max(r.out.peak, r.heap)
	r.out.ready = max(r.out.ready, r.readyAt(r.heap, r.set))
}

// goalNear is about where the heap will be when a limit's goal is asked for.
func (r *replay) goalNear() float64 {
	byGOGC := r.state.byGOGC(r.set.GOGC)
	if !r.set.limited() {
		return r.state.Marked
	}
	return max(r.state.Marked, min(byGOGC, r.underLimit(float64(r.set.Limit))))
}

// forceAfter is runtime.forcegcperiod: a collection at least so often.
const forceAfter = 120 // seconds

// asked is an earlier start, where the program or the clock on the wall asks.
func (r *replay) asked(start float64) float64 {
	if i := sort.SearchFloat64s(r.when, math.Nextafter(r.now, math.Inf(1))); i < len(r.when) {
		start = min(start, r.when[i])
	}
	if r.h.seconds(start)-r.last > forceAfter {
		start = min(start, max(r.now, r.h.clockOf(r.last+forceAfter)))
	}
	return start
}
