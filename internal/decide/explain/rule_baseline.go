package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

var baselinePage = Page{
	Truth: "The program, or several programs together, need more than the limit all the time. Nothing grows; the limit is too small.",
	Looks: []string{
		"The live heap at the moment, plus everything that is neither heap nor page cache: together more than 85 % of the limit.",
		"Whether the live heap was flat over the last half of the GCs, within 15 %.",
		"Of a program that was killed in its first rise, whether it worked at nearly every look. Then it probably needed more for what it loads or works on; the confidence is low, and no limit is predicted.",
		"Of several processes, whether each large one was flat over the last half of its life.",
	},
	Blind: []string{
		"How much a program that was killed while it loaded its data would have needed.",
		"Whether the program should need that much. The answer names the lines with the most memory.",
	},
	Example: "steady need above the limit",
}

// judgeBaseline speaks where the program steadily needs more than the limit. The live heap must have been flat over the
// last collections; in a first rise nobody knows where it would have ended.
func judgeBaseline(c *Case) Finding {
	if !c.pressed || c.g == nil || c.bound == 0 {
		return silent("memory usage stayed well below the limit", c.factOutcome())
	}
	need := c.live.bytes + c.nonHeap().Sub(c.othersGarbage())
	if need < c.bound*85/100 {
		return silent(fmt.Sprintf("the program needs only %s of %s all the time", size(need), limit(c.bound)), c.factLive())
	}
	if c.companions()*5 >= need {
		return c.judgeTogether(need)
	}
	if c.live.bytes < need/2 {
		return silent(fmt.Sprintf("the live heap is only %s", size(c.live.bytes)), c.factLive())
	}
	low, high, n := c.lastHalf()
	if n < 4 {
		return silent("too few GCs to call the live heap steady", c.factCurve())
	}
	if c.risesSteadily() {
		return silent("the live heap was still rising", c.factCurve())
	}
	if c.goesOnGrowing() || high-low > 0.15*high || float64(c.live.bytes) > 1.15*high {
		return silent("the live heap was not steady", c.factCurve())
	}
	f := Finding{Stance: Speaks, Bytes: need, Confidence: Medium, Facts: []Fact{c.factCurve(), c.factLive(), c.factLedger()}}
	f.Sentence = fmt.Sprintf("The program needs about %s all the time (live heap %s, other %s). A limit of %s leaves Go too little room for garbage.",
		size(need), size(c.live.bytes), size(c.nonHeap()), limit(c.bound))
	f.Detail = "The limit is too small. Nothing leaks."
	f.Because = []string{fmt.Sprintf("the live heap changed by only %s over the last %s", fsize(high-low), count(n, "GC"))}
	f.Why = []Why{{Text: "the live heap does not grow, and GC cannot shrink it", Evidence: []string{"curve", "live"}}}
	if c.site != nil {
		f.Culprit = culprit(&c.Sites[0], "retains")
		f.Facts = append(f.Facts, c.factLine(&c.Sites[0]))
	}
	return f
}

// risesSteadily reports whether the live heap rose by enough to speak of and at every step: many collections
// in a short time make each step small.
func (c *Case) risesSteadily() bool {
	r := &c.rise
	return r.mono && r.n >= int(fewestReadings.v()) && r.grown >= leastGrownOfLimit.v()*float64(c.bound)
}

// lastHalf is the range of the last half of the live heap's readings.
func (c *Case) lastHalf() (low, high float64, n int) {
	recent := c.curve.points[len(c.curve.points)/2:]
	for i, p := range recent {
		if i == 0 {
			low, high = p.live, p.live
		}
		low, high = min(low, p.live), max(high, p.live)
	}
	return low, high, len(recent)
}

// othersGarbage is what of the other processes' heaps was dead, as far as known.
func (c *Case) othersGarbage() sample.Bytes {
	return c.ledger.Row(sample.RowGarbage).Sub(c.own.Row(sample.RowGarbage))
}

// companions is what the other processes took, without that which watches them.
func (c *Case) companions() (b sample.Bytes) {
	for _, p := range c.Moment.Processes {
		if p.Key != c.Subject && c.besideRow(p.Key) != sample.RowWatcher {
			b += anonOf(p)
		}
	}
	return b
}

// judgeTogether speaks where several processes, none of which grows, need more than the limit.
func (c *Case) judgeTogether(need sample.Bytes) Finding {
	for _, p := range c.mostProcesses(need) {
		s, ok := c.Spans[p.Key]
		switch {
		case p.Key == c.Subject && c.goesOnGrowing():
			return silent("the live heap was still rising", c.factCurve())
		case !ok || s.Seconds < shortestSteady.v():
			return undecided(float64(need), fmt.Sprintf("whether %s would have kept its size", c.nameOf(p.Key)), c.factShares())
		case s.grew():
			return undecided(float64(need), fmt.Sprintf("whether %s would have stopped growing after its rise from %s to %s", c.nameOf(p.Key), size(s.Low),
				size(s.High)), c.factShares())
		}
	}
	list := processesOf(c)
	f := Finding{Stance: Speaks, Bytes: need, Confidence: Medium, Facts: []Fact{c.factShares(), c.factLedger()}}
	var shares []string
	for _, p := range list[:min(3, len(list))] {
		shares = append(shares, fmt.Sprintf("%s (pid %d) %s", p.Name, p.PID, size(p.Bytes)))
	}
	f.Sentence = fmt.Sprintf("%d processes together need about %s of %s all the time: %s.", len(list), size(need), limit(c.bound), strings.Join(shares, ", "))
	f.Detail = "The limit is too small for all processes together. Nothing leaks."
	f.Because = []string{"none of the large processes grew in the last half of its run"}
	f.Why = []Why{{Text: "each process fits the limit alone; together they leave no room for garbage", Evidence: []string{"shares"}}}
	return f
}

// mostProcesses are those with a tenth of the need each, and of the smaller ones the largest, up to three quarters of it together.
func (c *Case) mostProcesses(need sample.Bytes) (most []sample.ProcessMoment) {
	list := slices.DeleteFunc(slices.Clone(c.Moment.Processes), func(p sample.ProcessMoment) bool { return c.besideRow(p.Key) == sample.RowWatcher })
	sorting.Stable(list, func(a, b sample.ProcessMoment) int { return cmp.Compare(anonOf(b), anonOf(a)) })
	together := sample.Bytes(0)
	for _, p := range list {
		if bytes := anonOf(p); bytes*10 >= need || together*4 < need*3 {
			most, together = append(most, p), together+bytes
		}
	}
	return most
}

// factShares lists how the charge divides among the processes.
func (c *Case) factShares() Fact {
	f := Fact{ID: "shares", Values: map[string]int64{}}
	var parts []string
	for i, p := range processesOf(c) {
		f.Values[fmt.Sprintf("pid_%d_bytes", p.PID)] = int64(p.Bytes)
		if i < 4 {
			parts = append(parts, fmt.Sprintf("%s (pid %d) %s", p.Name, p.PID, size(p.Bytes)))
		}
	}
	f.Text = fmt.Sprintf("private memory of %d processes: %s", len(f.Values), strings.Join(parts, ", "))
	return f
}

func (c *Case) nameOf(key sample.ProcessKey) string {
	if p := c.program(key); p != nil && p.Name != "" {
		return fmt.Sprintf("%s (pid %d)", p.Name, key.PID)
	}
	return fmt.Sprintf("pid %d", key.PID)
}
