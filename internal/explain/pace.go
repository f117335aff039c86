package explain

import (
	"math"

	"github.com/highwater-go/highwater/internal/sample"
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
	}{{&p.allocated, t.Alloc}, {&p.cpu, t.CPU}, {&p.gc, t.GC}, {&p.faults, t.Faults}, {&p.refaults, t.Refaults}, {&p.atLimit, t.AtLimit}, {&p.stalled, t.Stalled}} {
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

// untilNow is the pace from the start to the moment; lately that of its last
// third.
func (c *Case) untilNow() pace { return c.paceOf(0, c.outcome.MomentElapsed) }

func (c *Case) lately() pace { return c.paceOf(2*c.outcome.MomentElapsed/3, c.outcome.MomentElapsed) }

// recent are the collections of the last third of the time to the moment, at
// least the last ten.
func (c *Case) recent() []sample.GCCycle {
	until := len(c.Cycles)
	for until > 0 && c.Cycles[until-1].At.After(c.Moment.At) {
		until--
	}
	from := until
	for from > 0 && (c.seconds(c.Cycles[from-1].At) >= 2*c.outcome.MomentElapsed/3 || until-from < 10) {
		from--
	}
	return c.Cycles[from:until]
}
