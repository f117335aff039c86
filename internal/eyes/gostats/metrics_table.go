package gostats

// formula is one figure of runtime/metrics as a sum of the runtime's fields:
//
//	heap.F      runtime.memstats.heapStats, of which the three deltas are summed
//	stats.F     runtime.memstats
//	gc.F        runtime.gcController
//	cpu.F       runtime.work.cpuStats
//	sched.F     runtime.sched
//	mheap.F     runtime.mheap_
//	limiter.F   runtime.gcCPULimiter
//	cleanups.F  runtime.gcCleanups
//	P.F, M.F    that field of every P or M
//	V           a variable of package runtime
//
// A field that ends in [] is an array whose elements are summed. "a|b" is the
// first that the version has, what ends in ? is 0 in versions without it, and what
// ends in ! counts 1 if it is not 0.
type formula struct{ name, sum string }

// formulas follow runtime/metrics.go, initMetrics, of Go 1.27.
var formulas = []formula{
	{"/cgo/go-to-c-calls:calls", "ncgocall + M.ncgocall"},
	{"/cpu/classes/gc/mark/assist:cpu-seconds", "cpu.GCAssistTime|gcAssistTime"},
	{"/cpu/classes/gc/mark/dedicated:cpu-seconds", "cpu.GCDedicatedTime|gcDedicatedTime"},
	{"/cpu/classes/gc/mark/idle:cpu-seconds", "cpu.GCIdleTime|gcIdleTime"},
	{"/cpu/classes/gc/pause:cpu-seconds", "cpu.GCPauseTime|gcPauseTime"},
	{"/cpu/classes/gc/total:cpu-seconds", "cpu.GCTotalTime|gcTotalTime"},
	{"/cpu/classes/idle:cpu-seconds", "cpu.IdleTime|idleTime"},
	{"/cpu/classes/scavenge/assist:cpu-seconds", "cpu.ScavengeAssistTime|scavengeAssistTime"},
	{"/cpu/classes/scavenge/background:cpu-seconds", "cpu.ScavengeBgTime|scavengeBgTime"},
	{"/cpu/classes/scavenge/total:cpu-seconds", "cpu.ScavengeTotalTime|scavengeTotalTime"},
	{"/cpu/classes/total:cpu-seconds", "cpu.TotalTime|totalTime"},
	{"/cpu/classes/user:cpu-seconds", "cpu.UserTime|userTime"},
	{"/gc/cleanups/executed:cleanups", "cleanups.executed"},
	{"/gc/cleanups/queued:cleanups", "cleanups.queued + P.cleanupsQueued"},
	{"/gc/cycles/automatic:gc-cycles", "stats.numgc - stats.numforcedgc"},
	{"/gc/cycles/forced:gc-cycles", "stats.numforcedgc"},
	{"/gc/cycles/total:gc-cycles", "stats.numgc"},
	{"/gc/finalizers/executed:finalizers", "finexecuted"},
	{"/gc/finalizers/queued:finalizers", "finqueued"},
	{"/gc/gogc:percent", "gc.gcPercent"},
	{"/gc/gomemlimit:bytes", "gc.memoryLimit"},
	{"/gc/heap/allocs:bytes", "gc.totalAlloc"},
	{"/gc/heap/allocs:objects", "heap.largeAllocCount + heap.smallAllocCount[]"},
	{"/gc/heap/frees:bytes", "gc.totalFree"},
	{"/gc/heap/frees:objects", "heap.largeFreeCount + heap.smallFreeCount[]"},
	{"/gc/heap/live:bytes", "gc.heapMarked"},
	{"/gc/heap/objects:objects", "heap.largeAllocCount + heap.smallAllocCount[] - heap.largeFreeCount - heap.smallFreeCount[]"},
	{"/gc/heap/tiny/allocs:objects", "heap.tinyAllocCount"},
	{"/gc/limiter/last-enabled:gc-cycle", "limiter.lastEnabledCycle"},
	{"/gc/scan/globals:bytes", "gc.globalsScan"},
	{"/gc/scan/heap:bytes", "gc.heapScan"},
	{"/gc/scan/stack:bytes", "gc.lastStackScan"},
	{"/gc/scan/total:bytes", "gc.globalsScan + gc.heapScan + gc.lastStackScan"},
	{"/gc/stack/starting-size:bytes", "startingStackSize"},
	{"/memory/classes/heap/free:bytes", "heap.committed - heap.inHeap - heap.inStacks - heap.inWorkBufs - heap.inPtrScalarBits?"},
	{"/memory/classes/heap/objects:bytes", "gc.totalAlloc - gc.totalFree"},
	{"/memory/classes/heap/released:bytes", "heap.released"},
	{"/memory/classes/heap/stacks:bytes", "heap.inStacks"},
	{"/memory/classes/heap/unused:bytes", "heap.inHeap - gc.totalAlloc + gc.totalFree"},
	{"/memory/classes/metadata/mcache/free:bytes", "stats.mcache_sys - mheap.cachealloc.inuse"},
	{"/memory/classes/metadata/mcache/inuse:bytes", "mheap.cachealloc.inuse"},
	{"/memory/classes/metadata/mspan/free:bytes", "stats.mspan_sys - mheap.spanalloc.inuse"},
	{"/memory/classes/metadata/mspan/inuse:bytes", "mheap.spanalloc.inuse"},
	{"/memory/classes/metadata/other:bytes", "heap.inWorkBufs + heap.inPtrScalarBits? + stats.gcMiscSys"},
	{"/memory/classes/os-stacks:bytes", "stats.stacks_sys"},
	{"/memory/classes/other:bytes", "stats.other_sys"},
	{"/memory/classes/profiling/buckets:bytes", "stats.buckhash_sys"},
	{"/memory/classes/total:bytes", "heap.committed + heap.released + stats.stacks_sys + stats.mspan_sys + stats.mcache_sys" +
		" + stats.buckhash_sys + stats.gcMiscSys + stats.other_sys"},
	{"/sched/gomaxprocs:threads", "gomaxprocs"},
	{"/sched/goroutines-created:goroutines", "sched.goroutinesCreated + P.goroutinesCreated"},
	{"/sched/goroutines/runnable:goroutines", "sched.runq.size|runqsize + P.runqtail - P.runqhead + P.runnext!"},
	{"/sched/threads/total:threads", "sched.mnext - sched.nmfreed - extraMInUse - extraMLength"},
	{"/sync/mutex/wait/total:seconds", "sched.totalMutexWaitTime + sched.totalRuntimeLockWaitTime? + M.mLockProfile.waitTime?"},
}

// halves are the variables of 32 bits among them.
var halves = []string{"gomaxprocs", "startingStackSize", "extraMInUse", "extraMLength"}

// timeHistograms are those of durations; of two places the version's own.
var timeHistograms = []struct{ name, place string }{
	{"/gc/pauses:seconds", "sched.stwTotalTimeGC"}, // since Go 1.22
	{"/gc/pauses:seconds", "stats.gcPauseDist"},
	{"/sched/latencies:seconds", "sched.timeToRun"},
	{"/sched/pauses/stopping/gc:seconds", "sched.stwStoppingTimeGC"},
	{"/sched/pauses/stopping/other:seconds", "sched.stwStoppingTimeOther"},
	{"/sched/pauses/total/gc:seconds", "sched.stwTotalTimeGC"},
	{"/sched/pauses/total/other:seconds", "sched.stwTotalTimeOther"},
}

// sizeHistograms count objects by size class.
var sizeHistograms = []struct{ name, small, large string }{
	{"/gc/heap/allocs-by-size:bytes", "heap.smallAllocCount", "heap.largeAllocCount"},
	{"/gc/heap/frees-by-size:bytes", "heap.smallFreeCount", "heap.largeFreeCount"},
}

// unreadable is what runtime/metrics has and no memory of the runtime holds.
var unreadable = []struct{ name, why string }{
	{"/godebug/non-default-behavior/*:events", "counted by package internal/godebug, where no runtime variable leads"},
}
