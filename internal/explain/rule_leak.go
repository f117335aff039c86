package explain

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/sample"
)

var leakPage = Page{
	Truth: "The live heap grows with work or time and does not come back.",
	Looks: []string{
		"What each collection found live, and a mark from the roots at the moment: the growth's line and its 95 % interval, how far it ever fell back, and whether it still grew in the last third of all allocation.",
		"The line whose objects grew most, how much of what it allocated was ever freed, and whether its memory outlived the calls that allocated it.",
		"Whether the growth slows down while the program goes on allocating, as a cache's does that fills up.",
	},
	Blind: []string{
		"A cache or a data set that is still being filled looks alike; where the program ended within a minute, or within ten and served nobody, the answer says so.",
		"What holds the objects where the heap was not captured (--heap): the line is the one that allocated them.",
		"Growth per unit of work where no counter of the work was recorded; it is then per byte allocated.",
	},
	Example: "slow leak, still running",
}

// judgeLeak: the live heap grows and does not come back. What may be a leak is none to
// speak of in a program that ended by itself with room for as much again.
func judgeLeak(c *Case) Finding {
	f := judgeGrowth(c)
	if f.Stance == Open && c.endedWell() && c.fits(float64(f.Bytes)) {
		return silent("it came to its own end, with room for as much again", f.Facts...)
	}
	return f
}

// judgeGrowth: what collections found live rises with an interval above zero, hardly
// ever falls and still rises in the last third of all allocation; the blamed line's
// objects are not freed; and they outlive the calls that made them. The last point
// tells a leak from one long call: a live heap that only rose from the start looks
// alike in both.
func judgeGrowth(c *Case) Finding {
	k := c.curve
	grown := k.last - k.first
	if c.wholeValues() > 0 && c.filling() {
		return silent(fmt.Sprintf("%s was still being filled by %s", size(c.site.Largest), ShortFunc(c.builder())), c.factSite())
	}
	if c.pressed && len(k.points) < fewest && c.live.bytes > c.bound/4 {
		readings := "only " + count(len(k.points), "reading")
		if len(k.points) == 0 {
			readings = "no collection ended and no mark was made: there is no reading"
		}
		bytes, n := float64(c.live.bytes), len(k.points)
		if c.live.exact && c.liveFits() || n > 1 && k.last-k.points[n-2].live < k.last/20 {
			bytes = 0 // it may be a leak's beginning, but explains nothing
		}
		return undecided(bytes, readings+" of the live heap: too few to see whether it grows", c.factLive())
	}
	if reason := notGrowing(c, grown); reason != "" {
		return silent(reason, c.factCurve())
	}
	if c.site == nil {
		return lineless(c, grown)
	}
	facts := []Fact{c.factCurve(), c.factSite(), c.factCalls()}
	switch {
	case c.profiledHeld()*4 < grown: // a heap may double twice before its profile is published
		return undecided(grown, fmt.Sprintf("the last heap profile that was read shows only %s of it: it is from before most of the growth", fsize(c.profiledHeld())), facts...)
	case c.unwatchedEnd():
		return undecided(grown, fmt.Sprintf("the live heap had grown to %s, and no collection and no mark tells of the last third of the time", fsize(k.last)), facts...)
	case c.rests(grown) && !c.keeps():
		return undecided(grown, fmt.Sprintf("%s grew early and were still held at the end: whether it is data that the program needs, or would grow again, was not seen", fsize(grown)), facts...)
	case !c.site.Own && c.site.Function != "" && k.points[len(k.points)-1].at-k.points[0].at < longEnough:
		return undecided(grown, fmt.Sprintf("%s allocates in a library's own goroutine: for whom, and for how long, was not seen", place(c.site.File, c.site.Line)), facts...)
	}
	if c.pilingUp() {
		return undecided(grown, fmt.Sprintf("%d goroutines stood inside %s and only became more: whether they would ever end was not seen", c.flight.calls, ShortFunc(c.flight.name)), facts...)
	}
	if c.withinRequests() {
		return undecided(grown, fmt.Sprintf("it was allocated for requests that were still being served, %s of %s", count(c.flight.calls, "call"), ShortFunc(c.flight.name)), facts...)
	}
	switch c.flight.call {
	case together:
		return silent(fmt.Sprintf("the memory came and went with the calls of %s in flight", ShortFunc(c.flight.name)), facts...)
	case always:
		return undecided(grown, fmt.Sprintf("calls of %s were in flight all the time that the memory grew: whether it outlives them was not seen", ShortFunc(c.flight.name)), facts...)
	case callsUnknown:
		if c.freedShare() > 0.1 || k.trend.N < 8 {
			return undecided(grown, "no earlier moment shows both that much of it and the goroutines' stacks, so that one long call cannot be told from a leak", facts...)
		}
	}
	if c.freedShare() > 0.6 && c.flight.call != noCall {
		return undecided(grown, fmt.Sprintf("%.0f%% of what %s allocated was freed again", 100*c.freedShare(), place(c.site.File, c.site.Line)), facts...)
	}
	if c.rests(grown) {
		return restingFound(c, facts)
	}
	if c.unmarked() > 0.3 && (c.flight.call != noCall || k.trend.N < 8) {
		return undecided(grown, fmt.Sprintf("%s came after the last collection, and no mark says how much of it was live", size(c.g.HeapLive.Sub(c.g.HeapMarked))), facts...)
	}
	return leakFound(c, grown, facts)
}

func leakFound(c *Case, grown float64, facts []Fact) Finding {
	k, s := c.curve, c.site
	span := k.points[len(k.points)-1].at - k.points[0].at
	f := Finding{Stance: Speaks, Bytes: sample.Bytes(grown), Facts: facts, Culprit: culprit(s, "allocates")}
	part := size(s.Bytes)
	if float64(s.Bytes) > k.last { // by the error of the sampling
		part = "nearly all"
	}
	f.Sentence = fmt.Sprintf("The live heap%s grew from %s to %s in %s and never came back; %s of it was allocated at %s and %s.",
		c.of(), fsize(k.first), fsize(k.last), seconds(span), part, place(s.File, s.Line), c.held(s))
	f.Detail = "A leak, not a burst."
	f.Confidence, f.Because = leakConfidence(c)
	switch {
	case c.stillFilling():
		f.Detail = "A leak, or something that was still being filled; not a burst."
	case c.slowsDown():
		f.Detail = "A leak, or a cache that was filling up; not a burst."
	}
	f.Why = []Why{{Text: fmt.Sprintf("%s; %.0f%% of the line's bytes were ever freed", c.growthSeen(), 100*c.freedShare()), Evidence: []string{"curve", "site"}}}
	if g := c.run.Growth; g != nil && g.Low > 0 {
		f.Facts = append(f.Facts, c.factRun())
		f.Why[0] = Why{Text: fmt.Sprintf("%s; %.0f%% of the line's bytes were ever freed", c.paceWords(g), 100*c.freedShare()), Evidence: []string{"curve", "run", "site"}}
		if left := g.untilLimit(); left != "" && !c.outcome.Kernel {
			reached := "is"
			if c.outcome.State == Exited {
				reached = "would have been"
			}
			f.Sentence += fmt.Sprintf(" At that pace the limit of %s %s reached in %s.", limit(c.limit), reached, left)
		}
	}
	return f
}

// culprit is a line to blame; nil where the stack is not known.
func culprit(s *Site, role string) *Culprit {
	if s.Function == "" {
		return nil
	}
	return &Culprit{Function: s.Function, File: s.File, Line: s.Line, Bytes: s.Bytes, Role: role}
}
