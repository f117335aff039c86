package explain

import (
	"fmt"
	"math"
)

// pace is how fast things went over a stretch of the run. What was not seen is
// NaN.
type pace struct {
	seconds     float64
	collections float64 // those that ended unseen too
	allocated   float64 // bytes
	cpu, gc     float64 // seconds of CPU time, and of it the collector's as the runtime books them
	faults      float64 // page faults that needed the disk, in the cgroup
	refaults    float64 // pages that were read again soon after they were taken
	atLimit     float64 // charges that met the limit
	stalled     float64 // seconds in which all tasks waited for memory
}

// paceOf measures from one instant to another, in seconds since the start.
func (c *Case) paceOf(from, to float64) pace {
	t := &c.Ticks
	p := pace{seconds: to - from}
	for _, m := range []struct {
		to     *float64
		column []float64
	}{{&p.allocated, t.Alloc}, {&p.cpu, t.CPU}, {&p.gc, t.GC}, {&p.faults, t.Faults}, {&p.refaults, t.Refaults}, {&p.atLimit, t.AtLimit},
		{&p.stalled, t.Stalled}} {
		*m.to = t.grown(m.column, from, to)
	}
	for _, g := range c.Cycles {
		if at := c.seconds(g.At); at > from && at <= to {
			p.collections += 1 + float64(g.Missed)
		}
	}
	return p
}

// grown is how far a counter rose between two instants; NaN where fewer than two
// of its values were seen.
func (t *Ticks) grown(column []float64, from, to float64) float64 {
	first, last, n := math.NaN(), math.NaN(), 0
	for i, v := range column {
		if at := t.At[i]; at < from || at > to || math.IsNaN(v) {
			continue
		}
		if n++; n == 1 {
			first = v
		}
		last = v
	}
	if n < 2 {
		return math.NaN()
	}
	return max(0, last-first)
}

// rate is bytes allocated a second.
func (p pace) rate() float64 { return p.allocated / p.seconds }

// gcShare is the part of the CPU time that the collector took, at most 1. The
// runtime books its time by the clock, so that it is too high where others use
// the processors too.
func (p pace) gcShare() float64 { return min(1, p.gc/p.cpu) }

// gcWords says what part of the CPU time the collector took, "" if that is not
// known. Where the clock says nearly all, no figure is to be trusted.
func (p pace) gcWords() string {
	switch s := p.gcShare(); {
	case math.IsNaN(s):
		return ""
	case s < 0.01:
		return "less than 1% of the CPU time"
	case s > trustedShare.v():
		return "most of the CPU time"
	default:
		return fmt.Sprintf("about %.0f%% of the CPU time", 100*s)
	}
}

// overall is the pace from the start to the end, or to the kill.
func (c *Case) overall() pace { return c.paceOf(0, c.outcome.Elapsed) }

// running is the part of the looks at which a goroutine of the program's ran: of one that works
// without a pause it is all of them, however little time the machine gives it.
func (c *Case) running() float64 {
	if c.site == nil {
		return math.NaN()
	}
	looks, ran := 0, 0
	for _, s := range c.site.Course {
		if s.Goroutines {
			looks++
			if s.Unseen > 0 {
				ran++
			}
		}
	}
	if looks < int(fewestReadings.v()) {
		return math.NaN()
	}
	return float64(ran) / float64(looks)
}

// paced is 1 where the program waited most of the time: it used little of a processor, with those that it started and
// waited for, and at most looks nothing of it ran. What GC took does not count as the program's work, as it grows with the live
// heap, unless the looks are too few or the clock books others' time to GC. Of a second or so processor time alone does not tell:
// others may have had it.
func (c *Case) paced() float64 {
	cores, running := c.cores(), c.running()
	if gc := c.overall().gcShare(); gc <= trustedShare.v() && !math.IsNaN(running) {
		cores *= 1 - gc
	}
	cores += c.childrenCores()
	if math.IsNaN(cores) || math.IsNaN(running) && c.outcome.Elapsed < shortestRise.v() {
		return math.NaN()
	}
	return yes(cores <= pacedCore.v() && !(running > pacedCore.v()))
}

// hasTimeToSpare reports whether the program waited most of the time, and had the processor for its GCs as well.
func (c *Case) hasTimeToSpare() bool {
	return c.paced() == 1 && c.cores()+c.childrenCores() <= pacedCore.v()
}

// childrenCores is how many processors the processes used on average that the subject started, and those that these started.
func (c *Case) childrenCores() (cores float64) {
	tree := map[int]bool{c.Subject.PID: true}
	for _, p := range c.Programs { // a parent is seen before its child
		if p.Key != c.Subject && tree[p.Parent] && !tree[p.Key.PID] {
			tree[p.Key.PID] = true
			cores += c.Spans[p.Key].CPU / c.outcome.Elapsed
		}
	}
	return cores
}
