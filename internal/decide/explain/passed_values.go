package explain

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// passedValues is the finding of a peak that one or a few large values made, and that nothing came of: when the memory was at its height, GC
// had freed them already, or no profile of that time was published yet, so that no line holds them. The heap profile counts an allocation of
// each size by itself, so it knows what the largest of each line were.
func (c *Case) passedValues() (f Finding, found bool) {
	if c.pressed || c.endedWell() && c.limit > 0 || !c.towers() || c.live.bytes*2 > c.heap() && !(c.gone() >= fellBack.v()) {
		return f, false
	}
	rose := c.hardPeak() - float64(c.run.Footprint.P50)
	top, sum := c.largestValues(sample.Bytes(rose / 8))
	if top == nil || float64(top.Largest)*4 < rose || float64(sum) < heldByRoot.v()*rose || c.site != nil && c.site.Bytes*2 >= top.Largest {
		return f, false
	}
	f = Finding{Stance: Speaks, Detail: largeDetail, Bytes: min(sum, c.heap()), Confidence: Medium, Because: []string{doubtHarmless},
		Facts: []Fact{c.factCurve(), c.factOutcome()}, Culprit: &Culprit{Place: top.Place, Bytes: top.Largest, Role: "allocates"}}
	f.Sentence = fmt.Sprintf("Memory rose from %s to %s and fell again. One value of %s was allocated at once at %s.",
		size(c.run.Footprint.P50), fsize(c.hardPeak()), size(top.Largest), place(top.File, top.Line))
	if sum > top.Largest {
		f.Why = []Why{{Text: fmt.Sprintf("the largest values that each line allocated come to %s together", size(sum)), Evidence: []string{"curve"}}}
	}
	return f, true
}

// towers reports whether the peak was far above the usual memory: four times as much, or twice, where the live heap was four times its least. A table
// that is loaded again next to the old one is not.
func (c *Case) towers() bool {
	ratio := c.spikeRatio()
	return c.spiked() && (ratio >= 2*spikeOverFloor.v() || ratio >= spikeOverFloor.v() && c.liveSpike() >= 2*spikeOverFloor.v())
}

// largestValues is the line that allocated the largest value of all, and the sum of the largest of each line, of those of least bytes or more.
func (c *Case) largestValues(least sample.Bytes) (top *Allocator, sum sample.Bytes) {
	for i := range c.Allocators {
		a := &c.Allocators[i]
		if a.Largest < max(least, 1) {
			continue
		}
		if sum += a.Largest; top == nil || a.Largest > top.Largest {
			top = a
		}
	}
	return top, sum
}
