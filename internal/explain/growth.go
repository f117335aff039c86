package explain

import (
	"math"

	"github.com/highwater-go/highwater/internal/sample"
	"github.com/highwater-go/highwater/internal/series"
)

// rise is how the live heap moved from after the warm-up to the moment. All that tells
// what was live is a reading: what collections found, captures of the heap, a mark.
type rise struct {
	n           int     // readings
	from, to    float64 // seconds since the start, of the first and last reading
	first, last float64 // bytes
	grown       float64 // last less first
	low         float64 // of the growth a second, with 95 % confidence at least
	late        float64 // growth in the last third of the time, as a part of even growth
	returns     int     // times that it came back
	fall        float64 // greatest fall from a maximum, as a part of the rise
	mono        bool    // no reading is below the one before by more than a twentieth of the growth
}

// grownRise measures it from all readings of the live heap.
func (c *Case) grownRise() rise {
	r := riseOf(c.curve.points, c.readUntil(), len(c.curve.returns))
	c.boundLate(&r)
	return r
}

// readUntil is the moment, or the end of what was seen where that goes on after it.
func (c *Case) readUntil() float64 {
	return max(c.outcome.MomentElapsed, c.LastMark.At, c.outcome.Elapsed)
}

// boundLate bounds the growth of the last third by what was allocated in it: where the only
// reading after a long time is the last, nobody knows when the growth came.
func (c *Case) boundLate(r *rise) {
	end := c.readUntil()
	if full := c.fullAt(); full < end {
		end = full
		r.late = lateOf(c.readingsUntil(end), r.grown, end)
	}
	if since := c.Ticks.grown(c.Ticks.Alloc, end-(end-r.from)/3, end); r.grown > 0 && !(since/(r.grown/3) >= r.late) && !math.IsNaN(since) {
		r.late = since / (r.grown / 3)
	}
}

// riseOf measures points up to a time. The first fifth of the run counts only where little
// else was seen: a program loads there what it needs.
func riseOf(points []point, end float64, returns int) rise {
	if len(points) == 0 {
		return rise{low: math.NaN(), late: math.NaN()}
	}
	for from := warmUp.v() * end; len(points) > int(enoughReadings.v()) && points[0].at < from; {
		points = points[1:]
	}
	k := curve{points: points}
	at, live := k.floors(stretches)
	first, last := points[0], points[len(points)-1]
	r := rise{n: len(points), from: first.at, to: last.at, first: first.live, last: last.live, grown: last.live - first.live, mono: true, returns: returns}
	r.low = series.Line(at, live).Low
	high, low := first.live, first.live
	for i, p := range points {
		high, low = max(high, p.live), min(low, p.live)
		r.fall = max(r.fall, high-p.live)
		if i > 0 && points[i-1].live-p.live > 0.05*r.grown {
			r.mono = false
		}
	}
	if high > low {
		r.fall /= high - low
	}
	if math.IsInf(r.low, 0) && r.mono && r.n >= int(fewestReadings.v()) && r.to > r.from {
		r.low = 0.5 * r.grown / (r.to - r.from) // too few for an interval, but all of them rise
	}
	r.late = lateOf(points, r.grown, end)
	return r
}

// lineRise is how much a line itself held over the run, by its heap profiles: each published
// profile is a reading of the collection that it was published by.
func (c *Case) lineRise(s *Site) rise {
	when := map[uint32]float64{}
	for _, g := range c.Cycles {
		when[g.N] = c.seconds(g.At)
	}
	var points []point
	seen := uint32(0)
	for i, k := range s.Course {
		if i > 0 && k.Cycle == seen {
			continue
		}
		seen = k.Cycle
		at, ok := when[k.Cycle]
		if !ok {
			at = k.At
		}
		points = append(points, point{at, float64(k.Bytes), float64(k.Allocated)})
	}
	if c.SiteView == "live" || s.Cycle > seen {
		points = append(points, point{c.outcome.MomentElapsed, float64(s.Bytes), float64(s.Allocated + s.Since)})
	}
	r := riseOf(points, c.outcome.MomentElapsed, 0)
	c.boundLate(&r)
	return r
}

// followLine takes the rise of a line for that of the live heap, where that one shows none:
// garbage, and work in flight, hide what grows slowly beneath them.
func (c *Case) followLine() {
	if c.rise.low > 0 && c.rise.grownMuch() {
		return
	}
	var best rise
	var line *Site
	for i := range c.Sites {
		s := &c.Sites[i]
		if len(s.Course) < int(fewestReadings.v()) {
			continue
		}
		if r := c.lineRise(s); r.low > 0 && r.grownMuch() && r.grown > best.grown {
			best, line = r, s
		}
	}
	if line != nil {
		c.rise, c.site, c.ofLine = best, line, true
	}
}

// lateOf is how fast it grew in the last third of the time to the end, as far as readings tell, as a
// part of how fast it grew on the whole: 1 for a straight line, 0 for one that came to rest.
// NaN where hardly a reading is in it.
func lateOf(points []point, grown, end float64) float64 {
	first, last := points[0], points[len(points)-1]
	span := max(end, last.at) - first.at
	grown = min(grown, last.live-first.live)
	from := first.at + 2*span/3
	if seen := last.at - from; grown <= 0 || span <= 0 || seen < span/12 {
		return math.NaN()
	}
	k := curve{points: points}
	return (last.live - k.atTime(from)) / (last.at - from) / (grown / (last.at - first.at))
}

// atTime is the live heap at a time, on the straight line between its neighbours.
func (c *curve) atTime(at float64) float64 {
	for i, p := range c.points {
		if p.at < at {
			continue
		}
		if i == 0 || p.at == c.points[i-1].at {
			return p.live
		}
		a := c.points[i-1]
		return a.live + (p.live-a.live)*(at-a.at)/(p.at-a.at)
	}
	return c.points[len(c.points)-1].live
}

// grownMuch reports whether the growth is worth speaking of: more than the collector's own
// step, and a good part of what is live.
func (r rise) grownMuch() bool {
	return r.n >= int(fewestReadings.v()) && r.grown >= leastGrown.v() && r.grown >= leastGrownShare.v()*r.last
}

// lateGrowthOf is what a line holds more than half-way through the run: what was in use
// then is compared with what is now, and no more can have grown than was allocated
// since.
func lateGrowthOf(s *Site, from, to float64) float64 {
	half := from + (to-from)/2
	var then *Stand
	for i := range s.Course {
		if s.Course[i].At <= half {
			then = &s.Course[i]
		}
	}
	now := s.holds()
	if then == nil {
		return now
	}
	grown := now - float64(then.Bytes)
	if then.Allocated > 0 {
		grown = min(grown, float64((s.Allocated + s.Since).Sub(then.Allocated)))
	}
	return max(0, grown)
}

// holds is what the line holds at the moment: as published, or more where a capture of the heap near
// the moment found more; else with as much of what was allocated since as stayed of what came
// before.
func (s *Site) holds() float64 {
	switch {
	case s.Captured.OK:
		return max(float64(s.Bytes), float64(s.Captured.V))
	case s.Bytes == 0 || s.Allocated == 0:
		return float64(s.Bytes)
	}
	kept := 1 - min(1, float64(s.Freed)/float64(s.Allocated))
	return float64(s.Bytes) + kept*float64(s.Since)
}

// capturedLines tells each line what the capture of the heap near the moment says that is held of it.
func (e *Evidence) capturedLines() {
	h := e.Heap
	if h == nil || math.Abs(e.seconds(h.At)-e.seconds(e.Moment.At)) > max(nearCapture, e.seconds(e.Moment.At)/4) {
		return
	}
	for i := range e.Sites {
		s := &e.Sites[i]
		var sum sample.Bytes
		for p := range h.Paths {
			sum += allocatedBy(&h.Paths[p], s)
		}
		s.Captured = sample.Some(sum)
	}
}

// blamed is the line that grew most in the second half of the rise, by more than twice
// the error of the sampling; else the one that grew most; else that which holds most.
// nil where there is none.
func (e *Evidence) blamed(r rise, to float64) *Site {
	if len(e.Sites) == 0 {
		return nil
	}
	best, most, from := &e.Sites[0], 0.0, r.from
	for i := range e.Sites {
		s := &e.Sites[i]
		if len(s.Course) == 0 {
			continue
		}
		if late := lateGrowthOf(s, from, to); late > most && late > 2*float64(s.Error) && late >= blamedPart.v()*max(r.grown, leastGrown.v()) {
			best, most = s, late
		}
	}
	if most > 0 {
		return best
	}
	for i := range e.Sites {
		if s := &e.Sites[i]; s.Growth > best.Growth && s.Growth > 2*int64(s.Error) {
			best = s
		}
	}
	return best
}

// aged is the part of what the line holds that is certainly older than half of the run.
func (s *Site) aged(from, to float64) float64 {
	if s.Bytes == 0 {
		return math.NaN()
	}
	half, best := from+(to-from)/2, math.NaN()
	for i := range s.Course {
		if s.Course[i].At <= half {
			best = float64(s.Course[i].survived(s)) / float64(s.Bytes)
		}
	}
	return best
}

// turnover is how much of what the line held half-way through the run can have been
// freed since, as a part of it: 1 and more where all of it may be gone, as in a queue.
func (s *Site) turnover(from, to float64) float64 {
	half, best := from+(to-from)/2, math.NaN()
	for i := range s.Course {
		if k := &s.Course[i]; k.At <= half && k.Bytes > 0 && s.Cycle > k.Cycle {
			best = float64(s.Freed.Sub(k.Freed)) / float64(k.Bytes)
		}
	}
	return best
}

// freedShare is the part of what the blamed line's stacks allocated, as far as
// collections have published it, that was freed: of each stack, weighted by what it
// still holds. A line of which one callee makes garbage and another keeps what it makes
// is judged by the second.
func (c *Case) freedShare() float64 {
	s := c.site
	switch {
	case s == nil || s.Allocated == 0:
		return 0
	case s.FreedOfHeld.OK:
		return s.FreedOfHeld.V
	}
	return min(1, float64(s.Freed)/float64(s.Allocated))
}

// capturedPoints are what captures of the heap found live, as readings.
func capturedPoints(e *Evidence) (out []point) {
	for _, h := range e.Captures {
		if h.InUse > 0 && h.At <= e.seconds(e.Moment.At) {
			out = append(out, point{h.At, float64(h.InUse), e.Ticks.allocatedBy(h.At)})
		}
	}
	return out
}

// allocatedBy is how much the subject had allocated at a time, as far as samples tell.
func (t *Ticks) allocatedBy(at float64) (sum float64) {
	for i, v := range t.Alloc {
		if t.At[i] > at {
			break
		}
		if !math.IsNaN(v) {
			sum = v
		}
	}
	return sum
}

// endedWell reports whether the program ended by itself with code 0.
func (c *Case) endedWell() bool {
	o := &c.outcome
	return o.State == Exited && o.Stopped == "" && o.ExitCode != nil && *o.ExitCode == 0
}

// slowsDown reports whether of what is newly allocated half as much stays as before, or less.
func (c *Case) slowsDown() bool {
	early, late, ok := c.halves()
	return ok && late < 0.5*early
}

// halves are the parts of newly allocated bytes that stayed in the first and the
// second half of the allocations of the rise; ok is false where too little was
// seen.
func (c *Case) halves() (early, late float64, ok bool) {
	var up []point
	for _, p := range c.curve.points {
		if p.at >= c.curve.floorEnd {
			up = append(up, p)
		}
	}
	if len(up) < int(manyReadings.v()) {
		return 0, 0, false
	}
	first, last := up[0], up[len(up)-1]
	middle := (first.alloc + last.alloc) / 2
	if half := middle - first.alloc; half > 0 {
		live := c.curve.at(middle)
		return (live - first.live) / half, (last.live - live) / half, true
	}
	return 0, 0, false
}

// cores is how many processors the subject used on average; NaN: not known.
func (c *Case) cores() float64 {
	p := c.overall()
	return p.cpu / p.seconds
}

// unmarked is the part of all that was allocated that came after the last point
// of the curve: what it was is not known.
func (c *Case) unmarked() float64 {
	if c.g == nil || c.curve.exact || c.g.TotalAlloc == 0 || len(c.curve.points) == 0 {
		return 0
	}
	last := c.curve.points[len(c.curve.points)-1].alloc
	return max(0, float64(c.g.TotalAlloc)-last) / float64(c.g.TotalAlloc)
}

// lineLate is how much the blamed line grew in the last quarter of the run, as a part of even
// growth: no more than was allocated there then. NaN: no look tells, or what is allocated there is kept
// until something releases it, so that a rest is no end of it.
func (c *Case) lineLate() float64 {
	s, end := c.site, c.outcome.MomentElapsed
	if s == nil || s.Bytes == 0 || c.keeps() {
		return math.NaN()
	}
	if after := c.readUntil(); end < 0.75*after { // the run went on after its peak
		return c.Ticks.grown(c.Ticks.Alloc, 0.75*after, after) / (float64(s.Bytes) / 4)
	}
	late, all := math.NaN(), s.Allocated+s.Since
	if full := c.fullAt(); full < end {
		end, all = full, 0
		for i := range s.Course {
			if s.Course[i].At <= end {
				all = s.Course[i].Allocated
			}
		}
	}
	for i := range s.Course {
		k := &s.Course[i]
		if k.Allocated == 0 || k.At > end-end/4 {
			continue
		}
		late = float64(all.Sub(k.Allocated)) / (float64(min(all, s.Bytes)) * (end - k.At) / end)
	}
	return late
}

// fullAt is when memory came near its limit, if it was there for the last fifth of the run or
// longer, else the end: a program waits for memory there, and that it stopped growing says
// nothing.
func (c *Case) fullAt() float64 {
	if c.limit > 0 {
		for i, v := range c.hard() {
			if v < nearTheLimit.v()*float64(c.limit) || math.IsNaN(v) {
				continue
			}
			if at := c.Ticks.At[i]; at < (1-warmUp.v())*c.outcome.MomentElapsed {
				return at
			}
			break
		}
	}
	return math.Inf(1)
}

// readingsUntil are the readings of the live heap up to a time.
func (c *Case) readingsUntil(end float64) (out []point) {
	for _, p := range c.curve.points {
		if p.at <= end || len(out) == 0 {
			out = append(out, p)
		}
	}
	return out
}
