package gostats

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// attach finds every figure, reads them once and looks whether they can be.
func (c *counterReader) attach(s *Stats, find *gomem.Resolver) error {
	c.resolve(find)
	c.caches.attach(find)
	if err := find.Err(); err != nil {
		return err
	}
	var rt sample.Runtime
	if err := s.Counters(&rt); err != nil {
		return err
	}
	if err := c.verify(&rt); err != nil {
		return fmt.Errorf("what lies in memory is not the runtime of %s: %w", s.r.Binary().GoVersion, err)
	}
	return nil
}

// resolve asks for the variables and turns fields into places in the bytes
// gathered.
func (c *counterReader) resolve(find *gomem.Resolver) {
	controller, stats := find.Addr("gcController"), find.Addr("memstats")
	work, sched := find.Addr("work"), find.Addr("sched")
	c.vars.add(controller, find.Size("gcControllerState"))
	c.vars.add(stats, find.Size("mstats"))
	c.vars.add(work, find.Size("workType"))
	c.vars.add(sched, freeList(find).end)
	for _, v := range scalars {
		c.vars.add(find.Addr(v.name), v.size)
	}
	if len(find.Missing) > 0 {
		return
	}
	c.vars.plan()
	c.placeController(find, c.vars.at(controller))
	c.placeStats(find, c.vars.at(stats))
	c.placeWork(find, c.vars.at(work))
	c.placeScalars(find)
	c.placeFree(find, c.vars.at(sched))
	if find.Minor > 20 {
		c.at.headroomPercent = limitHeadroomPercent
	}
}

// scalars are the variables that are no struct.
var scalars = []struct {
	name string
	size uint64
}{{"gcphase", 4}, {"allglen", 8}, {"MemProfileRate", 8}, {"allp", 24}}

func (c *counterReader) placeScalars(find *gomem.Resolver) {
	at := func(name string) uint64 { return c.vars.at(find.Addr(name)) }
	c.at.gcphase, c.at.allglen = at("gcphase"), at("allglen")
	c.at.profileRate, c.at.allpHeader = at("MemProfileRate"), at("allp")
}

func (c *counterReader) placeController(find *gomem.Resolver, base uint64) {
	for _, f := range []struct {
		at    *uint64
		field string
	}{
		{&c.at.gcPercent, "gcPercent"},
		{&c.at.memoryLimit, "memoryLimit"},
		{&c.at.gcPercentHeapGoal, "gcPercentHeapGoal"},
		{&c.at.sweepDistMinTrigger, "sweepDistMinTrigger"},
		{&c.at.triggered, "triggered"},
		{&c.at.heapLive, "heapLive"},
		{&c.at.heapMarked, "heapMarked"},
		{&c.at.heapInUse, "heapInUse"},
		{&c.at.heapReleased, "heapReleased"},
		{&c.at.heapFree, "heapFree"},
		{&c.at.totalAlloc, "totalAlloc"},
		{&c.at.totalFree, "totalFree"},
		{&c.at.mappedReady, "mappedReady"},
	} {
		*f.at = base + find.Offset("gcControllerState", f.field)
	}
}

func (c *counterReader) placeStats(find *gomem.Resolver, base uint64) {
	for _, f := range []struct {
		at    *uint64
		field string
	}{
		{&c.at.heapStats, "heapStats"},
		{&c.at.stacksSys, "stacks_sys"},
		{&c.at.mspanSys, "mspan_sys"},
		{&c.at.mcacheSys, "mcache_sys"},
		{&c.at.buckhashSys, "buckhash_sys"},
		{&c.at.gcMiscSys, "gcMiscSys"},
		{&c.at.otherSys, "other_sys"},
		{&c.at.lastGC, "last_gc_unix"},
		{&c.at.pauseTotal, "pause_total_ns"},
		{&c.at.numGC, "numgc"},
		{&c.at.numForced, "numforcedgc"},
		{&c.at.fraction, "gc_cpu_fraction"},
	} {
		*f.at = base + find.Offset("mstats", f.field)
	}
	c.at.deltaSize = find.Size("heapStatsDelta")
	c.at.inStacks = find.Offset("heapStatsDelta", "inStacks")
	c.at.inWorkBufs = find.Offset("heapStatsDelta", "inWorkBufs")
	c.at.inPtrScalarBits, c.at.hasPtrScalarBits = find.Layout.Offset("runtime.heapStatsDelta", "inPtrScalarBits")
}

func (c *counterReader) placeWork(find *gomem.Resolver, base uint64) {
	c.at.initialHeapLive = base + find.Offset("workType", "initialHeapLive")
	cpu := base + find.Offset("workType", "cpuStats")
	c.at.assist = cpu + find.FirstOffset("cpuStats", "GCAssistTime", "gcAssistTime") // since Go 1.23; before
	c.at.dedicated = cpu + find.FirstOffset("cpuStats", "GCDedicatedTime", "gcDedicatedTime")
	c.at.idle = cpu + find.FirstOffset("cpuStats", "GCIdleTime", "gcIdleTime")
	c.at.pause = cpu + find.FirstOffset("cpuStats", "GCPauseTime", "gcPauseTime")
	c.at.cpuTotal = cpu + find.FirstOffset("cpuStats", "TotalTime", "totalTime")
}

// free is where sched counts the free g's.
type free struct {
	stack, noStack uint64
	one            bool // to Go 1.24 one count n, since 1.25 one in each list
	end            uint64
}

func freeList(find *gomem.Resolver) free {
	if n, ok := find.Layout.Offset("runtime.schedt", "gFree.n"); ok {
		return free{stack: n, one: true, end: n + 4}
	}
	f := free{
		stack:   find.Offset("schedt", "gFree.stack.size"),
		noStack: find.Offset("schedt", "gFree.noStack.size"),
	}
	f.end = max(f.stack, f.noStack) + 4
	return f
}

func (c *counterReader) placeFree(find *gomem.Resolver, sched uint64) {
	f := freeList(find)
	c.at.freeStack, c.at.freeNoStack, c.at.freeIsOne = sched+f.stack, sched+f.noStack, f.one
	c.at.ngsys = sched + find.Offset("schedt", "ngsys")
	c.pFree = find.FirstOffset("p", "gFree.size", "gFree.n") // since Go 1.25; before
}
