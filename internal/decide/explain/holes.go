package explain

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// holes tells of the stretches in which no sample was taken.
func (c *Case) holes() []Gap {
	var out []Gap
	lost, n := 0.0, 0
	for _, hole := range c.Holes() {
		step := hole[1] - hole[0]
		if lost, n = lost+step, n+1; n <= 2 {
			out = append(out, Gap{fmt.Sprintf("%s from %s after start", seconds(step), seconds(hole[0])),
				"no sample was taken, because the watch or the machine was stopped"})
		}
	}
	if n > 2 {
		out = []Gap{{fmt.Sprintf("%s in all, in %d stretches", seconds(lost), n), "no sample was taken, because the watch or the machine was stopped"}}
	}
	return out
}

// Holes are the stretches in which no sample was taken, though more than ten
// others were closer together: the watch, or the machine, was suspended. Each is
// from and to in seconds since the start. A rest is none: it was looked at.
func (e *Evidence) Holes() [][2]float64 {
	at, out := e.Ticks.At, [][2]float64{}
	if len(at) < 10 {
		return out
	}
	steps := make([]float64, len(at)-1)
	for i := range steps {
		steps[i] = at[i+1] - at[i]
	}
	least := e.leastHole(median(steps))
	for i, step := range steps {
		if step >= least && !e.Ticks.rested(i+1) {
			out = append(out, [2]float64{at[i], at[i+1]})
		}
	}
	return out
}

// unseen is for how many of the seconds from one time to another no sample was taken.
func (e *Evidence) unseen(from, to float64) (lost float64) {
	for _, hole := range e.Holes() {
		lost += max(0, min(hole[1], to)-max(hole[0], from))
	}
	return lost
}

// rarestLook is the longest time from one sample to the next that a watch is meant to
// leave, in seconds, and something more: that of a rest.
const rarestLook = 1.2

// leastHole is how long a hole is at least, by the usual step: 3 s where all samples of a
// watch are there, else twenty times that.
func (e *Evidence) leastHole(usual float64) float64 {
	if usual <= rarestLook && !e.Ticks.Picked && e.Imported == "" {
		return 3
	}
	return max(3, 20*usual)
}

// rested says whether the time before an element was a rest.
func (t *Ticks) rested(i int) bool { return i < len(t.Unchanged) && t.Unchanged[i] > 0 } // NaN compares false

func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	if len(v) == 0 {
		return math.NaN()
	}
	return v[len(v)/2]
}

// onOneClock gives collections whose time the program's clock does not order, or
// places outside of the recording, a time by what had been allocated: the runtime
// stamps them with the wall clock, which somebody may set.
func onOneClock(e *Evidence) []sample.GCCycle {
	end := e.End
	if e.Moment.At.After(end) {
		end = e.Moment.At
	}
	cycles := slices.Clone(e.Cycles)
	last := time.Time{}
	for i := range cycles {
		g := &cycles[i]
		if g.At.Before(last) || g.At.Before(e.Start.Add(-time.Second)) || g.At.After(end.Add(5*time.Second)) {
			g.At = e.whenAllocated(float64(g.Alloc), last)
		}
		last = g.At
	}
	return cycles
}

// whenAllocated is when so many bytes had been allocated, by the samples, but no
// earlier than least.
func (e *Evidence) whenAllocated(bytes float64, least time.Time) time.Time {
	t := &e.Ticks
	i := sort.Search(len(t.Alloc), func(i int) bool { return t.Alloc[i] >= bytes }) // NaN compares false
	when := least
	if i < len(t.Alloc) {
		when = e.Start.Add(durationOf(t.At[i]))
	} else if len(t.At) > 0 && len(t.Alloc) > 0 {
		when = e.Start.Add(durationOf(t.At[len(t.At)-1]))
	}
	if when.Before(least) {
		return least
	}
	return when
}
