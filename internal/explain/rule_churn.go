package explain

import (
	"fmt"
	"math"

	"github.com/highwater-go/highwater/internal/sample"
)

var churnPage = Page{
	Truth: "Not what is kept but how fast is allocated drives the heap up, or the CPU into the collector.",
	Looks: []string{
		"Bytes allocated a second, collections, and the part of the CPU time that the collector took.",
		"The lines by bytes allocated over the whole run, live or not. One must account for three fifths, so that there is something to change, and for a fifth of the CPU time by the collections that it causes.",
		"Whether the line is known to do again what could be done once, as regexp.Compile for every value: then a twentieth suffices.",
		"At a kill: a heap far above the collector's goal, most of it dead, while live heap and goal both fit the limit. Then allocation outran the collection that was under way.",
	},
	Blind: []string{
		"Whether the work could be done with less: two runs compared say that, one does not. A fault that adds a quarter, or spreads over ten lines, is no verdict; `highwater diff` of the two runs names the lines.",
		"The runtime books the collector's time by the clock; on a busy machine the share is too high.",
	},
	Example: "patterns compiled for every value",
}

// The least churn to speak of: bytes a second, seconds, collections, one line's part
// of the bytes, and what that line costs, which is its part of the CPU time that the
// collector took. A line that is known to do work again that could be done once need
// not be as fast, as on a machine with little time for it, and not cost as much.
const (
	churnRate      = 50 * float64(sample.MiB)
	churnRateKnown = 5 * float64(sample.MiB)
	churnSeconds   = 2
	churnCycles    = 30
	churnLine      = 0.6
	churnCost      = 0.2
	churnCostKnown = 0.05
)

// judgeChurn: the rate of allocation, not what is live, costs CPU or memory.
func judgeChurn(c *Case) Finding {
	if c.g == nil {
		return minor("the collector's state was not read")
	}
	p := c.overall()
	facts := []Fact{c.factPace(p)}
	if c.outran() {
		return outranFound(c, p, facts)
	}
	if c.outcome.Kernel && c.waste() < c.bound*15/100 {
		return minor(fmt.Sprintf("%s of the heap were garbage", size(c.waste())))
	}
	if c.outcome.Kernel {
		return silent(fmt.Sprintf("the heap did not exceed the collector's goal of %s by much", goal(c.g.HeapGoal)), facts...)
	}
	switch {
	case math.IsNaN(p.allocated) || math.IsNaN(p.gcShare()):
		return minor("the collector's CPU time was not read", facts...)
	case p.rate() < churnRateKnown || p.rate() < churnRate && !c.doneAgain():
		return minor(fmt.Sprintf("it allocated %s a second", fsize(p.rate())), facts...)
	case p.seconds < churnSeconds || p.collections < churnCycles:
		return minor(fmt.Sprintf("%.0f collections in %s are few", p.collections, seconds(p.seconds)), facts...)
	case len(c.Allocators) == 0 || c.Allocators[0].Share < churnLine:
		return minor("no line stands out among those that allocate", facts...)
	case !p.profiled(&c.Allocators[0]):
		return minor("the last heap profile saw less than half of what was allocated", facts...)
	}
	top, least := &c.Allocators[0], churnCost
	if c.doneAgain() {
		least = churnCostKnown
	}
	if top.Share*p.gcShare() < least {
		return minor(fmt.Sprintf("the collector took about %.0f%% of the CPU time", 100*p.gcShare()), facts...)
	}
	return churnFound(c, p, facts)
}

// doneAgain: the line that allocates most is known to do work again that could be
// done once.
func (c *Case) doneAgain() bool {
	if len(c.Allocators) == 0 {
		return false
	}
	top := &c.Allocators[0]
	k := c.causeOf(Churn, top.Stack, top.Function, top.Own)
	return k != nil && k.Again
}

// profiled: the profile that the line's share is of saw half of what was allocated, or
// more. One that was read long before the end says little of the whole.
func (p pace) profiled(a *Allocator) bool {
	return a.Share > 0 && float64(a.Bytes)/a.Share*2 >= p.allocated
}

// outran: live heap and goal fit the limit, and the heap was far above the goal
// when it was killed.
func (c *Case) outran() bool {
	return c.outcome.Kernel && c.live.known && c.live.bytes+c.nonHeap() <= c.bound*60/100 && c.g.HeapGoal+c.nonHeap() < c.bound*95/100 &&
		c.heap().Sub(c.g.HeapGoal) >= c.bound*15/100 && c.waste() >= c.bound*30/100
}

func churnFound(c *Case, p pace, facts []Fact) Finding {
	top := &c.Allocators[0]
	f := Finding{Stance: Speaks, Bytes: 1, Facts: append(facts, c.factAllocator(top)), Confidence: Medium, Culprit: allocates(top)}
	f.Sentence = fmt.Sprintf("It allocates %s a second, %.0f%% of it at %s; the collector ran %s times a second and took %s used, while only %s were live.",
		fsize(p.rate()), 100*top.Share, place(top.File, top.Line), figure(p.collections/p.seconds), p.gcWords(), size(c.live.bytes))
	f.Detail = "Churn: it costs CPU, not memory."
	f.Because = []string{fmt.Sprintf("seen over %.0f collections", p.collections)}
	f.Why = c.churnWhy(top)
	return f
}

func outranFound(c *Case, p pace, facts []Fact) Finding {
	f := Finding{Stance: Speaks, Bytes: c.waste(), Facts: append(facts, c.factLive(), c.factCollector()), Confidence: Medium}
	f.Sentence = fmt.Sprintf("Allocation%s outran the collector: it aimed at %s, the heap came to %s, and %s of that were live.",
		c.of(), goal(c.g.HeapGoal), size(c.heap()), size(min(c.live.bytes, c.heap())))
	f.Detail = "Churn, not a leak: garbage came faster than it could be collected."
	f.Because = []string{"the live heap and the collector's goal fit the limit"}
	if !math.IsNaN(p.rate()) {
		f.Because = append(f.Because, fmt.Sprintf("it allocated %s a second", fsize(p.rate())))
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
	why := []Why{{Text: fmt.Sprintf("%s allocated %s in all, next to nothing of which is kept", place(top.File, top.Line), size(top.Bytes)), Evidence: []string{"allocator"}}}
	if k := c.causeOf(Churn, top.Stack, top.Function, top.Own); k != nil {
		why = append(why, Why{Text: k.Why, Evidence: []string{"allocator"}, URL: k.URL})
	}
	if c.g.GOGC >= 0 && c.g.GOGC < 50 {
		why = append(why, Why{Text: fmt.Sprintf("GOGC=%d makes the collector run more often than the usual 100", c.g.GOGC), Evidence: []string{"pace"}})
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
	return &Culprit{Function: a.Function, File: a.File, Line: a.Line, Bytes: a.Bytes, Role: "allocates"}
}
