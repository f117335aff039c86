package explain

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// lineRise is how much a line itself held over the run, by captures of the heap and by its heap
// profiles: what a collection publishes is a reading of the one before it (runtime/mprof.go).
func (c *Case) lineRise(s *Site) rise {
	points := c.capturedOf(s)
	seen := uint32(0)
	for _, k := range s.Course {
		if k.Cycle == seen || k.Cycle <= 1 { // the first collection publishes nothing yet
			continue
		}
		seen = k.Cycle
		points = append(points, point{at: c.asOf(&k), live: float64(k.Bytes), alloc: float64(k.Allocated)})
	}
	if c.SiteView == "live" || s.Cycle > seen {
		points = append(points, point{at: c.outcome.MomentElapsed, live: float64(s.Bytes), alloc: float64(s.Allocated + s.Since)})
	}
	sorting.Stable(points, func(a, b point) int { return cmp.Compare(a.at, b.at) })
	if len(points) == 0 {
		return rise{}
	}
	last := points[len(points)-1].at
	return riseOf(points, warmUp.v()*last, last, 0)
}

// asOf is the time that a line's published bytes tell of: the end of the collection before the one that
// published them (runtime/mprof.go), or when they were read where that was not seen.
func (e *Evidence) asOf(k *SiteSnapshot) float64 {
	i := sort.Search(len(e.Cycles), func(i int) bool { return e.Cycles[i].N+1 >= k.Cycle })
	if i == len(e.Cycles) || e.Cycles[i].N+1 != k.Cycle {
		return k.At
	}
	return e.seconds(e.Cycles[i].At)
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
		if r := c.lineRise(s); r.n >= int(enoughReadings.v()) && r.low > 0 && r.grownMuch() && r.grown > best.grown && c.shows(r) &&
			r.grown >= leastGrownShare.v()*c.curve.last {
			best, line = r, s
		}
	}
	if line != nil {
		c.rise, c.site, c.ofLine = best, line, true
	}
}

// shows reports whether the live heap grew from half-way through a line's rise on as it must have if
// the line did. What hides it is in flight for a while: one reading of several is enough.
func (c *Case) shows(r rise) bool {
	if len(c.curve.points) == 0 {
		return true
	}
	half := (r.from + r.to) / 2
	most, last := math.Inf(-1), 0.0
	for _, p := range c.curve.points {
		if p.at > half {
			most, last = max(most, p.live), p.at
		}
	}
	expected := r.grown / (r.to - r.from) * (last - half)
	return !(expected > leastGrown.v()) || most-c.curve.atTime(half) >= lateGrowth.v()*expected
}

// lateGrowthOf is what a line holds more than half-way through the run.
func (e *Evidence) lateGrowthOf(s *Site, from, to float64) float64 {
	return e.grownSince(s, from+(to-from)/2)
}

// grownSince is what a line holds more than at a time: what was in use then is compared with what is
// now, and no more can have grown than was allocated since. Captures of the heap tell it first: a
// published profile is one or two collections old.
func (e *Evidence) grownSince(s *Site, at float64) float64 {
	was, allocated, seen := 0.0, sample.Bytes(0), false
	for i := range s.Course {
		k := &s.Course[i]
		if k.At <= at {
			allocated = k.Allocated
		}
		if e.asOf(k) <= at {
			was, seen = float64(k.Bytes), true
		}
	}
	now := s.holds()
	for _, k := range e.capturedOf(s) {
		switch {
		case k.at <= at:
			was, seen = k.live, true
		case e.SiteView != "live" && k.at >= e.linesReadAt():
			now = k.live
		}
	}
	if !seen {
		return now
	}
	grown := now - was
	if allocated > 0 {
		grown = min(grown, float64((s.Allocated + s.Since).Sub(allocated)))
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

// isMore reports whether a line's growth is more than the error of sampling. What was sampled before
// is the same in both readings: only what came is uncertain.
func (e *Evidence) isMore(grown float64) bool { return grown > 2*math.Sqrt(grown*float64(e.Rate)) }

// blamed is the line that grew most in the second half of the rise, by more than twice the error of the
// sampling. A rise that many lines of one package make together counts for the greatest of them. Where
// nothing grew it is the line whose memory came and went; else the one that grew most; else that which holds most.
// nil where there is none.
func (e *Evidence) blamed(r rise, to float64) *Site {
	if len(e.Sites) == 0 {
		return nil
	}
	if !r.grownMuch() && (r.fall >= fellBack.v() || r.returns > 0) {
		if s := e.swungMost(); s != nil {
			return s
		}
	}
	if best := e.grewMost(r, to); best != nil {
		return best
	}
	best := &e.Sites[0]
	for i := range e.Sites {
		if s := &e.Sites[i]; s.Growth > best.Growth && s.Growth > 2*int64(s.Error) {
			best = s
		}
	}
	return best
}

// grewMost is the line that grew most in the second half of the rise, nil where none did by a part worth
// speaking of, alone or with the others of its package.
func (e *Evidence) grewMost(r rise, to float64) (best *Site) {
	from := r.from
	if read := e.linesReadAt(); read < to {
		from, to = min(from, read/2), read
	}
	most, together := 0.0, map[string]float64{}
	late := make([]float64, len(e.Sites))
	for i := range e.Sites {
		s := &e.Sites[i]
		if len(s.Course) == 0 {
			continue
		}
		late[i] = min(e.lateGrowthOf(s, from, to), float64(s.Bytes+s.Since)) // what it no longer holds is no growth
		if s.beganLate(from, to) {
			late[i] *= passingPart.v() // what made the rise allocated before
		}
		if s.turnover(from, to) >= turnedOver.v() && !(s.FreedOfHeld.OK && s.FreedOfHeld.V <= freedLittle.v()) && !s.neverFell(from) {
			late[i] *= passingPart.v() // it comes and goes
		}
		together[heapdiff.PackageOf(s.Function)] += late[i]
	}
	for i := range e.Sites {
		s := &e.Sites[i]
		enough := late[i] >= blamedPart.v()*max(r.grown, leastGrown.v()) || together[heapdiff.PackageOf(s.Function)] >= heldByRoot.v()*lateShare.v()*r.grown
		if late[i] > most && enough && e.isMore(e.grownSince(s, from)) {
			best, most = s, late[i]
		}
	}
	return best
}

// neverFell reports whether many collections found more and more of what the line allocated, however much of it was freed
// meanwhile: so does a queue, and no work that comes and goes.
func (s *Site) neverFell(from float64) bool {
	readings, most := 0, 0.0
	for i := range s.Course {
		k := &s.Course[i]
		if k.At < from || i > 0 && k.Cycle == s.Course[i-1].Cycle {
			continue
		}
		if readings++; float64(k.Bytes) < (1-flatShare.v())*most {
			return false
		}
		most = max(most, float64(k.Bytes))
	}
	return readings >= int(manyReadings.v())
}

// beganLate reports whether a line had allocated nothing when the rise, of some seconds, was nearly over.
func (s *Site) beganLate(from, to float64) bool {
	late := to - (to-from)*lateGrowth.v()
	return to-from >= shortestRise.v() && slices.ContainsFunc(s.Course, func(k SiteSnapshot) bool { return k.At >= late && k.Allocated == 0 && k.Bytes == 0 })
}

// swungMost is the line whose memory came and went most: by what was in use at looks over the whole run, the
// greatest less the least. nil where no line's did by a part worth speaking of what the live heap was.
func (e *Evidence) swungMost() (best *Site) {
	most := 0.0
	for i := range e.Sites {
		s := &e.Sites[i]
		if swing := s.swing(); swing > most && e.isMore(swing) && swing >= leastGrown.v() {
			best, most = s, swing
		}
	}
	return best
}

// swing is how much of what the line held at one look was not there at another, 0 where it is the smaller
// part: what is loaded once does not come and go. What is certainly gone after the moment counts, too.
func (s *Site) swing() float64 { return max(s.swingBefore(), float64(s.Gone)) }

// goneLines notes of each line what is certainly gone later.
func (c *Case) goneLines() {
	least := math.Inf(1)
	for _, p := range c.curve.points {
		if p.at > c.outcome.MomentElapsed && !p.least {
			least = min(least, p.live)
		}
	}
	for i := range c.Sites {
		s := &c.Sites[i]
		if gone := float64(s.Bytes) - least; gone >= heldByRoot.v()*float64(s.Bytes) {
			s.Gone = sample.Bytes(gone)
		}
	}
}

func (s *Site) swingBefore() float64 {
	low, high := float64(s.Bytes), float64(s.Bytes)
	for i := range s.Course {
		if k := &s.Course[i]; k.Cycle > 1 { // the first collection publishes nothing yet
			low, high = min(low, float64(k.Bytes)), max(high, float64(k.Bytes))
		}
	}
	if len(s.Course) == 0 || high-low < heldByRoot.v()*high {
		return 0
	}
	return high - low
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

// turnover is how much of what the blamed line held half-way through was freed since. NaN: of the stacks
// that hold it hardly anything was ever freed, so what was freed is of others.
func (c *Case) turnover() float64 {
	if c.site.FreedOfHeld.OK && c.site.FreedOfHeld.V <= freedLittle.v() {
		return math.NaN()
	}
	return c.site.turnover(c.rise.from, c.rise.to)
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

// passing is how much of what the line allocated was freed, unless a long-lived variable retains the rest and the live heap grew
// for long, at many readings, and never fell back: then the line makes what passes through as well as what stays.
func (c *Case) passing() float64 {
	if c.kept.lasting >= heldByRoot.v() && c.rise.n >= int(manyReadings.v()) && c.rise.to-c.rise.from >= longRise.v() && c.rise.returns == 0 {
		return 0
	}
	return c.freedShare()
}

// explains reports whether the blamed line is a part worth speaking of of what grew.
func (c *Case) explains() bool {
	return c.site != nil && (c.grownSince(c.site, c.rise.from) >= blamedPart.v()*c.rise.grown || c.grownTogether() >= heldByRoot.v()*c.rise.grown)
}

// grownTogether is what the lines of the blamed one's package grew by.
func (c *Case) grownTogether() (sum float64) {
	for i := range c.Sites {
		if s := &c.Sites[i]; heapdiff.PackageOf(s.Function) == heapdiff.PackageOf(c.site.Function) && len(s.Course) > 0 {
			sum += c.grownSince(s, c.rise.from)
		}
	}
	return sum
}

// errorOf is by how much the profile, which samples, may be too low about a part of what the line holds: the error of a
// sum of samples goes with the root of their number.
func (s *Site) errorOf(part float64) float64 {
	if s.Bytes == 0 {
		return 0
	}
	return float64(s.Error) * math.Sqrt(part/float64(s.Bytes))
}

// lineLate is how much the blamed line grew in the last quarter of the run, as a part of even
// growth: no more than was allocated there then. Where it is the smaller part of what grew, that is of all lines that grew.
// NaN: no look tells, or what is allocated there is kept until something releases it, or comes in steps, so that a rest is
// no end of it.
func (c *Case) lineLate() float64 {
	s, end := c.site, c.outcome.MomentElapsed
	if s == nil || s.Bytes == 0 || c.retainsByDesign() || c.betweenSteps() {
		return math.NaN()
	}
	lines := c.growing()
	if lines == nil {
		return math.NaN()
	}
	if after := c.readUntil(); end < 0.75*after { // the run went on after its peak
		return c.Ticks.grown(c.Ticks.Alloc, 0.75*after, after) / (float64(bytesOfLines(lines)) / 4)
	}
	full := c.fullAt()
	blind := full < end && !s.lookedIn(full*3/4, full)
	if blind {
		full = math.Inf(1) // what is known at the moment tells, unless the line waited for memory
	}
	late := math.NaN()
	for i := range s.Course {
		k := &s.Course[i]
		if k.At > min(end, full)*3/4 {
			continue
		}
		came, even := 0.0, 0.0
		for _, l := range lines {
			if i >= len(l.Course) || l == s && l.Course[i].Allocated == 0 {
				even = 0
				break
			}
			all := l.allocatedBy(min(end, full), full < end)
			evenly := float64(min(all, l.Bytes)) * (min(end, full) - k.At) / min(end, full)
			came, even = came+float64(all.Sub(l.Course[i].Allocated))+l.errorOf(evenly), even+evenly
		}
		if even > 0 {
			late = came / even
		}
	}
	if blind && late < lateGrowth.v() {
		return math.NaN()
	}
	return late
}

// lookedIn reports whether a look at the line lies between two times.
func (s *Site) lookedIn(from, to float64) bool {
	return slices.ContainsFunc(s.Course, func(k SiteSnapshot) bool { return k.At > from && k.At <= to })
}

// growing are the blamed line where it is most of what grew, else all lines of which looks are known that grew, where they
// are; nil where they are not.
func (c *Case) growing() (lines []*Site) {
	least := heldByRoot.v() * c.rise.grown
	if c.rise.grown <= 0 || c.grownSince(c.site, c.rise.from) >= least {
		return []*Site{c.site}
	}
	sum := 0.0
	for i := range c.Sites {
		s := &c.Sites[i]
		if grew := c.grownSince(s, c.rise.from); len(s.Course) == len(c.site.Course) && s.Bytes > 0 && grew >= partOfGrower.v()*c.grownSince(c.site, c.rise.from) {
			lines, sum = append(lines, s), sum+grew
		}
	}
	if sum < least || len(c.site.Course) == 0 {
		return nil
	}
	return lines
}

// allocatedBy is what a line had allocated until a time: by the last look before it where asked for, else all that is known.
func (s *Site) allocatedBy(end float64, byLook bool) (all sample.Bytes) {
	if !byLook {
		return s.Allocated + s.Since
	}
	for i := range s.Course {
		if s.Course[i].At <= end {
			all = s.Course[i].Allocated
		}
	}
	return all
}

func bytesOfLines(lines []*Site) (n sample.Bytes) {
	for _, s := range lines {
		n += s.Bytes
	}
	return n
}
