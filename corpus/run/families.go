package main

import "slices"

// families are all that there are. A new one is a folder in made and a row in one
// of these tables.
var families = slices.Concat(mechanisms, services, others)

// mechanisms are programs that have a fault and little else.
var mechanisms = []*family{
	leak("globalmap", "sessions"),
	leak("slicehead", "journal", "all"),
	leak("cacheunbound", "entries"),
	leak("closure", "onClose", "shop"),
	leak("contextchain", "ctx", "context", "valueCtx"),
	leak("timers", "timer", "heap"),
	leak("poolhoard", "free", "pool"),
	leak("finalizer", "finalizer", "handle"),
	leak("substring", "ids"),
	leak("subslice", "headers", "inbox"),
	leak("deferloop", "defer", "consume"),
	leak("linkedlist", "eventLog", "event", "head"),
	beside(24*mib, "liblru", "sessions", "lru"),
	beside(24*mib, "libgroupcache", "thumbnails", "lru", "gallery"),
	beside(24*mib, "liblist", "undo", "list", "editor"),
	beside(24*mib, "libsyncmap", "clients", "limiter", "sync"),
	{name: "sessions", shape: grows, classes: leaks("leak"), trend: "growing", server: true, holder: []string{"sessions", "store"}},

	pile("send"), pile("receive"), pile("mutex"), pile("net"), pile("select"),
	{name: "tickers", shape: grows, classes: leaks("goroutine-leak"), trend: "growing", holder: []string{"keepAlive"}},

	{name: "nativemalloc", shape: grows, classes: always("native"), trend: "growing", hint: true, cgo: true},
	{name: "cgopages", shape: decoded, classes: always("fragmentation"), trend: "growing", hint: true, cgo: true},
	{name: "nativemmap", shape: mapped, classes: always("native"), trend: "growing", hint: true},
	{name: "tmpfs", shape: scratch, classes: always("shmem"), trend: "growing", hint: true},

	{name: "bodies", shape: bodies, classes: spikes, trend: "comes-and-goes", server: true},
	{name: "onevalue", shape: oneValue, classes: spikes, trend: "comes-and-goes"},
	{name: "gzipbomb", shape: oneValue, classes: spikes, trend: "comes-and-goes"},
	// While the slice grows the old arrays are garbage, and the need of the last
	// growth is a burst: where the garbage is what passed the limit, both are true.
	// Appending is all that it does, so that most of its CPU time is the collector's.
	{name: "appenddouble", shape: oneValue, trend: "comes-and-goes", classes: func(r *run) []string {
		return append(spikes(r), "gc-unaware", "churn")
	}, calm: func(r *run) []string {
		return append(calmly(r), "burst") // its one value comes and goes, repaired or not
	}},
	// What waits is work in flight: a burst is true of it, too.
	{name: "backlog", shape: queued, classes: func(r *run) []string { return append([]string{"backlog"}, spikes(r)...) }, trend: "comes-and-goes",
		holder: []string{"waiting", "queue"}},

	// It comes to rest, and all of it is in use or just was: not a leak. It is more
	// than the limit, from soon after the start.
	// Repaired, it makes each large buffer again, some hundred MiB a second: that this costs CPU time is true.
	{name: "syncpool", shape: pooled, trend: "flat", holder: []string{"buffers", "Pool"}, classes: func(r *run) []string {
		return append(spikes(r), "baseline")
	}, calm: func(r *run) []string { return append(calmly(r), "churn") }},

	{name: "garbagerate", shape: busy, classes: always("churn"), trend: "flat"},
	{name: "gcunaware", shape: unaware, classes: always("gc-unaware"), trend: "flat", hint: true},
	{name: "spiral", program: "gcunaware", shape: spirals, classes: always("spiral"), trend: "flat", hint: true},
	// Killed while it loads: that it needs more than its limit is all that is seen.
	{name: "baseline", shape: tooLarge, classes: always("baseline", "inconclusive"), trend: "unknown", hint: true, holder: []string{"blocks", "table"}},

	// Their stacks are the memory, from the start: no leak, but for threads that are
	// still being started; a need that is too large, or a burst, is as true.
	{name: "threads", shape: threads, classes: always("goroutine-leak", "baseline", "burst"), trend: "flat"},
	// They were all there from the start, below the limit: that is no fault of memory, and healthy is
	// true where it is said that they are what the memory is.
	{name: "parked", shape: parked, trend: "flat", says: []string{"goroutines"}, classes: always("goroutine-leak", "baseline", "burst", "healthy")},
	// Nothing is wrong with its memory, only with what its profile seems to say.
	{name: "untouched", shape: virtual, classes: always("untouched", "healthy"), trend: "flat", hint: true},
	{name: "panics", shape: crashes, classes: always("healthy", "inconclusive", "baseline"), trend: "unknown", hint: true,
		says: []string{"panic", "out of range"}},

	{name: "cachefill", innocent: true, shape: fills},
	{name: "batchload", innocent: true, trend: "unknown", shape: batch},
	{name: "sortjob", innocent: true, trend: "comes-and-goes", shape: sorts, calm: func(r *run) []string {
		// It allocates as fast as it can: that the collector costs much is true.
		return append(calmly(r), "churn")
	}},
	{name: "steadyset", innocent: true, shape: steady},
	{name: "afterspike", innocent: true, trend: "comes-and-goes", shape: steady, calm: func(r *run) []string {
		return append(calmly(r), "idle-heap", "burst")
	}},
	{name: "pagecache", innocent: true, shape: cached, calm: always("healthy", "page-cache")},
	// Killed in its first rise, by a limit that is below what the job needs. All that
	// was seen is that need; the rows are in flight of one call, so a burst is true.
	{name: "killedrise", program: "batchload", innocent: true, trend: "unknown", shape: rises, calm: always("baseline", "burst", "inconclusive")},
}

func leak(name string, holder ...string) *family {
	return &family{name: name, shape: grows, classes: leaks("leak"), trend: "growing", holder: holder}
}

// beside is a leak beside something steady of the program's own.
func beside(steady int64, name string, holder ...string) *family {
	f := leak(name, holder...)
	f.steady = steady
	return f
}

// pile is a family of goroutines that wait. The buffer is allocated in the
// goroutine, so that its line shows the memory; the mistake is where they wait or
// where they are started.
func pile(wait string) *family {
	return &family{name: "pile-" + wait, program: "pile", args: []string{"-wait", wait}, marks: []string{wait},
		shape: piles, classes: leaks("goroutine-leak"), trend: "growing", holder: []string{"main." + map[string]string{
			"send": "send", "receive": "receive", "mutex": "lock", "net": "(*peer).read", "select": "selects"}[wait]}}
}
