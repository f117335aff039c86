package explain

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

var gcUnawarePage = Page{
	Truth: "The live heap fits the limit, but the GC target does not: Go does not know about the limit.",
	Looks: []string{
		"The live heap at the moment, as counted at the kill, or as expected from the last GCs.",
		"The GC target, GOGC and GOMEMLIMIT, against the limit and all memory that is not heap.",
		"How much of the heap was garbage at the moment, or free again and kept.",
	},
	Blind: []string{
		"Whether memory allocated since the last GC is live, if few GCs ran and the live heap was not counted at the moment. Then the answer is inconclusive.",
		"Whether a lower GC target costs much CPU: only a run tells.",
		"A heap above the GC target: allocation outran GC, or one large value did not fit. That is a high allocation rate or a burst, and no setting causes it.",
	},
	Example: "garbage over the limit",
}

// judgeGCUnaware speaks where the live heap would fit the limit, the heap that the collector aimed at does not, and
// nothing told it of the limit. It must be known how much of the heap was live: by a mark, or by what became of new
// memory before.
func judgeGCUnaware(c *Case) Finding {
	switch {
	case !c.pressed && c.collectorOff() && float64(c.uncollected()) >= max(leastGrown.v(), heldByRoot.v()*c.hardPeak()):
		return undecided(float64(c.uncollected()), "how far the heap would have grown", c.factLive())
	case c.bound == 0 || !c.pressed:
		return silent("memory usage stayed well below the limit", c.factOutcome())
	case c.g == nil:
		return silent("the state of GC was not read")
	}
	facts := []Fact{c.factLive(), c.factCollector(), c.factLedger()}
	if why := c.aimFits(); why != "" {
		return silent(why, facts...)
	}
	if c.reserves() {
		return silent("calls in flight reserved most of the live heap, and GC aims at twice that", facts...)
	}
	if why, bytes := c.garbageUnknown(); why != "" {
		return undecided(bytes, why, facts...)
	}
	return gcUnawareFound(c, facts)
}

// uncollected is what was allocated since the last collection, or where there was none, since the start.
func (c *Case) uncollected() sample.Bytes { return c.g.HeapLive.Sub(c.g.HeapMarked) }

// aimFits says why the collector's aim was not what made the heap too large, "" if it was.
func (c *Case) aimFits() string {
	if !c.liveFits() {
		return fmt.Sprintf("the live heap and other memory alone need %s of %s", size(c.liveNeeds()+c.nonHeap()), limit(c.bound))
	}
	if before := c.g.HeapMarked.Sub(c.neverWritten()) + c.nonHeap(); c.live.exact && before > c.bound {
		return fmt.Sprintf("the GC before found %s live, which does not fit %s either", size(c.g.HeapMarked), limit(c.bound))
	}
	if c.floats() {
		return fmt.Sprintf("the GC target of %s comes from what was allocated while GC ran", goal(c.g.HeapGoal))
	}
	if n := c.largestValue(); 2*n+c.nonHeap() > c.bound {
		return fmt.Sprintf("one value takes %s, and GC runs only once it was allocated: with one before it that is garbage already it does not fit %s",
			size(n), limit(c.bound))
	}
	// Free slots between objects make a heap about a tenth larger than its goal.
	if aim := min(c.g.HeapGoal, unlimited)*11/10 + c.nonHeap(); aim < c.bound*95/100 {
		return fmt.Sprintf("the GC target of %s fits the limit", goal(c.g.HeapGoal))
	}
	if l, ok := c.memoryLimit(); ok && l <= c.bound.Sub(c.outside()) {
		return fmt.Sprintf("GOMEMLIMIT=%s fits the limit", units.Env(l))
	}
	if c.spare() < c.bound*15/100 {
		return fmt.Sprintf("only %s of the heap was garbage or free", size(c.spare()))
	}
	return ""
}

// largestValue is the size of the largest object that the heap profile knows.
func (c *Case) largestValue() (n sample.Bytes) {
	for i := range c.Sites {
		n = max(n, c.Sites[i].Largest)
	}
	return n
}

// garbageUnknown says why it is not known whether less garbage would have been enough, "" if it is,
// and how many bytes that may explain.
func (c *Case) garbageUnknown() (why string, bytes float64) {
	if !c.live.known {
		return "what was allocated since the last GC may be live or garbage, and too few GCs were seen to tell", float64(c.spare())
	}
	if c.goesOnGrowing() && c.rising() && !c.muchRoom() {
		return "whether less garbage would have been enough, because the live heap was still growing", c.beyondPace()
	}
	if c.rise.n < int(fewestReadings.v()) && c.firstRise() && c.liveNeeds()+c.nonHeap() > c.bound*70/100 {
		return "whether less garbage would have been enough, because the live heap was " + readTimes(c.rise.n), c.beyondPace()
	}
	if !c.live.exact && c.rising() {
		return "how much of the heap was garbage, because the live heap grew and was last read " + seconds(c.outcome.MomentElapsed-c.rise.to) + " before",
			float64(c.spare())
	}
	if others := c.others(); others > c.bound/2 && c.othersGrew() {
		return fmt.Sprintf("whether less garbage would have been enough, because other processes used %s and were still growing", size(others)), 0
	}
	return "", 0
}

// muchRoom reports whether the program's own GOGC let garbage fill the limit, and with Go's default twice what was live, with all that is
// not heap, would have left a fifth of it: whatever the live heap becomes later, the kill came of the garbage.
func (c *Case) muchRoom() bool {
	return c.g.GOGC > 100 && c.live.exact && 2*c.liveNeeds()+c.nonHeap() <= c.bound*80/100
}

// beyondPace is the garbage beyond what a live heap of that size brings with it under GOGC: no other cause is
// needed for that part.
func (c *Case) beyondPace() float64 {
	return max(0, float64(c.spare())-float64(c.live.bytes)*float64(max(0, c.g.GOGC))/100)
}

// liveFits reports whether what was live, and all that is not heap, leave a fifth of the limit.
func (c *Case) liveFits() bool { return c.liveNeeds()+c.nonHeap() <= c.bound*80/100 }

// liveNeeds is what the live heap needs of the limit: what is never written needs nothing.
func (c *Case) liveNeeds() sample.Bytes { return c.live.bytes.Sub(c.neverWritten()) }

// neverWritten is what of the live heap has no page, and will have none: a ballast that moves the goal. What
// grows may be written yet.
func (c *Case) neverWritten() sample.Bytes {
	if c.rise.grownMuch() {
		return 0
	}
	return c.untouched()
}

// spare is what a collector that knew the limit would not have needed: garbage, and
// what was free again while the goal was still far away, so that it was kept.
func (c *Case) spare() sample.Bytes { return c.waste() + c.own.Row(sample.RowIdle) }

// rising reports whether the live heap never came back, whatever a buffer that is copied adds and frees, most of it came
// while it was watched, and it had not slowed down at the end.
func (c *Case) rising() bool {
	r := c.rise
	up := r.mono || r.returns == 0 && r.fall < fellBack.v()
	return up && r.n >= int(fewestReadings.v()) && r.grown > r.last/4 && r.late > 0.5
}

// gcUnawareFound blames the setting. Where a mark tells whose garbage it was, that
// line stands with it; it need not be wrong.
func gcUnawareFound(c *Case, facts []Fact) Finding {
	f := Finding{Stance: Speaks, Bytes: c.spare(), Facts: facts, Confidence: Medium,
		Culprit: &Culprit{Place: sample.Place{Function: "GOMEMLIMIT"}, Bytes: c.spare(), Role: "config"}}
	if top, all := c.most(func(a *Allocator) sample.Bytes { return a.Garbage }); top != nil && top.Garbage*4 > all &&
		float64(top.Garbage) >= blamedPart.v()*float64(c.spare()) {
		f.Culprit = &Culprit{Place: top.Place, Bytes: top.Garbage, Role: "config"}
	}
	about := "About "
	if c.live.exact {
		about = "Only "
		f.Confidence, f.Because = High, []string{"the live heap was counted exactly at the end"}
		switch {
		case c.rising() || c.rise.low > 0 && c.rise.grownMuch():
			f.Confidence = Medium
			if f.Because = append([]string{doubtStillGrowing}, f.Because...); c.outcome.MomentElapsed < shortestRise.v() {
				f.Confidence = Low // garbage or what is being loaded: one of them came first
			}
		case c.tooShort():
			if f.Confidence = Medium; c.firstRise() && c.g.GOGC <= 100 {
				f.Confidence = Low // with Go's own setting any first rise has as much garbage
			}
			f.Because = append([]string{fmt.Sprintf("the program ran for only %s", seconds(c.outcome.MomentElapsed))}, f.Because...)
		}
	} else {
		f.Because = []string{fmt.Sprintf("over the last GCs, %.0f%% of new memory stayed", 100*c.live.share)}
	}
	pile := size(c.waste()) + " of garbage"
	if c.own.Row(sample.RowIdle) > c.waste()/2 {
		pile = size(c.spare()) + " of garbage and free heap"
	}
	f.Sentence = fmt.Sprintf("%s%s of the %s Go heap%s was live. Another %s had piled up, because %s.",
		about, size(min(c.live.bytes.Sub(c.untouched()), c.heap())), size(c.heap()), // both as the kernel counts them
		c.of(), pile, c.aimedPast())
	f.Detail = "Go does not know about the memory limit."
	if _, set := c.memoryLimit(); set {
		f.Detail = "GOMEMLIMIT does not fit the memory limit."
	}
	f.Why = []Why{{Text: c.collectorWhy(), Evidence: []string{"collector", "live"}}}
	return f
}

// aimedPast is how the goal and the limit stand to each other, in words.
func (c *Case) aimedPast() string {
	aim := "the next GC was due only at " + goal(c.g.HeapGoal)
	if c.g.HeapGoal >= unlimited {
		aim = "GOGC is off"
	}
	if c.limit == 0 {
		return aim
	}
	if others := c.others(); others > c.limit/20 {
		return fmt.Sprintf("%s, under a limit of %s of which other processes used %s", aim, limit(c.limit), size(others))
	}
	if c.g.HeapGoal < c.limit {
		return fmt.Sprintf("%s, too close to the limit of %s", aim, limit(c.limit))
	}
	return fmt.Sprintf("%s, above the limit of %s", aim, limit(c.limit))
}

// collectorWhy says what the collector knew of the limit.
func (c *Case) collectorWhy() string {
	aim := "with GOGC=off nothing bounds the heap"
	if c.g.GOGC >= 0 {
		aim = fmt.Sprintf("with GOGC=%d the heap may grow to %s the live heap", c.g.GOGC, timesTheLive(c.g.GOGC))
	}
	if l, ok := c.memoryLimit(); ok {
		if l >= c.bound {
			return fmt.Sprintf("GOMEMLIMIT=%s is not below the limit of %s, so Go does not keep the heap below that limit", units.Env(l), limit(c.bound))
		}
		if l > c.bound.Sub(c.outside()) {
			return fmt.Sprintf("GOMEMLIMIT=%s is too high, because Go does not count %s of the memory", units.Env(l), size(c.outside()))
		}
		return fmt.Sprintf("GOMEMLIMIT=%s is set and fits the limit", units.Env(l))
	}
	return "GOMEMLIMIT is not set, so " + aim + ", whatever the limit"
}

// timesTheLive is how far GOGC lets the heap grow, in words.
func timesTheLive(gogc int32) string {
	if gogc == 100 {
		return "twice"
	}
	return fmt.Sprintf("%.3g times", 1+float64(gogc)/100)
}
