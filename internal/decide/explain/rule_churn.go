package explain

import (
	"fmt"
	"math"

	"github.com/highwater-go/highwater/internal/words/sample"
)

var churnPage = Page{
	Truth: "The allocation rate, not retained memory, drives up the heap or the CPU time of GC.",
	Looks: []string{
		"Bytes allocated a second, the number of GCs, and the share of the CPU time that GC took.",
		"The lines by bytes allocated over the whole run, live or not. One must account for three fifths, so that there is something to change, and its GCs must take a fifth of the CPU time.",
		"Whether the line is known to repeat work that could be done once, such as regexp.Compile for every value. Then a twentieth is enough.",
		"At a kill: a heap far above the GC target, most of it garbage, while the live heap and the GC target both fit the limit. Then allocation outran the GC that was running.",
		"A GC target above the limit, where GC ran all the time and its last run counted far more as live than was reachable: what is allocated while GC runs counts as live.",
	},
	Blind: []string{
		"Whether the work could be done with less memory: that needs two runs. A fault that adds a quarter, or that is spread over ten lines, does not show in one run; `highwater diff` of the two runs names the lines.",
		"The runtime measures the time of GC by the clock, so on a busy machine the share is too high.",
	},
	Example: "patterns compiled for every value",
}

// judgeChurn speaks where the rate of allocation, not what is live, costs CPU or memory.
func judgeChurn(c *Case) Finding {
	if c.g == nil {
		return minor("the state of GC was not read")
	}
	p := c.overall()
	facts := []Fact{c.factPace(p)}
	if c.outran() {
		return outranFound(c, p, facts)
	}
	if c.outcome.Kernel && c.waste() < c.bound*15/100 {
		return minor(fmt.Sprintf("only %s of the heap was garbage", size(c.waste())))
	}
	if c.outcome.Kernel {
		return silent(fmt.Sprintf("the heap hardly exceeded the GC target (%s)", goal(c.g.HeapGoal)), facts...)
	}
	if why, facts := c.hardlyAllocates(p, facts); why != "" {
		return minor(why, facts...)
	}
	top, least := &c.Allocators[0], churnCost.v()
	if c.doneAgain() {
		least = churnCostKnown.v()
	}
	if top.Share*p.gcShare() < least {
		return minor(fmt.Sprintf("GC took about %.0f%% of the CPU time", 100*p.gcShare()), facts...)
	}
	if why := c.costsLittle(p); why != "" {
		return minor(why, facts...)
	}
	return churnFound(c, p, facts)
}

// costsLittle says why GC, whatever its part of the CPU time, costs the program next to nothing; "" where it
// does. Where no cheaper way is known, the allocations must hold the program up: one that waits most of the
// time has the processor to spare.
func (c *Case) costsLittle(p pace) string {
	took := p.gcShare() * p.cpu / p.seconds
	switch known := c.doneAgain(); {
	case took < churnCoresKnown.v() || took < churnCores.v() && !known:
		return fmt.Sprintf("GC took %.0f%% of one processor", 100*took)
	case !known && c.hasTimeToSpare():
		return "the program waited most of the time, and has the CPU time to spare"
	case !known && p.gcShare() > trustedShare.v():
		return "other programs used the processors, so the CPU time of GC is not known"
	}
	return ""
}

// hardlyAllocates says why the rate of allocation is not worth a word, or was not measured; "" if it is.
func (c *Case) hardlyAllocates(p pace, facts []Fact) (why string, with []Fact) {
	switch {
	case math.IsNaN(p.allocated) || math.IsNaN(p.gcShare()):
		return "the CPU time of GC was not read", facts
	case p.rate() < churnRateKnown.v() || p.rate() < churnRate.v() && !c.doneAgain():
		return fmt.Sprintf("the program allocated %s a second", fsize(p.rate())), facts
	case p.collections < churnPace.v()*p.seconds && !c.doneAgain():
		return fmt.Sprintf("only %s GCs ran a second, so their cost is that of the live heap", figure(p.collections/p.seconds)), facts
	case p.seconds < churnSeconds.v() || p.collections < churnCycles.v():
		return fmt.Sprintf("only %.0f GCs ran in %s", p.collections, seconds(p.seconds)), facts
	case len(c.Allocators) == 0 || c.Allocators[0].Share < churnLine.v():
		return "no single line allocates most", facts
	case !p.profiled(&c.Allocators[0]):
		return "the last heap profile covers less than half of what was allocated", facts
	}
	return "", nil
}

// doneAgain reports whether the line that allocates most is known to do work again that could be done once.
func (c *Case) doneAgain() bool {
	if len(c.Allocators) == 0 {
		return false
	}
	top := &c.Allocators[0]
	k := c.causeOf(Churn, top.Stack, top.Function, top.Own)
	return k != nil && k.Again
}

// profiled reports whether the profile that the line's share is of saw half of what was allocated, or more. One that was
// read long before the end says little of the whole.
func (p pace) profiled(a *Allocator) bool {
	return a.Share > 0 && float64(a.Bytes)/a.Share*2 >= p.allocated
}

// outran reports whether live heap and goal fit the limit, and the heap was far above the goal when it was killed.
func (c *Case) outran() bool {
	aim := c.g.HeapGoal
	if c.floats() {
		aim = min(aim, c.live.bytes*sample.Bytes(100+max(0, c.g.GOGC))/100)
	}
	return c.outcome.Kernel && c.live.known && c.live.bytes+c.nonHeap() <= c.bound*60/100 && aim+c.nonHeap() < c.bound*95/100 &&
		c.heap().Sub(aim) >= c.bound*15/100 && c.waste() >= c.bound*30/100
}

// backgroundShare is the part of the processors that the runtime gives to a GC that runs (runtime.gcBackgroundUtilization). A
// program whose GC took so much of all the time it used had one running nearly always.
const backgroundShare = 0.25

// floats reports whether GC ran all the time and counted far more as live than was reachable at the moment: what is
// allocated while it runs counts as live, and so does its next target.
func (c *Case) floats() bool {
	return c.live.exact && c.g.GOGC >= 0 && c.g.HeapMarked > 2*c.live.bytes+4*sample.MiB && c.overall().gcShare() >= backgroundShare
}

func churnFound(c *Case, p pace, facts []Fact) Finding {
	top := &c.Allocators[0]
	f := Finding{Stance: Speaks, Bytes: 1, Facts: append(facts, c.factAllocator(top)), Confidence: Medium, Culprit: allocates(top)}
	f.Sentence = fmt.Sprintf("The program allocates %s a second, %.0f%% of that at %s. GC ran %s times a second and took %s used, while only %s was live.",
		fsize(p.rate()), 100*top.Share, place(top.File, top.Line), figure(p.collections/p.seconds), p.gcWords(), size(c.live.bytes))
	f.Detail = "A high allocation rate. This costs CPU time, not memory."
	f.Because = []string{"measured over " + count(int(p.collections), "GC")}
	if !c.doneAgain() {
		f.Confidence = Low
		f.Because = append(f.Because, doubtCheaper)
	}
	f.Why = c.churnWhy(top)
	return f
}

// doubtOutran is what one run does not tell of allocation that outran GC.
const doubtOutran = "one run does not tell whether GC keeps up when it starts sooner"

func outranFound(c *Case, p pace, facts []Fact) Finding {
	f := Finding{Stance: Speaks, Bytes: c.waste(), Facts: append(facts, c.factLive(), c.factCollector()), Confidence: Medium}
	f.Sentence = fmt.Sprintf("Allocation%s outran GC. The GC target was %s, but the heap reached %s, of which %s was live.",
		c.of(), goal(c.g.HeapGoal), size(c.heap()), size(min(c.live.bytes, c.heap())))
	f.Detail = "A high allocation rate, not a leak."
	f.Because = []string{doubtOutran, "the live heap and the GC target fit the limit"}
	if c.floats() {
		f.Sentence = fmt.Sprintf("Allocation%s outran GC. The heap reached %s, of which %s was live. The last GC had counted %s as live, because what is allocated while GC runs counts as live.",
			c.of(), size(c.heap()), size(min(c.live.bytes, c.heap())), size(c.g.HeapMarked))
		f.Because = []string{doubtOutran, "the live heap fits the limit", fmt.Sprintf("GC took %s", p.gcWords())}
	}
	if !math.IsNaN(p.rate()) {
		f.Because = append(f.Because, fmt.Sprintf("the program allocated %s a second", fsize(p.rate())))
	}
	if top := c.mostSince(); top != nil {
		f.Culprit = allocates(top)
		f.Facts = append(f.Facts, c.factAllocator(top))
		f.Why = c.churnWhy(top)
	}
	return f
}

// churnWhy says what the line does, as far as that is known.
func (c *Case) churnWhy(top *Allocator) []Why {
	why := []Why{{Text: fmt.Sprintf("%s allocated %s in total, and hardly any of that is still live", place(top.File, top.Line), size(top.Bytes)),
		Evidence: []string{"allocator"}}}
	if k := c.causeOf(Churn, top.Stack, top.Function, top.Own); k != nil {
		why = append(why, Why{Text: k.Why, Evidence: []string{"allocator"}, URL: k.URL})
	}
	if c.g.GOGC >= 0 && c.g.GOGC < 50 {
		why = append(why, Why{Text: fmt.Sprintf("GOGC=%d makes GC run more often than the default of 100", c.g.GOGC), Evidence: []string{"pace"}})
	}
	return why
}

// mostSince is the line that made most of the garbage, as far as a mark tells,
// else allocated most since the last published collection, else most of all; nil
// where no profile is known.
func (c *Case) mostSince() *Allocator {
	for _, of := range []func(*Allocator) sample.Bytes{
		func(a *Allocator) sample.Bytes { return a.Garbage },
		func(a *Allocator) sample.Bytes { return a.Since },
		func(a *Allocator) sample.Bytes { return a.Bytes },
	} {
		if top, _ := c.most(of); top != nil {
			return top
		}
	}
	return nil
}

func allocates(a *Allocator) *Culprit {
	return &Culprit{Place: a.Place, Bytes: a.Bytes, Role: "allocates"}
}
