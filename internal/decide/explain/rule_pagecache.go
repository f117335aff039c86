package explain

import (
	"fmt"
	"math"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

var pageCachePage = Page{
	Truth: "Memory usage is at the limit because of page cache, which the kernel drops when it needs room. This is harmless, unless what it dropped is read again and again.",
	Looks: []string{
		"The page cache at the peak of memory usage, without tmpfs.",
		"The peak of unreclaimable memory.",
		"The pages of files that the program has open or mapped, and of those in the directories it works in: in memory, and waiting to be written.",
	},
	Blind: []string{
		"Files that no program has open and that lie in no directory it works in: the answer says how much of the page cache is named.",
		"That reading them again costs time: see thrash.",
	},
	Example: "a file of 1 GiB written",
}

// judgePageCache speaks where the charge stood at its limit by file pages. The kernel takes them back before it kills,
// so that it is harmless.
func judgePageCache(c *Case) Finding {
	switch cache := c.cacheAtPeak(); {
	case c.outcome.Kernel:
		return silent(fmt.Sprintf("the kernel drops page cache before it kills; %s was left", size(c.ledger.Row(sample.RowPageCache))), c.factLedger())
	case c.limit == 0:
		return silent("there is no memory limit")
	case float64(c.peak) < 0.95*float64(c.limit):
		return silent(fmt.Sprintf("memory usage never reached the limit (%s of %s)", size(c.peak), limit(c.limit)), c.factOutcome())
	case c.hardPeak() >= 0.8*float64(c.limit) || cache < 0.2*float64(c.limit):
		return silent(fmt.Sprintf("at the peak only %s was page cache", fsize(cache)), c.factCache())
	default:
		f := Finding{Stance: Speaks, Bytes: sample.Bytes(cache), Confidence: High, Facts: []Fact{c.factCache(), c.factOutcome()}}
		f.Sentence = fmt.Sprintf("Memory usage reached the limit of %s, but %s of that is page cache. The kernel drops page cache when it needs room.",
			limit(c.limit), fsize(cache))
		f.Detail = "Page cache, which is harmless."
		f.Because = []string{fmt.Sprintf("unreclaimable memory never exceeded %s", fsize(c.hardPeak()))}
		f.Why = []Why{{Text: "files that are read or written stay in memory until something else needs the room", Evidence: []string{"cache"}}}
		if whys := c.cacheWhy(sample.Bytes(cache)); len(whys) > 0 {
			f.Why, f.Facts = append(whys, f.Why...), append(f.Facts, c.factFiles()...)
		}
		if cg := c.Moment.Cgroup; cg != nil && cg.Events != nil && cg.Events.Max > 0 {
			f.Because = append(f.Because, fmt.Sprintf("memory usage hit the limit %d times, and each time the kernel dropped page cache", cg.Events.Max))
		}
		if p := c.overall(); p.refaults/p.seconds >= thrashRefaults.v() {
			f.Facts = append(f.Facts, c.factReclaim(p))
			f.Detail = "Page cache, which the kernel drops and then has to read again."
			f.Why = append(f.Why, Why{Text: fmt.Sprintf("dropped pages were read again, %s a second. A higher limit would save that work",
				thousands(p.refaults/p.seconds)), Evidence: []string{"reclaim"}})
		}
		return f
	}
}

// cacheWhy names the files that were the page cache when memory usage was greatest, which is not the moment: that is
// where most could not be reclaimed.
func (c *Case) cacheWhy(cache sample.Bytes) []Why {
	at := c.Moment.At
	if i := c.fullest(); i >= 0 && c.Ticks.Usage[i] >= float64(c.ledger.Total) {
		at = c.Start.Add(time.Duration(c.Ticks.At[i] * float64(time.Second)))
	}
	return c.whyOfFiles(c.holdersIn(c.filesAt(at, cache, 0), sample.RowPageCache, cache), sample.RowPageCache, cache)
}

// cacheAtPeak is the page cache at the sample of the greatest charge.
func (c *Case) cacheAtPeak() float64 {
	if i := c.fullest(); i >= 0 && c.Ticks.Usage[i] >= float64(c.ledger.Total) {
		return c.Ticks.PageCache[i]
	}
	return float64(c.ledger.Row(sample.RowPageCache))
}

// fullest is the sample with the greatest charge and a known page cache, -1 if
// there is none.
func (c *Case) fullest() int {
	best := -1
	for i, usage := range c.Ticks.Usage {
		if math.IsNaN(usage) || math.IsNaN(c.Ticks.PageCache[i]) {
			continue
		}
		if best < 0 || usage > c.Ticks.Usage[best] {
			best = i
		}
	}
	return best
}
