package explain

import (
	"fmt"
	"math"
	"slices"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

var spiralPage = Page{
	Truth: "GC runs all the time, because GOMEMLIMIT is too near the live heap. The program is not killed, but crawls.",
	Looks: []string{
		"GOMEMLIMIT, and the room that each GC left: the GC target minus the live heap. Below a tenth of the live heap, the next GC is due at once.",
		"How many GCs ran a second, and how much of the CPU time they took. Below a tenth of the CPU time, a program does not crawl.",
	},
	Blind: []string{
		"The runtime measures the time of GC by the clock. On a busy machine that is more than the CPU time, so the share is given as \"about\".",
		"A live heap that grows into the limit is a leak first; the leak is then the verdict.",
	},
	Example: "a collector that runs all the time",
}

// judgeSpiral speaks where GOMEMLIMIT leaves the collections next to no room, so that they follow one another without
// end.
func judgeSpiral(c *Case) Finding {
	if c.g == nil {
		return minor("the state of GC was not read")
	}
	limit, ok := c.memoryLimit()
	if !ok {
		return minor("GOMEMLIMIT is not set", c.factCollector())
	}
	cycles := c.cramped()
	if len(cycles) < 10 {
		return silent("each GC left room to allocate before the next one", c.factCollector())
	}
	left, live := leftOver(cycles)
	p := c.paceOf(c.seconds(cycles[0].At), c.seconds(cycles[len(cycles)-1].At))
	facts := []Fact{c.factCollector(), c.factPace(p)}
	perSecond := p.collections / p.seconds
	switch {
	case p.seconds < shortestSpiral.v():
		return silent(fmt.Sprintf("GC was short of room for only %s", seconds(p.seconds)), facts...)
	case perSecond < 1 || math.IsNaN(p.gcShare()) && perSecond < 5:
		return silent(fmt.Sprintf("there were only %s GCs a second", figure(perSecond)), facts...)
	case p.gcShare() < minSpiralGCShare.v():
		return silent(fmt.Sprintf("%s GCs a second left hardly any room, but took only %s", figure(perSecond), p.gcWords()), facts...)
	}
	return spiralFound(c, limit, left, live, p, facts)
}

// cramped are the most collections in a row that left no more to allocate than a
// tenth of what they found live.
func (c *Case) cramped() []sample.GCCycle {
	from, to, start := 0, 0, 0
	for i, g := range c.Cycles {
		if g.Goal == 0 || g.Goal.Sub(g.Marked)*10 > g.Marked {
			start = i + 1
		} else if i+1-start > to-from {
			from, to = start, i+1
		}
	}
	return c.Cycles[from:to]
}

// leftOver is the median of what collections left to allocate before the next one,
// and of what they found live.
func leftOver(cycles []sample.GCCycle) (left, live float64) {
	var lefts, lives []float64
	for _, g := range cycles {
		lefts, lives = append(lefts, float64(g.Goal.Sub(g.Marked))), append(lives, float64(g.Marked))
	}
	slices.Sort(lefts)
	slices.Sort(lives)
	return lefts[len(lefts)/2], lives[len(lives)/2]
}

func spiralFound(c *Case, memoryLimit sample.Bytes, left, live float64, p pace, facts []Fact) Finding {
	f := Finding{Stance: Speaks, Bytes: c.ledger.Total, Facts: facts, Confidence: High,
		Culprit: &Culprit{Place: sample.Place{Function: "GOMEMLIMIT"}, Bytes: sample.Bytes(live), Role: "config"}}
	share := ""
	if words := p.gcWords(); words != "" {
		share = " and took " + words
	}
	f.Sentence = fmt.Sprintf("GC%s ran %.0f times in %s%s. With a live heap of %s, GOMEMLIMIT=%s leaves %s for new memory.",
		c.of(), p.collections, seconds(p.seconds), share, fsize(live), units.Env(memoryLimit), little(left))
	f.Detail = "GC thrashing. The program stays alive, but crawls."
	if c.outcome.Kernel {
		f.Detail = "GC thrashing, and then the kill."
	}
	f.Because = []string{fmt.Sprintf("%s GCs a second, each with hardly any room", figure(p.collections/p.seconds))}
	f.Why = []Why{{Text: fmt.Sprintf("GOMEMLIMIT makes GC run sooner, and does not shrink the live heap. A live heap of %s needs a GOMEMLIMIT of about %s or more",
		fsize(live), whole(sample.Bytes(1.25*live)+c.goFixed())), Evidence: []string{"collector", "pace"}}}
	if c.site != nil {
		f.Why = append(f.Why, Why{Text: fmt.Sprintf("most of the live heap was allocated at %s", place(c.Sites[0].File, c.Sites[0].Line)),
			Evidence: []string{"site"}})
		f.Facts = append(f.Facts, c.factSite())
	}
	return f
}

// little is what is left of a limit, in words.
func little(bytes float64) string {
	if bytes < float64(64*sample.KiB) {
		return "nothing"
	}
	return "only " + fsize(bytes)
}
