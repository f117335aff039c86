package explain

import (
	"fmt"
	"math"

	"github.com/highwater-go/highwater/internal/sample"
)

// judgePageCache: the charge stood at its limit by file pages. The kernel takes
// them back before it kills, so that it is harmless.
func judgePageCache(c *Case) Finding {
	switch cache := c.cacheAtPeak(); {
	case c.outcome.Kernel:
		return silent(fmt.Sprintf("the kernel takes file pages back before it kills; %s were left", size(c.ledger.Row(sample.RowPageCache))), c.factLedger())
	case c.limit == 0:
		return silent("there is no limit to stand at")
	case float64(c.peak) < 0.95*float64(c.limit):
		return silent(fmt.Sprintf("the charge never stood at its limit: %s of %s", size(c.peak), limit(c.limit)), c.factOutcome())
	case c.hardPeak() >= 0.8*float64(c.limit) || cache < 0.2*float64(c.limit):
		return silent(fmt.Sprintf("at the greatest charge only %s were file pages", fsize(cache)), c.factCache())
	default:
		f := Finding{Stance: Speaks, Bytes: sample.Bytes(cache), Confidence: High, Facts: []Fact{c.factCache(), c.factOutcome()}}
		f.Sentence = fmt.Sprintf("Usage stood at its limit of %s because of %s of file pages (page cache), which the kernel takes back when memory is needed.",
			limit(c.limit), fsize(cache))
		f.Detail = "Harmless: nothing was killed."
		f.Because = []string{fmt.Sprintf("the memory that cannot be taken back never passed %s", fsize(c.hardPeak()))}
		f.Why = []Why{{Text: "files that are read or written stay in memory until something else needs the room", Evidence: []string{"cache"}}}
		return f
	}
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

// judgeShmem: tmpfs and shared memory fill the limit. Without swap the kernel
// cannot take them back.
func judgeShmem(c *Case) Finding {
	shmem := c.ledger.Row(sample.RowShmem)
	if !c.pressed || shmem < c.bound*40/100 || shmem < heapRows(c.ledger) {
		return silent(fmt.Sprintf("shared memory and tmpfs were %s", size(shmem)), c.factLedger())
	}
	f := Finding{Stance: Speaks, Bytes: shmem, Confidence: High, Facts: []Fact{c.factLedger()}}
	f.Sentence = fmt.Sprintf("Files in memory (tmpfs, shared memory) held %s of the %s; without swap the kernel cannot take them back.", size(shmem), size(c.ledger.Total))
	f.Detail = "Shared memory, not the Go heap."
	f.Because = []string{"the kernel counts it apart"}
	f.Why = []Why{{Text: "a file written to /dev/shm or another tmpfs is charged as memory until it is deleted", Evidence: []string{"ledger"}}}
	return f
}

// judgeBaseline: the program steadily needs more than the limit. The live heap
// must have been flat over the last collections; in a first rise nobody knows
// where it would have ended.
func judgeBaseline(c *Case) Finding {
	if !c.pressed || c.g == nil || c.bound == 0 {
		return silent("memory was never short", c.factOutcome())
	}
	need := c.live.bytes + c.nonHeap()
	if need < c.bound*85/100 {
		return silent(fmt.Sprintf("the steady need is %s of %s", size(need), limit(c.bound)), c.factLive())
	}
	if c.live.bytes < need/2 {
		return silent(fmt.Sprintf("the live heap is %s only", size(c.live.bytes)), c.factLive())
	}
	points := c.curve.points
	recent := points[len(points)/2:]
	if len(recent) < 4 {
		return silent("too few collections to call the need steady", c.factCurve())
	}
	low, high := recent[0].live, recent[0].live
	for _, p := range recent {
		low, high = min(low, p.live), max(high, p.live)
	}
	if high-low > 0.15*high || float64(c.live.bytes) > 1.15*high {
		return silent("the live heap was not steady", c.factCurve())
	}
	f := Finding{Stance: Speaks, Bytes: need, Confidence: Medium, Facts: []Fact{c.factCurve(), c.factLive(), c.factLedger()}}
	f.Sentence = fmt.Sprintf("The program steadily needs %s (live heap %s, the rest %s); the limit of %s leaves no room for the collector to work.",
		size(need), size(c.live.bytes), size(c.nonHeap()), limit(c.bound))
	f.Detail = "No leak: the limit is too small for it."
	f.Because = []string{fmt.Sprintf("the live heap stayed within %s over the last %s", fsize(high-low), count(len(recent), "collection"))}
	f.Why = []Why{{Text: "the live heap does not grow and cannot be collected", Evidence: []string{"curve", "live"}}}
	if c.site != nil {
		top := &c.Sites[0]
		f.Culprit = culprit(top, "retains")
		f.Facts = append(f.Facts, c.factSite())
	}
	return f
}
