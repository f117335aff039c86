package explain

import (
	"math"
	"sort"

	"github.com/highwater-go/highwater/internal/measure/series"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// point is the live heap at one instant: what a collection found live, or what
// a mark at the moment reached.
type point struct {
	at    float64 // seconds since the start
	live  float64 // bytes
	alloc float64 // bytes allocated since the process began
	least bool    // at least so much was live
}

// curve is the live heap over the run. Only at collections is it known, so that
// a rise and fall between two of them is not in it.
type curve struct {
	points []point
	exact  bool // the last point is a mark at the moment

	first, last, min, max float64
	// returns are the floors that the live heap came back to after a rise.
	returns []float64
	// floor is where the last rise began, floorEnd when.
	floor, floorEnd float64
	// since is when the rise before that had its peak, else the first point.
	since float64
	// drop is the greatest fall from an earlier maximum.
	drop float64
	// tail is the live bytes gained in the last third of all bytes allocated, or of
	// the time where a line through the floors says more; low is the least that was
	// live in it.
	tail, low float64
	trend     series.Trend
}

// significant is a change of the live heap that is more than its own unrest: a
// tenth of its range, so that small rises before a great one count.
func (c curve) significant() float64 {
	return max(4*float64(sample.MiB), 0.1*(c.max-c.min))
}

func liveCurve(e *Evidence) curve {
	var c curve
	for _, g := range e.Cycles {
		c.points = append(c.points, point{at: e.seconds(g.At), live: float64(g.Marked), alloc: float64(g.Alloc)})
	}
	for _, h := range e.Held {
		c.points = append(c.points, point{at: h.At, live: float64(h.InUse), alloc: float64(h.Alloc)})
	}
	c.points = append(c.points, capturedPoints(e)...)
	if p, ok := lastMarked(e); ok {
		c.points = append(c.points, p)
	}
	if p := e.process(); p != nil && p.Go != nil && p.Live != nil {
		c.exact = true
		if all := allStayed(e, p); len(all) > len(c.points) {
			c.points = all
		}
		c.points = append(c.points, point{at: e.seconds(e.Moment.At), live: float64(p.Live.Bytes), alloc: float64(p.Go.TotalAlloc)})
	}
	if m := e.LastMark; m.InUse > 0 && m.At > e.seconds(e.Moment.At) {
		c.points = append(c.points, point{at: m.At, live: float64(m.InUse), alloc: float64(m.Alloc)})
	}
	sort.SliceStable(c.points, func(i, j int) bool { return c.points[i].at < c.points[j].at })
	c.points = withoutLower(c.points)
	if len(c.points) > 0 {
		c.measure()
	}
	return c
}

// withoutLower leaves out readings of the least that was live where the one before found more.
func withoutLower(points []point) (out []point) {
	for _, p := range points {
		if n := len(out); p.least && n > 0 && out[n-1].live >= p.live {
			continue
		}
		out = append(out, p)
	}
	return out
}

// lastMarked is what the runtime says of its last collection before the moment; ok
// is false where that one was read as it ended.
func lastMarked(e *Evidence) (p point, ok bool) {
	proc := e.process()
	if proc == nil || proc.Go == nil || len(e.Cycles) == 0 {
		return p, false
	}
	g, before := proc.Go, 0.0
	for _, cycle := range e.Cycles {
		if cycle.N >= g.NumGC {
			return p, false
		}
		before = float64(cycle.Alloc)
	}
	at := e.seconds(g.LastGC)
	if last := e.Cycles[len(e.Cycles)-1].At; g.LastGC.Before(last) || g.LastGC.After(e.Moment.At) || g.GCPhase != 0 {
		return p, false
	}
	for i, v := range e.Ticks.Alloc {
		if e.Ticks.At[i] <= at && v > before {
			before = v
		}
	}
	return point{at: at, live: float64(g.HeapMarked), alloc: before}, true
}

// allStayed reads the live heap from the samples of a program that freed next to
// nothing, as the mark tells: what was in use then was live, and stayed. Such a
// program collects seldom. Nothing is made of a life of less than 2 s.
func allStayed(e *Evidence, p *sample.ProcessMoment) (out []point) {
	end := e.seconds(e.Moment.At)
	if p.Live.Bytes*10 < p.Go.TotalAlloc*9 || len(e.Ticks.At) == 0 || end-e.Ticks.At[0] < 2 {
		return nil
	}
	const readings = 50
	for next, i := 0.0, 0; i < len(e.Ticks.At) && e.Ticks.At[i] < end; i++ {
		if at, v := e.Ticks.At[i], e.Ticks.HeapAlloc[i]; at >= next && v > 0 {
			out = append(out, point{at: at, live: v, alloc: v})
			next = at + end/readings
		}
	}
	return out
}

func (c *curve) measure() {
	c.first, c.last = c.points[0].live, c.points[len(c.points)-1].live
	c.min, c.max = math.Inf(1), 0
	for _, p := range c.points {
		c.min, c.max = min(c.min, p.live), max(c.max, p.live)
		c.drop = max(c.drop, c.max-p.live)
	}
	c.swing()
	late := c.points[0].alloc + 2*(c.points[len(c.points)-1].alloc-c.points[0].alloc)/3
	c.tail, c.low = c.last-c.at(late), c.last
	for _, p := range c.points {
		if p.alloc >= late {
			c.low = min(c.low, p.live)
		}
	}
	at, live := c.floors(200)
	c.trend = series.Line(at, live)
	if half := len(at) / 2; half >= int(enoughReadings.v()) {
		// Two readings say little where much is in flight; a line through many does.
		if recent := series.Line(at[half:], live[half:]); recent.Low > 0 {
			c.tail = max(c.tail, recent.Slope*(at[len(at)-1]-at[0])/3)
		}
	}
}

// swing finds what the live heap came back to after its waves: a fall that takes
// back at least half of the rise from the last floor ends at a new floor. The
// last rise begins at the last one.
func (c *curve) swing() {
	h := c.significant()
	live := make([]float64, len(c.points))
	for i, p := range c.points {
		live[i] = p.live
	}
	waves := series.Waves(live, h)
	floor, peak := series.Min(live[:firstRise(waves, len(live))]), 0
	if live[floor] < min(live[0]-h, 0.5*live[0]) {
		c.returns = append(c.returns, live[floor]) // it begins high
	}
	for _, w := range waves {
		if w.After == len(live)-1 && c.exact {
			break // the moment itself is no return
		}
		if w.After != series.None && live[w.After] <= live[floor]+0.5*(live[w.Peak]-live[floor]) {
			c.returns, floor, peak = append(c.returns, live[w.After]), w.After, w.Peak
		}
	}
	c.floor, c.floorEnd, c.since = live[floor], c.points[floor].at, c.points[peak].at
	for _, p := range c.points {
		if p.at > c.floorEnd && p.live <= c.floor+h/2 {
			c.floorEnd = p.at
		}
	}
}

// firstRise is the number of values up to the first wave's trough.
func firstRise(waves []series.Wave, n int) int {
	if len(waves) == 0 {
		return n
	}
	return waves[0].Before + 1
}

// at is the live heap when so many bytes had been allocated, on the straight
// line between its neighbours.
func (c *curve) at(alloc float64) float64 {
	i := sort.Search(len(c.points), func(i int) bool { return c.points[i].alloc >= alloc })
	if i == 0 || i == len(c.points) {
		return c.points[min(i, len(c.points)-1)].live
	}
	a, b := c.points[i-1], c.points[i]
	return a.live + (b.live-a.live)*(alloc-a.alloc)/(b.alloc-a.alloc)
}

// floors is the curve as at most n points: the least live heap of each stretch,
// which bursts do not lift.
func (c *curve) floors(n int) (at, live []float64) {
	return c.floorsBy(n, func(p point) float64 { return p.at })
}

// floorsBy is the same over another clock than time.
func (c *curve) floorsBy(n int, clock func(point) float64) (at, live []float64) {
	step := (len(c.points) + n - 1) / n
	for i := 0; i < len(c.points); i += step {
		low := c.points[i]
		for _, p := range c.points[i:min(i+step, len(c.points))] {
			if p.live < low.live {
				low = p
			}
		}
		at, live = append(at, clock(low)), append(live, low.live)
	}
	return at, live
}

// grownShare is the part of what was allocated in the last collections that
// stayed; ok is false where fewer than two of them were seen.
func grownShare(cycles []sample.GCCycle) (share float64, ok bool) {
	cycles = cycles[max(0, len(cycles)-6):]
	var grown, alloc float64
	for i := 1; i < len(cycles); i++ {
		grown += float64(cycles[i].Marked) - float64(cycles[i-1].Marked)
		alloc += float64(cycles[i].Alloc.Sub(cycles[i-1].Alloc))
	}
	if len(cycles) < 3 || alloc == 0 {
		return 0, false
	}
	return max(0, min(1, grown/alloc)), true
}
