package explain

import (
	"math"

	"github.com/highwater-go/highwater/internal/measure/series"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Case is Evidence with what every rule asks of it worked out once.
type Case struct {
	*Evidence
	outcome Outcome
	ledger  sample.Ledger
	own     sample.Ledger // of the subject alone
	curve   curve

	limit   sample.Bytes // the cgroup's, 0 if it has none
	bound   sample.Bytes // what the charge may not exceed: the limit, else the charge at a kill; 0: unknown
	peak    sample.Bytes
	pressed bool // killed by the kernel, or unreclaimable memory near the limit

	proc *sample.ProcessMoment // the subject; nil if the moment does not hold it
	g    *sample.Runtime       // its runtime; nil if it was not read
	live liveHeap

	malloc   *sample.Malloc // what C's malloc said at the moment, or last before it; nil: not known
	site     *Site          // to blame for the heap; nil: none known
	inFlight callCorrelation
	rise     rise
	ofLine   bool // rise is that of the blamed line, and not of the live heap
	kept     keepers
	features features
	more     []Cause // the user's own
	run      Run
}

// liveHeap is what is known of the live heap at the moment.
type liveHeap struct {
	bytes sample.Bytes // the best estimate
	exact bool         // a mark counted it
	known bool         // exact, or the last collections tell how much of new memory stays
	share float64      // the part of new memory that stayed in the last collections
}

func newCase(e *Evidence) *Case {
	c := &Case{Evidence: e, outcome: judgeOutcome(e), ledger: e.divide(e.Moment), curve: liveCurve(e)}
	c.limit, _ = e.limit()
	c.bound = c.limit
	if c.outcome.Kernel && (c.bound == 0 || c.outcome.By != ByCgroup) {
		c.bound = c.ledger.Total
	}
	if c.outcome.PeakBytes != nil {
		c.peak = *c.outcome.PeakBytes
	}
	c.pressed = c.outcome.Kernel || c.limit > 0 && c.hardPeak() >= nearTheLimit.v()*float64(c.limit)
	if c.proc = e.process(); c.proc != nil {
		c.g = c.proc.Go
		c.own = e.divide(sample.Moment{Processes: []sample.ProcessMoment{*c.proc}})
	}
	c.malloc = c.mallocNow()
	if c.g != nil {
		c.live = judgeLive(c.g, c.proc.Live, e.Cycles)
	}
	c.rise = c.grownRise(c.warmUntil())
	e.capturedLines()
	c.goneLines()
	c.site = e.blamed(c.rise, c.outcome.MomentElapsed)
	if s := c.heldByCalls(); s != nil {
		c.site = s
	} else {
		c.followLine()
	}
	if c.keptByNature() {
		c.rise = c.grownRise(0) // nothing of it is loaded once and for all
	}
	if c.site != nil {
		c.inFlight = callsAround(c.site, c.goroutines(), c.outcome.MomentElapsed)
		if c.endLater() || c.finish() {
			c.inFlight.gather = 0
		}
	}
	c.kept = c.keptBy()
	c.run = runOf(c)
	c.features = c.measureAll()
	return c
}

// heldByCalls is the line of which calls in flight had more than half of what was live at a kill, growth apart: then
// these calls did not fit, whatever else grew a little. They are many, or the line's memory had come and gone, and was
// never as much. nil: no line is so.
func (c *Case) heldByCalls() *Site {
	if !c.outcome.Kernel || !c.live.exact || len(c.Sites) == 0 {
		return nil
	}
	most := &c.Sites[0]
	for i := range c.Sites {
		if c.Sites[i].Bytes > most.Bytes {
			most = &c.Sites[i]
		}
	}
	half, calls := heldByRoot.v()*float64(c.live.bytes), float64(callsAround(most, c.goroutines(), c.outcome.MomentElapsed).calls)
	many := calls >= manyCalls.v() && float64(most.Bytes)-c.rise.grown >= half
	sudden := calls >= 1 && most.turnover(0, c.outcome.MomentElapsed) >= turnedOver.v() && float64(most.Bytes.Sub(most.mostBefore())) >= half
	if !many && !sudden {
		return nil
	}
	return most
}

// mostBefore is the most that the line held at any look before the moment.
func (s *Site) mostBefore() (most sample.Bytes) {
	for i := range s.Course {
		most = max(most, s.Course[i].Bytes)
	}
	return most
}

// goroutines are the subject's at the moment; nil: not read.
func (c *Case) goroutines() []sample.GoroutineGroup {
	if c.proc == nil {
		return nil
	}
	return c.proc.Goroutines
}

// judgeLive divides the heap into live and garbage; without a mark, what the last collection found and the part of what
// came since that the collections before it let one expect.
func judgeLive(g *sample.Runtime, mark *sample.Liveness, cycles []sample.GCCycle) liveHeap {
	if mark != nil {
		return liveHeap{bytes: mark.Bytes, exact: true, known: true}
	}
	share, ok := grownShare(cycles)
	since := g.HeapLive.Sub(g.HeapMarked)
	return liveHeap{bytes: g.HeapMarked + sample.Bytes(share*float64(since)), known: ok, share: share}
}

// hardPeak is the greatest charge less what the kernel could have taken back. Of a program that was watched in a
// cgroup with others it is the most anonymous memory of its processes.
func (c *Case) hardPeak() float64 {
	most := float64(c.Hard)
	if series.First(c.Ticks.Usage) == series.None {
		if i := series.Max(c.Ticks.Anon); i != series.None {
			most = max(most, c.Ticks.Anon[i])
		}
	}
	for i, usage := range c.Ticks.Usage {
		if cache := c.Ticks.PageCache[i]; !math.IsNaN(usage) && !math.IsNaN(cache) {
			most = max(most, usage-cache)
		}
	}
	if c.ledger.OfCgroup {
		most = max(most, float64(c.ledger.Total.Sub(c.ledger.Row(sample.RowPageCache))))
	}
	return most
}

// unrecordedBytes is how much came after the moment, where the kill itself was not caught.
func (c *Case) unrecordedBytes() sample.Bytes {
	if !c.outcome.Kernel || c.Moment.Kind == sample.MomentDeath {
		return 0
	}
	return max(c.bound, c.peak).Sub(c.ledger.Total)
}

// momentUnusable reports whether so little was seen that the moment's figures rule nothing out.
func (c *Case) momentUnusable() bool {
	return len(c.ledger.Rows) == 0 || c.unrecordedBytes() > c.bound/10
}

// runtimeUnreadable reports whether the subject is a Go program whose runtime was not read, so that nothing is known of its heap.
func (c *Case) runtimeUnreadable() bool { return c.g == nil && c.isGo(c.Subject) }

// sum is several rows of a ledger together.
func sum(l sample.Ledger, names ...string) (b sample.Bytes) {
	for _, n := range names {
		b += l.Row(n)
	}
	return b
}

// heap is the subject's resident Go heap: live, new, garbage and idle.
func (c *Case) heap() sample.Bytes { return heapRows(c.own) }

func heapRows(l sample.Ledger) sample.Bytes {
	return sum(l, sample.RowLive, sample.RowNew, sample.RowGarbage, sample.RowIdle)
}

// goFixed is what the subject's Go runtime holds beside the heap; GOMEMLIMIT
// counts it.
func (c *Case) goFixed() sample.Bytes { return sum(c.own, sample.RowStacks, sample.RowRuntime) }

// nonHeap is all that is neither the subject's Go heap nor page cache: what the
// other processes take, too.
func (c *Case) nonHeap() sample.Bytes {
	return c.ledger.Total.Sub(c.ledger.Row(sample.RowPageCache) + c.heap())
}

// outside is the part of it that the subject's GOMEMLIMIT does not see.
func (c *Case) outside() sample.Bytes { return c.nonHeap().Sub(c.goFixed()) }

// others is what the other processes took.
func (c *Case) others() (b sample.Bytes) {
	for _, p := range c.Moment.Processes {
		if p.Key != c.Subject {
			b += anonOf(p)
		}
	}
	return b
}

// waste is the resident part of what was allocated and is dead, as far as that
// is known. Free slots and freed pages are not in it: they are no garbage.
func (c *Case) waste() sample.Bytes {
	return (c.liveRows() + c.own.Row(sample.RowGarbage)).Sub(min(c.live.bytes, c.liveRows()))
}

// liveRows is the resident part of what may be live.
func (c *Case) liveRows() sample.Bytes { return sum(c.own, sample.RowLive, sample.RowNew) }

// untouched is how much of the live objects has no page behind it, 0 where that is
// not known.
func (c *Case) untouched() sample.Bytes {
	if c.proc == nil || c.proc.Residency == nil || !c.proc.Residency.GoKnown || !c.live.exact {
		return 0
	}
	return c.live.bytes.Sub(c.liveRows())
}

// pageless is how much of the heap in use has no page behind it: of live objects where a mark tells
// which those are, else of all.
func (c *Case) pageless() sample.Bytes {
	if c.proc == nil || c.proc.Residency == nil || !c.proc.Residency.GoKnown || c.live.exact {
		return c.untouched()
	}
	return c.proc.Residency.Untouched
}

// memoryLimit is GOMEMLIMIT in force; ok is false where there is none.
func (c *Case) memoryLimit() (sample.Bytes, bool) {
	if c.g == nil || c.g.MemoryLimit <= 0 || c.g.MemoryLimit == sample.NoMemoryLimit {
		return 0, false
	}
	return sample.Bytes(c.g.MemoryLimit), true
}
