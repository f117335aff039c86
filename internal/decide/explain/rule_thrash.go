package explain

import (
	"fmt"
	"math"
	"strings"
)

var thrashPage = Page{
	Truth: "Memory usage is at the limit, and the kernel drops pages that are needed again at once. The program is not killed, but hardly runs.",
	Looks: []string{
		"Memory usage at its limit, with only a little reclaimable page cache left.",
		"Page faults that needed the disk, and pages that were read again soon after they were dropped (workingset_refault). The program's own code is among them.",
		"The time in which all tasks of the cgroup waited for memory (PSI, \"full\"), where the kernel tells it.",
	},
	Blind: []string{
		"A program that reads a file larger than its limit again and again also reads pages back; with much page cache left, that is normal work and not this class.",
		"Cgroup v1 counts no scanned pages and most kernels no pressure for it.",
	},
	Example: "a program that stands still at its limit",
}

// judgeThrash speaks where the kernel reclaims at the limit without end, because all but little of the charge cannot be
// taken back.
func judgeThrash(c *Case) Finding {
	if c.limit == 0 {
		return minor("there is no memory limit")
	}
	from, to := c.atLimit()
	p := c.paceOf(from, to)
	facts := []Fact{c.factReclaim(p)}
	faults, refaults, stalled := p.faults/p.seconds, p.refaults/p.seconds, p.stalled/p.seconds
	switch {
	case p.seconds < thrashSeconds.v():
		return minor(fmt.Sprintf("memory usage was at its limit for only %s", seconds(p.seconds)))
	case c.cacheAtPeak() > 0.2*float64(c.limit):
		return minor(fmt.Sprintf("%s of page cache was left to drop", fsize(c.cacheAtPeak())), facts...)
	case math.IsNaN(faults) && math.IsNaN(refaults) && math.IsNaN(stalled):
		return undecided(float64(c.peak), "whether the kernel reclaimed pages all the time", facts...)
	case !(faults >= thrashFaults.v()) && !(refaults >= thrashRefaults.v()) && !(stalled >= thrashStalled.v()):
		return silent("hardly any dropped page had to be read again", facts...)
	case c.outcome.Kernel:
		return silent("the kernel killed the program", facts...)
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
	f.Sentence = fmt.Sprintf("For %s memory usage was at its limit of %s. The kernel dropped pages that were needed again at once: %s.",
		seconds(p.seconds), limit(c.limit), p.reclaim())
	f.Detail = "The limit is too small. The program is not killed, but hardly runs."
	f.Because = []string{fmt.Sprintf("only %s of the memory is reclaimable", fsize(c.cacheAtPeak()))}
	if math.IsNaN(p.stalled) {
		f.Confidence = Medium
		f.Because = append(f.Because, "how long the program waited for memory was not measured")
	}
	f.Why = []Why{{Text: fmt.Sprintf("%s is unreclaimable. The rest is too little for the program's own code and files", fsize(c.hardPeak())),
		Evidence: []string{"reclaim", "ledger"}}}
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
		out = append(out, count(int(math.Round(p.faults/p.seconds)), "page fault")+" a second needed the disk")
	}
	if p.refaults > 0 {
		out = append(out, fmt.Sprintf("%.0f pages a second were read back", p.refaults/p.seconds))
	}
	if p.stalled > 0 {
		out = append(out, fmt.Sprintf("all tasks waited for memory for %.0f%% of the time", 100*p.stalled/p.seconds))
	}
	if len(out) == 0 {
		return "the kernel's counters were not read"
	}
	return strings.Join(out, ", ")
}

func (c *Case) factReclaim(p pace) Fact {
	return Fact{ID: "reclaim", Text: fmt.Sprintf("%s at the limit: %s", seconds(p.seconds), p.reclaim()),
		Values: map[string]int64{"milliseconds": int64(1000 * p.seconds), "disk_faults": whole64(p.faults), "refaults": whole64(p.refaults),
			"met_limit": whole64(p.atLimit), "stalled_ms": whole64(1000 * p.stalled), "hard_peak_bytes": int64(c.hardPeak())}}
}
