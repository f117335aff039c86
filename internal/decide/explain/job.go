package explain

import (
	"math"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// doubtResult is why the growth of a program that serves nobody and ends by itself is not surely a leak.
const doubtResult = "the program was not seen to serve anybody and ended by itself, and a local variable of main has what grew: it may be what the program is for"

// doubtEnded is why growth until a program ended by itself within a minute is not surely a leak.
const doubtEnded = "the program ended by itself, and what it kept until then may be its result"

// servedAny reports whether a look found a goroutine that a function started which waits for connections, or there were too few
// looks to tell: a job may have such a function for its figures, and nobody asks.
func (c *Case) servedAny() bool {
	if c.servesAny() != 1 {
		return false
	}
	if c.site == nil {
		return true
	}
	if looks, _ := c.site.looksLike(func(*SiteSnapshot) int { return 1 }, 0); looks < int(fewestReadings.v()) {
		return true
	}
	for _, g := range c.goroutines() {
		if !stands(g.Where, accepts) {
			continue
		}
		for function := range insideOf([]sample.GoroutineGroup{g}) {
			for i := range c.site.Course {
				if c.site.Course[i].Begun[begunBy+function] > 0 {
					return true
				}
			}
		}
	}
	return false
}

// endedJob reports whether the program was not seen to serve anybody, and ended by itself without need.
func (c *Case) endedJob() bool {
	return c.endedWell() && !c.Watched && c.Load == "" && !math.IsNaN(c.servesAny()) && !c.servedAny() && (c.limit == 0 || !c.pressed)
}

// isOfJob reports whether a program that served nobody, and ended by itself, kept what grew in a local variable of the main goroutine.
func (c *Case) isOfJob() bool {
	if !c.endedJob() {
		return false
	}
	h := c.retainerOf(c.site)
	if h == nil {
		return false
	}
	root := c.Heap.RootOf(h.path)
	return root != nil && root.Kind == sample.RootGoroutine && root.First == 1 && root.Count == 1 && len(root.Sharers) == 0
}

// isResult reports whether a program that served nobody, and ended by itself, grew by what one call of the main goroutine made, which it
// was in all along: a leak of that call looks like the result that the program is for.
func (c *Case) isResult() bool {
	if !c.isOfJob() || !c.inFlight.standing || c.inFlight.calls != 1 || c.keptByCache() {
		return false
	}
	function := c.frameOf(c.retainerOf(c.site).path)
	return function != "" && function != "main.main" && c.callLasts(function) == lasts
}
