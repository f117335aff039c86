package explain

import (
	"fmt"
	"math"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// The facts that rules refer to. Their IDs here are names; number gives them
// their places in the answer.

func (c *Case) factOutcome() Fact {
	f := Fact{ID: "outcome", Values: map[string]int64{}}
	if c.outcome.PeakBytes != nil {
		f.Values["peak_bytes"] = int64(c.peak)
	}
	if c.limit > 0 {
		f.Values["limit_bytes"] = int64(c.limit)
	}
	kills := int64(0)
	for _, e := range c.Events {
		if e.Kind == sample.EventOOMKill {
			kills += e.Value
		}
	}
	f.Values["oom_kills"] = kills
	if cg := c.Moment.Cgroup; cg != nil && cg.Events != nil {
		f.Values["charges_at_limit"] = int64(cg.Events.Max)
	}
	switch {
	case c.outcome.Kernel:
		f.Text = fmt.Sprintf("the cgroup's oom_kill counter grew by %d", kills)
	case c.outcome.PeakBytes == nil:
		f.Text = "no figure of the program's whole memory was read"
	case c.limit > 0:
		f.Text = fmt.Sprintf("the peak was %s of %s, and the cgroup's oom_kill counter did not grow", size(c.peak), limit(c.limit))
	default:
		f.Text = fmt.Sprintf("the peak was %s, with no memory limit", size(c.peak))
	}
	return f
}

func (c *Case) factLedger() Fact {
	if len(c.ledger.Rows) == 0 {
		return Fact{ID: "ledger", Text: fmt.Sprintf("at the %s the program's memory was not read", c.momentName()), Values: map[string]int64{}}
	}
	f := Fact{ID: "ledger", Values: map[string]int64{
		"total_bytes": int64(c.ledger.Total), "heap_bytes": int64(heapRows(c.ledger)), "native_bytes": int64(c.ledger.Row(sample.RowNative)),
		"page_cache_bytes": int64(c.ledger.Row(sample.RowPageCache)), "unexplained_bytes": c.ledger.Unexplained}}
	f.Text = fmt.Sprintf("at the %s: %s, of which Go heap %s, native %s, page cache %s", c.momentName(), size(c.ledger.Total),
		size(heapRows(c.ledger)), size(c.ledger.Row(sample.RowNative)), size(c.ledger.Row(sample.RowPageCache)))
	if whole := c.ledger.Row(sample.RowUndivided); whole > 0 {
		delete(f.Values, "heap_bytes")
		delete(f.Values, "native_bytes")
		f.Values["undivided_bytes"] = int64(whole)
		f.Text = fmt.Sprintf("at the %s: %s, of which page cache %s, and %s in a Go program whose heap could not be told from the rest",
			c.momentName(), size(c.ledger.Total), size(c.ledger.Row(sample.RowPageCache)), size(whole))
	}
	return f
}

func (c *Case) factCurve() Fact {
	k := c.curve
	if len(k.points) == 0 {
		return Fact{ID: "curve", Text: "no GC was seen", Values: map[string]int64{"collections": 0}}
	}
	f := Fact{ID: "curve", Values: map[string]int64{"collections": int64(len(c.Cycles)), "first_bytes": int64(k.first),
		"last_bytes": int64(k.last), "floor_bytes": int64(k.floor), "greatest_fall_bytes": int64(k.drop),
		"returns": int64(len(k.returns)), "slope_bytes_per_second": whole64(k.trend.Slope)}}
	if k.trend.N >= int(enoughReadings.v()) && !math.IsInf(k.trend.Low, 0) {
		f.Values["slope_low"], f.Values["slope_high"] = int64(k.trend.Low), int64(k.trend.High)
	}
	f.Text = fmt.Sprintf("live heap after each of %s: %s at first, %s at last, greatest fall %s",
		c.readings(), fsize(k.first), fsize(k.last), fsize(k.drop))
	return f
}

func (c *Case) factLive() Fact {
	f := Fact{ID: "live", Values: map[string]int64{"live_bytes": int64(c.live.bytes)}}
	switch {
	case c.live.exact:
		f.Text = fmt.Sprintf("%s was reachable, in %s", size(c.live.bytes), count(int(c.proc.Live.Objects), "object"))
		f.Values["objects"] = int64(c.proc.Live.Objects)
	case c.live.known:
		f.Text = fmt.Sprintf("the last GC found %s live; %.0f%% of what was allocated between the last few GCs stayed", size(c.g.HeapMarked), 100*c.live.share)
		f.Values["marked_bytes"] = int64(c.g.HeapMarked)
	default:
		f.Text = fmt.Sprintf("the last GC found %s live; how much of the %s allocated since then is live was not measured",
			size(c.g.HeapMarked), size(c.g.HeapLive.Sub(c.g.HeapMarked)))
		f.Values["marked_bytes"] = int64(c.g.HeapMarked)
	}
	if c.g != nil {
		f.Values["heap_bytes"] = int64(c.g.HeapAlloc())
		f.Values["goal_bytes"] = int64(c.g.HeapGoal)
	}
	return f
}

func (c *Case) factSite() Fact { return c.factLine(c.site) }

func (c *Case) factLine(s *Site) Fact {
	return Fact{ID: "site", Text: fmt.Sprintf("%s: %s live in %s; %s allocated and %s freed, as of the last GC",
		place(s.File, s.Line), size(s.Bytes), count(int(s.Samples), "sample"), size(s.Allocated), size(s.Freed)),
		Values: map[string]int64{"held_bytes": int64(s.Bytes), "error_bytes": int64(s.Error), "growth_bytes": s.Growth,
			"allocated_bytes": int64(s.Allocated), "freed_bytes": int64(s.Freed), "since_bytes": int64(s.Since), "samples": int64(s.Samples)}}
}

func (c *Case) factCalls() Fact {
	f := Fact{ID: "calls", Values: map[string]int64{"in_flight": int64(c.inFlight.calls), "running_unseen": int64(c.inFlight.running),
		"moments": int64(c.looks())}}
	where := ShortFunc(c.inFlight.name)
	if where == "" {
		where = "a call that allocated there"
	}
	f.Text = fmt.Sprintf("%s inside %s %s", count(c.inFlight.calls, "goroutine"), where, c.callsSeen("at that time"))
	switch {
	case c.inFlight.left >= leftBehind.v():
		f.Text += "; earlier calls had ended, and their memory stayed"
	case c.inFlight.running > 0:
		f.Text += fmt.Sprintf("; the stacks of %d more could not be read, because those goroutines were running", c.inFlight.running)
	}
	return f
}

// callsSeen is when the goroutines were read: at the moment, in those words, or at an
// earlier one.
func (c *Case) callsSeen(moment string) string {
	if c.inFlight.seenAt == 0 {
		return moment
	}
	return seconds(c.outcome.MomentElapsed-c.inFlight.seenAt) + " earlier, when goroutines were read last"
}

// looks is how many earlier moments tell of the blamed line.
func (c *Case) looks() int {
	if c.site == nil {
		return 0
	}
	return len(c.site.Course)
}

func (c *Case) factCollector() Fact {
	f := Fact{ID: "collector", Values: map[string]int64{"gogc": int64(c.g.GOGC), "goal_bytes": int64(c.g.HeapGoal), "limit_bytes": int64(c.limit)}}
	if l, ok := c.memoryLimit(); ok {
		f.Values["gomemlimit_bytes"] = int64(l)
		f.Text = fmt.Sprintf("GOMEMLIMIT is %s, GOGC is %s, the GC target is %s", limit(l), gogc(c.g.GOGC), goal(c.g.HeapGoal))
		return f
	}
	f.Text = fmt.Sprintf("GOMEMLIMIT is not set, GOGC is %s, the GC target is %s", gogc(c.g.GOGC), goal(c.g.HeapGoal))
	return f
}

func (c *Case) factNative() Fact {
	if len(c.ledger.Rows) == 0 {
		return Fact{ID: "native", Text: "native memory was not read", Values: map[string]int64{}}
	}
	f := Fact{ID: "native", Values: map[string]int64{"native_bytes": int64(c.ledger.Row(sample.RowNative))}}
	f.Text = fmt.Sprintf("native memory: %s", size(c.ledger.Row(sample.RowNative)))
	if c.proc != nil && c.proc.Residency != nil {
		r := c.proc.Residency
		f.Values["malloc_bytes"], f.Values["mmap_bytes"] = int64(r.CMalloc), int64(r.Mmap)
		f.Text += fmt.Sprintf(": malloc %s, other mappings %s", size(r.CMalloc), size(r.Mmap))
	}
	if first, ok := firstSeen(c.Ticks.Native); ok {
		f.Values["first_bytes"] = int64(first)
	}
	return f
}

func (c *Case) factCache() Fact {
	i := c.fullest()
	f := Fact{ID: "cache", Values: map[string]int64{"hard_peak_bytes": int64(c.hardPeak())}}
	if i >= 0 {
		f.Values["page_cache_bytes"] = int64(c.Ticks.PageCache[i])
	}
	f.Text = fmt.Sprintf("page cache was %s at the peak; unreclaimable memory never exceeded %s", fsize(c.cacheAtPeak()), fsize(c.hardPeak()))
	return f
}

// factPace says how fast it allocated and how often it collected.
func (c *Case) factPace(p pace) Fact {
	f := Fact{ID: "pace", Values: map[string]int64{"milliseconds": int64(1000 * p.seconds), "collections": whole64(p.collections),
		"allocated_bytes": whole64(p.allocated), "cpu_ms": whole64(1000 * p.cpu), "gc_ms": whole64(1000 * p.gc)}}
	f.Text = fmt.Sprintf("in %s: %.0f GCs", seconds(p.seconds), p.collections)
	if !math.IsNaN(p.allocated) {
		f.Text += fmt.Sprintf(", %s allocated", fsize(p.allocated))
	}
	if words := p.gcWords(); words != "" {
		f.Text += "; GC took " + words
	}
	return f
}

func (c *Case) factAllocator(a *Allocator) Fact {
	return Fact{ID: "allocator", Text: fmt.Sprintf("%s: %s allocated, %.0f%% of everything, %s of that since the last GC", place(a.File, a.Line), size(a.Bytes),
		100*a.Share, size(a.Since)),
		Values: map[string]int64{"allocated_bytes": int64(a.Bytes), "since_bytes": int64(a.Since), "percent": int64(100*a.Share + 0.5)}}
}

// whole64 is a figure as an integer, 0 for none.
func whole64(v float64) int64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return int64(v)
}

// gogc is the percentage in force in words.
func gogc(v int32) string {
	if v < 0 {
		return "off"
	}
	return fmt.Sprint(v)
}

// unlimited is more than any heap: a goal that stands for none.
const unlimited sample.Bytes = 1 << 60

// goal is a heap goal in words: without GOGC and GOMEMLIMIT there is none.
func goal(b sample.Bytes) string {
	if b >= unlimited {
		return "unlimited"
	}
	return size(b)
}

func (c *Case) momentName() string {
	switch c.At {
	case "kill", "peak":
		return c.At
	case "last":
		return "last reading"
	}
	return "chosen time"
}
