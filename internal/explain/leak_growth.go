package explain

import (
	"fmt"
	"slices"

	"github.com/highwater-go/highwater/internal/sample"
)

// unwatchedEnd: nothing is known of the live heap in the last third of the time,
// as there was no collection and no mark.
func (c *Case) unwatchedEnd() bool {
	k := c.curve.points
	return k[len(k)-1].at < 2*c.outcome.Elapsed/3
}

// profiledHeld is what the heap profile says of all lines together.
func (c *Case) profiledHeld() (held float64) {
	for _, s := range c.Sites {
		held += float64(s.Bytes + s.Since)
	}
	return held
}

// goroutinesOf is their number at an earlier time and at the moment, 0 where it
// was not read.
func (c *Case) goroutinesOf(earlier float64) (before, after float64) {
	at, n := c.untilMoment(c.Ticks.Goroutines)
	if len(n) == 0 {
		return 0, 0
	}
	return n[nearestTo(at, earlier)], n[len(n)-1]
}

// unmarked is the part of all that was allocated that came after the last point
// of the curve: what it was is not known.
func (c *Case) unmarked() float64 {
	if c.g == nil || c.curve.exact || c.g.TotalAlloc == 0 {
		return 0
	}
	last := c.curve.points[len(c.curve.points)-1].alloc
	return max(0, float64(c.g.TotalAlloc)-last) / float64(c.g.TotalAlloc)
}

// fewest is the number of readings below which growth cannot be told: of four
// that rise, chance makes one in twelve.
const fewest = 5

// notGrowing says why the live heap does not grow as a leak does, "" if it does.
func notGrowing(c *Case, grown float64) string {
	k := c.curve
	switch {
	case len(k.points) == 0:
		return "no collection was seen"
	case len(k.points) < fewest:
		return fmt.Sprintf("only %s of the live heap, and none of them large", count(len(k.points), "reading"))
	case grown < 8*float64(sample.MiB) || grown < 0.25*k.last:
		return fmt.Sprintf("the live heap did not grow: %s after the first collection, %s at the end", fsize(k.first), fsize(k.last))
	case c.pressed && grown < 0.15*float64(c.bound):
		return fmt.Sprintf("the live heap grew by %s only", fsize(grown))
	case len(k.returns) > 0 && k.returns[len(k.returns)-1] <= k.first+0.1*grown:
		return fmt.Sprintf("the live heap came back to %s after %s", fsize(k.returns[len(k.returns)-1]), earlier(len(k.returns)))
	case k.trend.Low <= 0:
		return "the live heap shows no steady growth"
	case k.drop > 0.25*grown && k.low < k.first+0.5*grown: // a fall that is made up for is the unrest of work in flight
		return fmt.Sprintf("the live heap came back: it fell by %s", fsize(k.drop))
	case k.tail < 0.15*grown:
		return "the live heap stopped growing while the program went on allocating"
	case c.endedWell() && c.stillFilling():
		return fmt.Sprintf("it came to its own end after %s, as a job does that keeps what it works on", seconds(c.outcome.Elapsed))
	case c.endedWell() && c.fits(grown) && c.slowsDown():
		return "it came to its own end, and less and less of what it allocated stayed, as in a cache that fills up"
	case c.fits(grown) && c.unwatchedEnd():
		return fmt.Sprintf("its last collection was after %s: nothing says that the live heap grew any more", seconds(k.points[len(k.points)-1].at))
	case (c.outcome.Kernel || c.fits(grown)) && c.rests(grown) && (!c.keeps() || c.slight(grown)):
		return "the live heap grew early, and no more"
	}
	return ""
}

// fits: memory was not short, and as much growth again would still fit.
func (c *Case) fits(grown float64) bool {
	return !c.pressed && (c.limit == 0 || c.hardPeak()+grown < float64(c.limit))
}

// slight: memory was not short, and twenty times as much growth would still fit under the
// limit.
func (c *Case) slight(grown float64) bool { return c.limit > 0 && c.fits(20*grown) }

// rests: over the last third of the time hardly anything was added to the live heap,
// or could have been, as next to nothing was allocated. One that stands at its limit
// allocates nothing for want of memory.
func (c *Case) rests(grown float64) bool {
	late := 2 * c.outcome.Elapsed / 3
	idle := !c.pressed && c.Ticks.grown(c.Ticks.Alloc, late, c.outcome.Elapsed) < grown/20 // NaN compares false
	return idle || c.curve.last-c.lastBefore(late).live < grown/20
}

// lastBefore is the last reading before an instant, else the first of all.
func (c *Case) lastBefore(at float64) point {
	best := c.curve.points[0]
	for _, p := range c.curve.points {
		if p.at > at {
			break
		}
		best = p
	}
	return best
}

// keeps: what was allocated at the line is kept by its nature, as its cause tells.
func (c *Case) keeps() bool {
	k := c.cause(Leak)
	return k != nil && k.Kept
}

// endedWell: the program came to its own end.
func (c *Case) endedWell() bool {
	o := &c.outcome
	return o.State == Exited && o.Stopped == "" && o.ExitCode != nil && *o.ExitCode == 0
}

// halves are the parts of newly allocated bytes that stayed in the first and the
// second half of the allocations of the rise; ok is false where too little was
// seen.
func (c *Case) halves() (early, late float64, ok bool) {
	var rise []point
	for _, p := range c.curve.points {
		if p.at >= c.curve.floorEnd {
			rise = append(rise, p)
		}
	}
	if len(rise) < 2*fewest {
		return 0, 0, false
	}
	first, last := rise[0], rise[len(rise)-1]
	middle := (first.alloc + last.alloc) / 2
	if half := middle - first.alloc; half > 0 {
		live := c.curve.at(middle)
		return (live - first.live) / half, (last.live - live) / half, true
	}
	return 0, 0, false
}

// slowsDown: of what is newly allocated half as much stays as before, or less.
func (c *Case) slowsDown() bool {
	early, late, ok := c.halves()
	return ok && late < 0.5*early
}

// stillFilling: the live heap grew from the program's start, its end came within a
// minute or it was a job, and a tenth of all that was allocated stayed or more, or the
// job was done: a program that loads what it needs does the same. On a busy machine it
// may take a while to begin: one that came to its own end had a start in bytes
// allocated, too.
func (c *Case) stillFilling() bool {
	k := c.curve
	first, last := k.points[0], k.points[len(k.points)-1]
	kept := (last.live - first.live) / max(1, last.alloc-first.alloc)
	fromStart := k.floorEnd < 0.2*c.outcome.Elapsed || c.endedWell() && c.lastBefore(k.floorEnd).alloc < 0.1*last.alloc
	return (c.outcome.Elapsed < 60 || c.isJob()) && fromStart && (kept >= 0.1 || c.endedWell() && c.isJob())
}

// isJob: the program was seen from its start, for less than the time in which slow
// growth shows, and served nobody: no goroutine waited for connections. How long a
// job takes is the machine's doing as much as its own.
func (c *Case) isJob() bool {
	if c.Watched || c.Load != "" || c.outcome.Elapsed >= longEnough || len(c.goroutines()) == 0 {
		return false
	}
	return !slices.ContainsFunc(c.goroutines(), func(g sample.GoroutineGroup) bool { return stands(g.Where, accepts) })
}

// accepts is where a goroutine waits for the next connection, of whatever server.
const accepts = "internal/poll.(*FD).Accept"
