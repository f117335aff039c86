package pacer

import (
	"math"
	"math/rand/v2"
	"sort"
)

// model is a History made ready to be run again under other settings.
type model struct {
	h    *History
	live *liveness
	resident
	draws   int // of a prediction
	grain   float64
	scanned float64 // stacks and globals
	shares  []at    // allocated during a mark, as a share of what was live, by clock
	// furthest is how far beyond their triggers nine of ten collections began, and ever
	// how far the furthest did: large objects do not come at any place.
	furthest, ever float64
	passed         float64 // how far marks passed their goals, as a share of what was left to them
	// A program that starts allocates as fast as it can, in collections too short to
	// be seen one by one. That they were is seen from the runway of the next ones.
	rampEnd, rampShare float64
	missed             missed // by the replay of the recorded setting
}

// at is a figure at a clock.
type at struct{ clock, v float64 }

func newModel(h *History) *model {
	m := &model{h: h, draws: draws, live: livenessOf(h), grain: grainOf(h.ticks), scanned: scannedOf(h.ticks), resident: residentOf(h)}
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
	m.furthest, m.ever = furthestOf(h.marks)
	m.passed = min(max(m.passed, 1.05), 5)
	m.rampEnd = m.live.knots[m.live.work].clock
	seen := 0
	for _, k := range h.marks {
		if k.clock >= m.rampEnd && seen <= remembered {
			m.rampShare, seen = max(m.rampShare, k.runway), seen+1
		}
	}
	return m
}

// furthestOf is +Inf where too few collections were seen to tell.
func furthestOf(marks []mark) (furthest, ever float64) {
	var beyond []float64
	for _, k := range marks {
		if !math.IsNaN(k.beyond) {
			beyond = append(beyond, k.beyond)
		}
	}
	if len(beyond) < 10 {
		return math.Inf(1), math.Inf(1)
	}
	return percentile(beyond, 0.9), percentile(beyond, 1)
}

// drawCarried draws how far large objects carry the heap beyond a trigger in one run.
func (m *model) drawCarried(rng *rand.Rand) float64 {
	if math.IsInf(m.ever, 1) {
		return m.ever
	}
	return m.furthest + (m.ever-m.furthest)*rng.Float64()
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

// How fast a program allocates while it starts differs from run to run, and with it
// the runway of the five collections that follow: measured, by these factors.
const rampLeast, rampMost = 0.4, 1.2

// A mark takes as long as the machine lets it, and what is allocated meanwhile goes
// with it: that of a whole run is drawn between these shares of the recorded one's (of
// single marks 0.4 to 2.5 were measured; the machine was busier in some runs than in others).
const paceLeast, paceMost = 0.4, 1.6

// run goes through the recording's line of allocations under a setting. when are
// the clocks at which a collection is asked for. In a wide run all buffers that grow
// stand at their widest wherever they do.
func (m *model) run(set Setting, when []float64, rng *rand.Rand, wide bool) outcome {
	r := replay{model: m, set: set, when: when, rng: rng, path: m.live.draw(rng, wide)}
	r.now, r.ramp, r.pace, r.carried = m.h.start(), m.rampShare, 1, m.furthest
	if rng != nil {
		r.ramp *= rampLeast + (rampMost-rampLeast)*rng.Float64()
		r.pace = paceLeast + (paceMost-paceLeast)*rng.Float64()
		r.carried = m.drawCarried(rng)
	}
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
	set     Setting
	when    []float64
	rng     *rand.Rand
	path    *path
	state   State
	now     float64             // clock
	heap    float64             // in use
	last    float64             // seconds at which the last collection ended
	before  [remembered]float64 // allocated during each of the last marks, as a share of what was live
	ramp    float64             // rampShare as drawn
	pace    float64             // of what is allocated during a mark, as drawn
	carried float64             // how far large objects carry it beyond a trigger at most, as drawn
	out     outcome
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
	if r.out.gcs == 0 && r.rng != nil {
		trigger = r.firstOf(trigger)
	}
	close := r.state.Marked >= goal-mib/4
	start := r.now + max(0, trigger-r.heap)/r.grain
	start = r.asked(start)
	if r.rng != nil {
		start = r.path.whole(start + min(r.h.overshoot(start, r.rng), r.carried))
	}
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
		share = max(share, r.ramp)
	}
	r.before[r.out.gcs%remembered] = share
	r.state.Marked, r.last = r.heap, r.h.seconds(r.now)
}

// firstOf moves the first trigger by a part of the step to the second. The first
// collections of a program double the heap so fast that small things decide where
// in its growth the last of them lies, and no sample sees them: any place is as
// likely.
func (r *replay) firstOf(trigger float64) float64 {
	if r.set.GOGC < 0 || r.state.Marked > 0 || !r.h.begins {
		return trigger
	}
	return trigger * math.Pow(1+float64(r.set.GOGC)/100, r.rng.Float64())
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
