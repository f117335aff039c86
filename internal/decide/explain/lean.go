package explain

import (
	"math"
	"slices"
)

// lean is what a program most likely suffered from that was killed in its first rise, where no rule is
// sure: so little was seen that each waits for more, and a killed program has no more to give. The answer is
// of low confidence. What the program did meanwhile tells the forms of such a rise apart: one that waits
// between two pieces of work, or whose calls returned and left their memory behind, keeps that memory; one that worked
// without a pause was loading, or held what it worked on; a call that had not returned may be giving it back.
// nil: nothing tells.
func (c *Case) lean(findings []Finding) *Finding {
	if !c.firstRise() || c.site == nil || c.site.Function == "" || c.momentUnusable() {
		return nil
	}
	var f Finding
	switch {
	case c.leansToPile(findings):
		p, _ := c.risenGoroutines()
		c.measurePile(&p)
		f = goroutineLeakFound(c, p, []Fact{c.factGoroutines(p), c.factCurve(), c.factSite()})
		f.Class, f.Detail = Goroutines, "Probably a goroutine leak."
	case c.leansToLeak(findings):
		f = leakFound(c, weigh(c.features, leakEvidence), []Fact{c.factCurve(), c.factSite(), c.factCalls()})
		f.Class = Leak
	case c.workedOn() && c.live.exact && c.live.bytes*2 >= c.bound:
		f = c.loadingFound()
	case c.rise.to-c.rise.from < shortestRise.v() && c.openCall() == 1 && openOrSpeaks(findings, Burst) && !c.ofLittle():
		f = burstFound(c)
		f.Class, f.Bytes, f.Detail = Burst, c.heap(), "Probably work in flight, not a leak."
		f.Facts = []Fact{c.factCurve(), c.factSite(), c.factCalls()}
	default:
		return nil
	}
	f.Stance, f.Confidence = Speaks, Low
	f.Because = append([]string{doubtCutShort}, f.Because...)
	return &f
}

// leansToPile reports whether goroutines that only became more, and wait at one place, retain most of what was live, and
// are no calls inside the line that allocated it: nothing but more time would tell whether they end.
func (c *Case) leansToPile(findings []Finding) bool {
	p, reason := c.risenGoroutines()
	return openOrSpeaks(findings, Goroutines) && reason == "" && c.proc != nil && c.proc.Goroutines != nil &&
		c.kept.frames >= heldByRoot.v() && float64(c.inFlight.calls) < lateGrowth.v()*p.last
}

// leansToLeak reports whether what little was seen of the growth speaks for a leak, and more for it than for calls in
// flight: that memory stayed where no call was at work, or after those that had made it.
func (c *Case) leansToLeak(findings []Finding) bool {
	leak, burst := weigh(c.features, leakEvidence).score, weigh(c.features, burstEvidence).score
	stayed := c.paced() == 1 || c.inFlight.left >= leftBehind.v()
	return openOrSpeaks(findings, Leak) && stayed && leak > openScore.v() && leak > burst
}

// workedOn reports whether something of the program ran at nearly every look: it did not wait for work. Where there
// were too few looks to tell, the call that allocates must not have returned.
func (c *Case) workedOn() bool {
	if math.IsNaN(c.running()) {
		return c.openCall() == 1
	}
	return (c.running() >= busyCore.v() || c.flatOut() == 1) && c.paced() != 1
}

// openOrSpeaks reports whether a class is not ruled out.
func openOrSpeaks(findings []Finding, class Class) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Class == class && f.Stance != Silent })
}

// loadingFound is a program that needed more than the limit before it had come to rest.
func (c *Case) loadingFound() Finding {
	f := Finding{Class: Baseline, Bytes: c.live.bytes + c.nonHeap(), Facts: []Fact{c.factCurve(), c.factLive(), c.factSite(), c.factCalls()},
		Culprit: culprit(c.site, "allocates")}
	f.Sentence = c.firstRiseSentence()
	f.Detail = "Probably too small a limit for what the program loads or works on."
	f.Why = []Why{{Text: "the call that allocated the memory had not returned", Evidence: []string{"site", "calls"}}}
	if c.running() >= busyCore.v() {
		f.Why[0].Text = "goroutines of the program ran at nearly every look, as in a program that loads its data"
	}
	return f
}
