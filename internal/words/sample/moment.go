package sample

import "time"

// MomentKind says why a moment was kept.
type MomentKind string

// The kinds of moments. A recording's "peak" is the MomentMax with the highest
// charge (or the kill, if that is higher); its "kill" is the MomentKill whose
// process the kernel killed; its "last" is the latest of any kind.
const (
	MomentCalm   MomentKind = "calm"   // the calm rhythm
	MomentMax    MomentKind = "max"    // a new maximum of the charge
	MomentGrowth MomentKind = "growth" // fast growth
	MomentAsked  MomentKind = "asked"  // a person asked for it
	MomentDeath  MomentKind = "death"  // a process held at its exit; Signal says by what
	MomentEnd    MomentKind = "end"    // the watch ended while the program ran
)

// Moment is an instant at which more than the tick's figures was kept. A death
// is one process's; the other kinds hold every process watched then.
type Moment struct {
	At     time.Time
	Kind   MomentKind
	Cgroup *Cgroup // read within it
	// CgroupAfter is the charge read again when the moment had been captured:
	// how far the program moved meanwhile.
	CgroupAfter *Cgroup
	Processes   []ProcessMoment
	// Files are those behind page cache and tmpfs; nil: they were not looked at then.
	Files *Files
	// Took is how long reading it took; Stopped how long the program was held.
	Took, Stopped time.Duration
}

// ProcessMoment is one process within a Moment. Nil and absent members were not
// read; a Gap says why.
type ProcessMoment struct {
	Key ProcessKey
	// Signal is the signal it dies by, 0 for an exit or a process that lives.
	// It never says who sent it: the cgroup's oom_kill does.
	Signal     int
	ExitCode   Opt[int]
	Resident   *Resident
	Residency  *Residency
	Go         *Runtime
	Profile    *HeapProfile
	Live       *Liveness
	Goroutines []GoroutineGroup
	Metrics    *RuntimeMetrics // At, Values and Histograms
	Malloc     *Malloc         // of C; nil: it has none, or that was not looked at
	// ThreadStarts are the functions of C that its threads run, most threads first; nil: few, or not known.
	ThreadStarts []ThreadStart
	// Incomplete says what the capture did not reach, "" if all was read.
	Incomplete string
}

// ThreadStart is a function that threads of C were made for.
type ThreadStart struct {
	Func   string // as C's symbols name it; "": not named
	Module string // base name of the file that it is in
	Count  int    // threads
	Go     bool   // it is Go's own for threads in a program with C (runtime/cgo)
}

// Liveness is what a mark over a held process's memory reached from its roots:
// what was really live at that instant, not at the last collection.
type Liveness struct {
	Objects uint64
	Bytes   Bytes // in size-class slots, as HeapAlloc counts them
	// Large is the part of Bytes in objects larger than a page: of others no page is without a written neighbour,
	// as good as.
	Large Opt[Bytes]
	// Sampled[i] is how many sampled objects of the process's i-th bucket were
	// reached, unscaled; nil where specials could not be read.
	Sampled []uint64
	// Took is how long the mark took.
	Took time.Duration
}

// Residency is where a process's resident memory lay, by page: its anonymous
// rows are disjoint and sum to Anon. For a program that is no Go program, or
// one whose runtime cannot be read, the Go rows are 0, GoKnown is false and
// everything anonymous outside the malloc rows is in Mmap.
type Residency struct {
	Anon  Bytes // sum of Anonymous over smaps
	File  Bytes // resident pages of files, shared and private-clean
	Shmem Bytes // resident shared memory
	Swap  Bytes

	GoKnown   bool
	GoObjects Bytes // pages of spans that hold heap objects (live, garbage and free slots)
	GoIdle    Bytes // pages of the arenas in no span: freed, not yet given back
	GoStacks  Bytes // pages of manually managed spans: goroutine stacks and the GC's work buffers
	GoRuntime Bytes // the runtime's own tables outside the arenas
	CMalloc   Bytes // brk heap and malloc's thread arenas
	Mmap      Bytes // other anonymous mappings: large mallocs, the program's own mmap, thread stacks of C
	Image     Bytes // data, bss and other written pages of mapped files, the main thread's stack

	// Untouched is the part of spans with objects that has no page behind it:
	// allocated, counted by Go, never written. It is in no row above.
	Untouched Bytes
	// UntouchedNew is the part of Untouched in large objects allocated since the
	// last collection.
	UntouchedNew Bytes

	PageTables Bytes // VmPTE

	// CStacks are the resident pages of stacks of C's threads, a part of Mmap; CStackCount their number.
	CStacks     Opt[Bytes]
	CStackCount Opt[uint64]
}

// RangeKind says what a range of a Go process's addresses holds.
type RangeKind uint8

// The kinds of ranges. RangeArena covers whole heap arenas and contains the
// others but RangeRuntime; what lies in an arena and in no other range is idle.
const (
	RangeArena      RangeKind = iota // a heap arena
	RangeObjects                     // a span in use by heap objects
	RangeObjectsNew                  // the same: one large object, allocated since the last collection
	RangeStacks                      // a manually managed span: stacks, GC work buffers
	RangeRuntime                     // the runtime's own tables, outside the arenas
)

// PageRange is a range of addresses of one kind, [Start, End).
type PageRange struct {
	Start, End uint64
	Kind       RangeKind
}
