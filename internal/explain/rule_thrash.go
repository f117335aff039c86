package explain

import (
	"fmt"
	"math"
	"strings"
)

var thrashPage = Page{
	Truth: "The charge stands at the limit, and the kernel takes pages back that are needed again at once. Nothing is killed, and nothing moves.",
	Looks: []string{
		"The charge at its limit, of memory that cannot be taken back but for a small rest of file pages.",
		"Page faults that needed the disk, and pages read again soon after they were taken (workingset_refault): the program's own code among them.",
		"The time in which all tasks of the cgroup waited for memory (PSI, \"full\"), where the kernel tells it.",
	},
	Blind: []string{
		"A program that reads a file larger than its limit again and again also reads pages back; with much page cache left that is ordinary work and not this.",
		"Cgroup v1 counts no scanned pages and most kernels no pressure for it.",
	},
	Example: "a program that stands still at its limit",
}

// The least thrashing to speak of: a second's faults that needed the disk, a
// second's pages read back, and the part of the time that all tasks waited. And
// how long the charge must have stood at the limit, in seconds.
const (
	thrashFaults   = 50
	thrashRefaults = 500
	thrashStalled  = 0.2
	thrashSeconds  = 5
)

// judgeThrash: the kernel reclaims at the limit without end, because all but
// little of the charge cannot be taken back.
func judgeThrash(c *Case) Finding {
	if c.limit == 0 {
		return minor("there is no limit to stand at")
	}
	from, to := c.atLimit()
	p := c.paceOf(from, to)
	facts := []Fact{c.factReclaim(p)}
	faults, refaults, stalled := p.faults/p.seconds, p.refaults/p.seconds, p.stalled/p.seconds
	switch {
	case p.seconds < thrashSeconds:
		return minor(fmt.Sprintf("the charge stood at its limit for %s", seconds(p.seconds)))
	case c.cacheAtPeak() > 0.2*float64(c.limit):
		return minor(fmt.Sprintf("%s of file pages were left to take back", fsize(c.cacheAtPeak())), facts...)
	case math.IsNaN(faults) && math.IsNaN(refaults) && math.IsNaN(stalled):
		return undecided(float64(c.peak), "whether the kernel took pages back without end was not read", facts...)
	case !(faults >= thrashFaults) && !(refaults >= thrashRefaults) && !(stalled >= thrashStalled):
		return silent("hardly anything that was taken back had to be read again", facts...)
	case c.outcome.Kernel:
		return silent("it was killed in the end", facts...)
	}
	return thrashFound(c, p, facts)
}

// atLimit is the longest time that the charge stood within a fiftieth of its
// limit, from one instant to another.
func (c *Case) atLimit() (from, to float64) {
	start := math.NaN()
	for i, usage := range c.Ticks.Usage {
		if !(usage >= 0.98*float64(c.limit)) {
			start = math.NaN()
			continue
		}
		if math.IsNaN(start) {
			start = c.Ticks.At[i]
		}
		if c.Ticks.At[i]-start > to-from {
			from, to = start, c.Ticks.At[i]
		}
	}
	return from, to
}

func thrashFound(c *Case, p pace, facts []Fact) Finding {
	f := Finding{Stance: Speaks, Bytes: c.ledger.Total, Confidence: High, Facts: append(facts, c.factLedger())}
	f.Sentence = fmt.Sprintf("For %s the charge stood at its limit of %s, and the kernel took back pages that were needed again at once: %s.",
		seconds(p.seconds), limit(c.limit), p.reclaim())
	f.Detail = "It stands still instead of being killed: the limit is too small for it."
	f.Because = []string{fmt.Sprintf("only %s of it were file pages that could be taken back", fsize(c.cacheAtPeak()))}
	if math.IsNaN(p.stalled) {
		f.Confidence = Medium
		f.Because = append(f.Because, "how long it waited for memory was not measured")
	}
	f.Why = []Why{{Text: fmt.Sprintf("%s cannot be taken back; what is left is too little for the program's own code and files", fsize(c.hardPeak())), Evidence: []string{"reclaim", "ledger"}}}
	if c.site != nil {
		f.Culprit = culprit(&c.Sites[0], "retains")
		f.Facts = append(f.Facts, c.factLine(&c.Sites[0]))
	}
	return f
}

// reclaim says what the kernel did, of what was read.
func (p pace) reclaim() string {
	var out []string
	if p.faults > 0 {
		out = append(out, fmt.Sprintf("%.0f page faults a second needed the disk", p.faults/p.seconds))
	}
	if p.refaults > 0 {
		out = append(out, fmt.Sprintf("%.0f pages a second were read back", p.refaults/p.seconds))
	}
	if p.stalled > 0 {
		out = append(out, fmt.Sprintf("all tasks waited for memory for %.0f%% of the time", 100*p.stalled/p.seconds))
	}
	if len(out) == 0 {
		return "nothing of it was read"
	}
	return strings.Join(out, ", ")
}

func (c *Case) factReclaim(p pace) Fact {
	return Fact{ID: "reclaim", Text: fmt.Sprintf("%s at the limit: %s", seconds(p.seconds), p.reclaim()),
		Values: map[string]int64{"milliseconds": int64(1000 * p.seconds), "disk_faults": whole64(p.faults), "refaults": whole64(p.refaults),
			"met_limit": whole64(p.atLimit), "stalled_ms": whole64(1000 * p.stalled), "hard_peak_bytes": int64(c.hardPeak())}}
}
