package watch

import (
	"fmt"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/faultprofile"
)

// callBudget is what probes may cost the programs: so many calls a second, and such a share of a
// processor's time. At once it may be what comes together in callCredit.
type callBudget struct {
	last  time.Time
	calls uint64        // at last
	cost  time.Duration // at last
	// What is left of either.
	callsLeft int64
	timeLeft  time.Duration
	why       string // it is spent
}

const (
	// mostCalls a second: from there on a tenth of a processor goes into the probes, and more.
	mostCalls = 250_000
	// callShare is the share of a processor that probes may take: an eighth, which is mostCalls of
	// what the kernel carries out by itself.
	callShare = 8
	// callCredit is for how long what is allowed may come at once, as where a program starts.
	callCredit = 4 * time.Second
	// callCost and steppedCost are what a probe costs where the kernel carries the instruction out by
	// itself and where the processor is stepped over it, in a virtual machine: measured, docs/native.md.
	callCost    = 500 * time.Nanosecond
	steppedCost = 16 * time.Microsecond
)

// charge says whether the budget is spent now.
func (b *callBudget) charge(now time.Time, c faultprofile.AllocCost, stepped bool) bool {
	each := callCost
	if stepped {
		each = steppedCost
	}
	calls := c.Allocs + c.Frees
	cost := time.Duration(calls)*each + time.Duration(c.Nanos)
	if b.last.IsZero() {
		b.callsLeft, b.timeLeft = int64(mostCalls*callCredit.Seconds()), callCredit/callShare
	} else {
		passed := now.Sub(b.last)
		b.callsLeft = min(b.callsLeft+int64(mostCalls*passed.Seconds()), int64(mostCalls*callCredit.Seconds())) - int64(calls-b.calls)
		b.timeLeft = min(b.timeLeft+passed/callShare, callCredit/callShare) - (cost - b.cost)
	}
	b.last, b.calls, b.cost = now, calls, cost
	switch {
	case b.callsLeft < 0:
		b.why = fmt.Sprintf("C's allocator was called more than %d times a second, and each of the probes costs the program half a microsecond", mostCalls)
	case b.timeLeft < 0:
		b.why = "the probes took more than an eighth of a processor from the program"
	}
	return b.why != ""
}
