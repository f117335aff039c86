package explain

import (
	"math"
	"slices"
	"sort"

	"github.com/highwater-go/highwater/internal/measure/series"
)

// rise is how the live heap moved from after the warm-up to the moment. All that tells
// what was live is a reading: what collections found, captures of the heap, a mark.
type rise struct {
	n           int     // readings after the warm-up
	all         int     // readings
	from, to    float64 // seconds since the start, of the first and last reading
	first, last float64 // bytes
	grown       float64 // last less first
	low         float64 // of the growth a second, with 95 % confidence at least
	late        float64 // growth in the last third of the time, as a part of even growth
	returns     int     // times that it came back
	fall        float64 // greatest fall from a maximum, as a part of the rise
	mono        bool    // no reading is below the one before by more than a twentieth of the growth
	step        float64 // the greatest growth between two readings
	stepTook    float64 // seconds between them
	second      float64 // the second greatest
	reached     float64 // seconds since the start: when nearly all of the growth was there
}

// grownRise measures it from the readings of the live heap after a time.
func (c *Case) grownRise(from float64) rise {
	r := riseOf(c.curve.points, from, c.readUntil(), len(c.curve.returns))
	if since := c.Ticks.grown(c.Ticks.Alloc, r.from, c.readUntil()); since < r.grown { // NaN: not known
		r.grown = since
	}
	c.boundLate(&r)
	return r
}

// late is the growth in the last third of the time. NaN: too little was read, or what is allocated at
// the line is kept until something releases it, or comes in steps, so that a rest tells of no end of it.
func (c *Case) late() float64 {
	rests := !(c.rise.late >= goneOnGrowing.v())
	if c.rise.n == 0 || c.site != nil && rests && (c.retainsByDesign() || c.betweenSteps()) {
		return math.NaN()
	}
	if line := c.lineLate(); c.rise.n >= int(manyReadings.v()) && line > c.rise.late && c.explains() && c.freedShare() <= freedLittle.v() {
		return line // work in flight moves the readings; what is allocated there and never freed stays
	}
	if math.IsNaN(c.rise.late) && c.explains() && c.freedShare() <= freedLittle.v() {
		return c.lineLate() // no reading of the last third, but what made the live heap grow was still allocated, or not
	}
	return c.rise.late
}

// steps are the functions that make more room for what a map or a slice holds, with the part of what it
// has that they add: a table of a map is split when it is full, and a slice of more than 256 elements gets
// a quarter more at least (internal/runtime/maps/table.go, runtime/slice.go).
var steps = []struct {
	functions []string
	adds      float64
}{
	{[]string{"runtime.mapassign*", "internal/runtime/maps.*", "runtime.growWork*", "runtime.hashGrow", "runtime.makeBucketArray"}, 1},
	{[]string{"runtime.growslice"}, 0.25},
}

// betweenSteps reports whether what the blamed line allocates comes in steps, and the next one is not
// due: a map that is filled evenly doubles after as much time as it took until then.
func (c *Case) betweenSteps() bool {
	names := within(c.site.Stack, c.site.Function, true)
	for _, k := range steps {
		if slices.ContainsFunc(names, func(name string) bool { return matches(k.functions, name) }) {
			step := c.rise.reached
			return c.rise.grown > 0 && c.readUntil()-step < k.adds*step
		}
	}
	return false
}

// readUntil is the moment, or the last sample at which the program still worked where that came after
// it: a last tenth of the run in which it allocated nothing is its end.
func (c *Case) readUntil() float64 {
	last := c.outcome.Elapsed
	if n := len(c.Ticks.At); n > 0 {
		last = min(last, c.Ticks.At[n-1])
	}
	if c.outcome.State == Exited {
		last = max(c.Ticks.workedUntil(), (1-wrapUp.v())*last)
	}
	return max(c.outcome.MomentElapsed, c.LastMark.At, last)
}

// workedUntil is when the subject was last seen to have allocated.
func (t *Ticks) workedUntil() (at float64) {
	most := 0.0
	for i, v := range t.Alloc {
		if v > most*1.001 {
			most, at = v, t.At[i]
		}
	}
	return at
}

// boundLate bounds the growth of the last third by what was allocated in it: where the only
// reading after a long time is the last, nobody knows when the growth came.
func (c *Case) boundLate(r *rise) {
	end := c.readUntil()
	if full := c.fullAt(); full < end {
		end = full
		r.late = lateOf(c.readingsUntil(end), r.grown, end)
	}
	since := c.Ticks.grown(c.Ticks.Alloc, end-(end-r.from)/3, end) / (r.grown / 3)
	if r.grown > 0 && (since < r.late || math.IsNaN(r.late) && since < lateGrowth.v()) { // allocation bounds growth from above
		r.late = since
	}
}

// warmUntil is the end of the first fifth of the run: a program loads there what it needs.
func (c *Case) warmUntil() float64 { return warmUp.v() * c.readUntil() }

// riseOf measures points from one time to another. Where too few readings came after, what was live at its end is one, as far as its
// neighbours tell.
func riseOf(points []point, from, end float64, returns int) rise {
	if len(points) == 0 {
		return rise{low: math.NaN(), late: math.NaN()}
	}
	all := len(apart(points))
	points = apart(warm(points, from))
	k := curve{points: points}
	at, live := k.floors(stretches)
	first, last := points[0], points[len(points)-1]
	r := rise{n: len(points), all: all, from: first.at, to: last.at, first: first.live, last: last.live, grown: last.live - first.live, mono: true,
		returns: returns}
	r.low = series.Line(at, live).Low
	high, low := first.live, first.live
	for i, p := range points {
		high, low = max(high, p.live), min(low, p.live)
		r.fall = max(r.fall, high-p.live)
		if i == 0 {
			continue
		}
		if points[i-1].live-p.live > 0.05*r.grown {
			r.mono = false
		}
		if step := p.live - points[i-1].live; step > r.step {
			r.second, r.step, r.stepTook = r.step, step, p.at-points[i-1].at
		} else {
			r.second = max(r.second, step)
		}
	}
	if high > low {
		r.fall /= high - low
	}
	r.reached = reachedBy(points, first.live+(1-cameToRest.v())*r.grown)
	if !(r.low > 0) && r.risesEvenly() {
		r.low = 0.5 * r.grown / (r.to - r.from) // too few for an interval, but all of them rise
	}
	if r.late = lateOf(points, r.grown, end); last.least && r.late < lateGrowth.v() {
		r.late = lateOf(points[:len(points)-1], r.grown, end) // a lower bound does not show a rest
	}
	return r
}

// reachedBy is when the readings first came to so many bytes.
func reachedBy(points []point, bytes float64) float64 {
	for _, p := range points {
		if p.live >= bytes {
			return p.at
		}
	}
	return points[len(points)-1].at
}

// risesEvenly reports whether so few readings that they have no interval rise all the same: each, and not
// by one step alone.
func (r *rise) risesEvenly() bool {
	if !r.mono || r.n < int(fewestReadings.v()) || r.n >= int(manyReadings.v()) || r.to <= r.from {
		return false
	}
	rest := r.to - r.from - r.stepTook
	return r.grown-r.step > lateGrowth.v()*r.grown*rest/(r.to-r.from)
}

// isSudden reports whether of many readings two alone rose by nearly all of the growth. It came at once: fewer than three readings,
// which every verdict of growth needs, show that it grew.
func (r *rise) isSudden() bool {
	return r.n >= int(manyReadings.v()) && r.grown > 0 && r.step+r.second >= (1-blamedPart.v())*r.grown
}

// warm leaves out the readings before a time. Where too few are left, or all of them lie together at the
// end of what was seen, what was live at that time is one, as its neighbours tell.
func warm(points []point, from float64) []point {
	first := sort.Search(len(points), func(i int) bool { return points[i].at >= from })
	if first == 0 || len(points)-first >= int(fewestReadings.v()) && spread(points[first:], from) >= spreadReadings.v() {
		return points[first:]
	}
	if first == len(points) {
		return points
	}
	k := curve{points: points}
	return append([]point{{at: from, live: k.atTime(from)}}, points[first:]...)
}

// spread is the part of the time from an instant to the last reading that readings span.
func spread(points []point, from float64) float64 {
	last := points[len(points)-1].at
	return (last - points[0].at) / (last - from)
}

// apart takes readings of one instant for one: a collection, and a capture or a mark right after it.
// Their greatest counts, so that readings of one kind are compared. Many readings are left as they are.
func apart(points []point) []point {
	if len(points) >= int(manyReadings.v()) {
		return points
	}
	span := points[len(points)-1].at - points[0].at
	var out []point
	began := 0.0
	for _, p := range points {
		if n := len(out); n > 0 && p.at-began <= oneInstant.v()*span {
			p.live = max(p.live, out[n-1].live) // a collection counts what dies while it marks, a capture does not
			out[n-1] = p
			continue
		}
		out, began = append(out, p), p.at
	}
	return out
}

// lateOf is how fast it grew in the last third of the time to the end, as far as readings tell, as a
// part of how fast it grew on the whole: 1 for a straight line, 0 for one that came to rest.
// NaN where hardly a reading is in it, or none is there at all.
func lateOf(points []point, grown, end float64) float64 {
	if len(points) == 0 {
		return math.NaN()
	}
	first, last := points[0], points[len(points)-1]
	span := max(end, last.at) - first.at
	grown = min(grown, last.live-first.live)
	from := first.at + 2*span/3
	if seen := last.at - from; grown <= 0 || span <= 0 || seen < span/12 {
		return math.NaN()
	}
	k := curve{points: points}
	even := grown / (last.at - first.at)
	if late := after(points, first.at+span/2); len(late) >= int(manyReadings.v())/2 && len(points) >= int(manyReadings.v()) {
		at, live := (&curve{points: late}).floors(stretches) // work in flight moves single readings
		return series.Line(at, live).Slope / even
	}
	return (last.live - k.atTime(from)) / (last.at - from) / even
}

// after are the points from a time on.
func after(points []point, from float64) []point {
	return points[sort.Search(len(points), func(i int) bool { return points[i].at >= from }):]
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
	up := c.risenFrom(max(c.curve.floorEnd, min(c.rise.from, longRise.v()))) // what is loaded at the start is no growth
	if len(up) < int(enoughReadings.v()) {
		up = c.risenFrom(c.curve.floorEnd)
	}
	if len(up) < int(enoughReadings.v()) {
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

// risenFrom are the readings of the rise from an instant on.
func (c *Case) risenFrom(at float64) (up []point) {
	for _, p := range c.curve.points {
		if p.at >= at {
			up = append(up, p)
		}
	}
	if len(up) > 0 {
		up = apart(up)
	}
	return up
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

// goesOnGrowing reports whether the live heap rose by a part worth speaking of, and as fast at the end.
func (c *Case) goesOnGrowing() bool {
	return c.rise.low > 0 && c.rise.material() && c.rise.late >= goneOnGrowing.v()
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
