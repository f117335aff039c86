package explain

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/words/sample"
)

var idleHeapPage = Page{
	Truth: "A large part of the memory usage is heap that Go has freed and not yet returned to the kernel. Go reuses this memory before it asks for more.",
	Looks: []string{
		"Pages of Go's arenas that belong to no object, stack or table, and are resident: by page where a moment was read, else by the runtime's own count.",
		"How much of it is the room that GOGC leaves between the live heap and the next GC: where no limit is near, that room is normal.",
		"Whether memory usage was near the limit: then free heap takes the room of something else. GOMEMLIMIT makes Go return free heap sooner, debug.FreeOSMemory at once.",
		"Whether other processes under the limit were still growing. Then no setting is predicted to survive.",
	},
	Blind: []string{
		"What the memory was used for before it was freed: ask for the moment of the peak.",
		"Free slots within pages that still contain an object: Go cannot return them. They are in the same row of the ledger, but do not count for this verdict.",
	},
	Example: "freed memory that Go keeps",
}

// judgeIdleHeap speaks where freed heap that is still resident is what fills the charge.
func judgeIdleHeap(c *Case) Finding {
	if c.g == nil {
		return minor("the Go runtime was not read")
	}
	idle := c.idle()
	facts := []Fact{c.factIdle(idle), c.factLedger()}
	hard := c.ledger.Total.Sub(c.ledger.Row(sample.RowPageCache))
	switch {
	case c.pressed && idle < c.bound*10/100:
		return minor(fmt.Sprintf("free heap was %s", size(idle)), facts...)
	case c.pressed && idle < c.bound*25/100:
		return silent(fmt.Sprintf("free heap was %s", size(idle)), facts...)
	case c.pressed && idle < c.live.bytes:
		return silent(fmt.Sprintf("free heap was %s, the live heap %s", size(idle), size(c.live.bytes)), facts...)
	case !c.pressed && (idle < 64*sample.MiB || idle < hard/2 || c.outcome.Elapsed < keptIdle.v()):
		return minor(fmt.Sprintf("free heap was %s", size(idle)), facts...)
	case !c.pressed && c.headroom()*2 > idle:
		return minor(fmt.Sprintf("free heap was %s, and the next GC was due only at %s", size(idle), goal(c.g.HeapGoal)), facts...)
	}
	return idleHeapFound(c, idle, facts)
}

// headroom is how far the heap may grow above what is live until the next GC: after each one as much of it is free.
func (c *Case) headroom() sample.Bytes {
	if c.g.HeapGoal >= unlimited {
		return c.live.bytes
	}
	return c.g.HeapGoal.Sub(c.live.bytes)
}

// idle is the subject's heap pages that hold no object.
func (c *Case) idle() sample.Bytes {
	return residencyOf(*c.proc).GoIdle
}

func idleHeapFound(c *Case, idle sample.Bytes, facts []Fact) Finding {
	f := Finding{Stance: Speaks, Bytes: idle, Facts: facts, Confidence: Medium}
	f.Sentence = fmt.Sprintf("%s of the %s is free heap%s that Go has not yet returned to the system. Only %s is live.",
		size(idle), size(c.ledger.Total), c.of(), size(c.live.bytes))
	f.Detail = "Free heap, not a leak. Go reuses free heap first, and returns it over minutes."
	if c.proc.Residency != nil && c.proc.Residency.GoKnown {
		f.Confidence, f.Because = High, []string{"every page of the process was read"}
	} else {
		f.Because = []string{"the figure is the Go runtime's own"}
	}
	why := "the heap was larger before, and Go keeps its pages for the next rise"
	if c.curve.max > 1.5*c.curve.last && len(c.curve.points) > 0 {
		why = fmt.Sprintf("the live heap was %s before, and Go keeps the pages for the next rise", fsize(c.curve.max))
	}
	f.Why = []Why{{Text: why, Evidence: []string{"idle"}}}
	if len(c.Allocators) > 0 && c.Allocators[0].Share >= 0.4 {
		top := &c.Allocators[0]
		f.Facts = append(f.Facts, c.factAllocator(top))
		f.Why = append(f.Why, Why{Text: fmt.Sprintf("%.0f%% of everything ever allocated came from %s", 100*top.Share, place(top.File, top.Line)),
			Evidence: []string{"allocator"}})
	}
	if c.pressed {
		f.Why = append(f.Why, Why{Text: c.collectorWhy(), Evidence: []string{"collector"}})
		f.Facts = append(f.Facts, c.factCollector())
	}
	return f
}

func (c *Case) factIdle(idle sample.Bytes) Fact {
	return Fact{ID: "idle", Text: fmt.Sprintf("free heap: %s resident, %s already returned to the system", size(idle), size(c.g.HeapReleased)),
		Values: map[string]int64{"idle_bytes": int64(idle), "released_bytes": int64(c.g.HeapReleased)}}
}
