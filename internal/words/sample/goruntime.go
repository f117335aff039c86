package sample

import "time"

// NoMemoryLimit is Runtime.MemoryLimit where GOMEMLIMIT is not set
// (math.MaxInt64 in runtime/debug.SetMemoryLimit's own terms).
const NoMemoryLimit = 1<<63 - 1

// Runtime is the Go runtime's account of itself, read from its memory. Names
// follow runtime.MemStats where it has the figure; the source of each is in
// gomem. It is read without stopping the program: two fields may be some
// microseconds apart.
type Runtime struct {
	GOGC        int32 // percent in force; -1: off
	MemoryLimit int64 // GOMEMLIMIT in force; NoMemoryLimit: none

	HeapLive   Bytes // marked by the last GC plus all allocated since: what the pacer compares with the trigger
	HeapMarked Bytes // found live by the last GC (floating garbage of the mark included)
	HeapGoal   Bytes // size that the next GC is to end at (NextGC)
	Trigger    Bytes // HeapLive at which the last or running GC began

	// TotalAlloc is cumulative, what Ps have allocated and not yet reported
	// included; TotalAlloc-TotalFree is HeapAlloc, objects not yet swept.
	TotalAlloc Bytes
	TotalFree  Bytes

	HeapInUse    Bytes // spans that hold objects
	HeapFree     Bytes // pages free and not yet given back
	HeapReleased Bytes // address space given back: not resident
	MappedReady  Bytes // all memory of the runtime in state Ready: what GOMEMLIMIT counts, plus HeapFree

	StackInUse Bytes // goroutine stacks (spans)
	StackSys   Bytes
	MSpanSys   Bytes
	MCacheSys  Bytes
	BuckHash   Bytes // the heap profile's own tables (BuckHashSys)
	GCSys      Bytes
	OtherSys   Bytes

	NumGC, NumForcedGC uint32
	GCPhase            GCPhase
	LastGC             time.Time // zero: none yet
	PauseTotal         time.Duration

	// CPU time as the runtime books it, once a GC cycle; wall time of Ps, not
	// the kernel's CPU time.
	GCAssist, GCDedicated, GCIdle, GCPause time.Duration
	CPUTotal                               time.Duration
	GCCPUFraction                          float64

	Goroutines  int
	ProfileRate int64 // MemProfileRate in force; 0: profiling is off
}

// HeapAlloc is the bytes in objects that are allocated and not yet swept, live
// or not.
func (r Runtime) HeapAlloc() Bytes { return r.TotalAlloc.Sub(r.TotalFree) }

// HeapIdle is free heap memory, resident or given back.
func (r Runtime) HeapIdle() Bytes { return r.HeapFree + r.HeapReleased }

// GCPhase is runtime.gcphase.
type GCPhase uint32

// The phases: constants _GCoff, _GCmark, _GCmarktermination of runtime/mgc.go.
const (
	GCOff GCPhase = iota
	GCMark
	GCMarkTermination
)

// GCCycle is one garbage collection, as its end was noticed.
type GCCycle struct {
	At      time.Time // its end: runtime.memstats.last_gc_unix
	Process ProcessKey
	N       uint32        // the NumGC it brought
	Missed  uint32        // cycles before it that ended unseen since the last one seen
	Trigger Bytes         // HeapLive when it began
	Marked  Bytes         // HeapMarked when it ended
	Goal    Bytes         // the goal it leaves
	Pause   time.Duration // stop-the-world time of it (with that of missed ones)
	GOGC    int32
	Limit   int64
	Alloc   Bytes // TotalAlloc when its end was noticed
}

// Bucket is one allocation site of the heap profile: a stack and an object
// size, as runtime.bucket holds them. Stack has return addresses, innermost
// first, as they lie in the process.
type Bucket struct {
	Stack []uint64
	Size  Bytes
}

// BucketCounts are sampled objects, unscaled, in both views (runtime/mprof.go):
// published is what the program's own profile says, up to two collections old;
// now adds what was allocated since (at once) and freed since (once swept).
type BucketCounts struct {
	PubAllocs, PubFrees uint64
	NowAllocs, NowFrees uint64
}

// HeapProfile is a process's heap profile at one instant. Counts[i] belongs to
// the i-th bucket that was announced for the process; buckets are never
// removed, so a later profile's Counts is at least as long.
type HeapProfile struct {
	At     time.Time
	Rate   int64  // MemProfileRate then; 1: every allocation
	Cycle  uint32 // mProfCycle >> 1
	Counts []BucketCounts
	// Left is how many buckets are not among them, because there are too many to
	// follow. A Gap must say so where it is not 0.
	Left int
}

// GoroutineGroup is goroutines that stand at the same place for the same reason.
type GoroutineGroup struct {
	State  string // "running", "runnable", "waiting", "syscall", ...
	Reason string // the runtime's wait reason, "" if none
	// Stack has program counters innermost first: the first is a pc, the others
	// return addresses. Creator is the go statement's pc, 0 if unknown.
	Stack   []uint64
	Creator uint64
	// Where is Stack in source terms, CreatedAt is Creator; set by whoever has the executable.
	Where     []Location
	CreatedAt Location
	Count     int
	// StackBytes is the size of their stacks together.
	StackBytes Bytes
	// Frames[i] is the bytes that the frame of Stack[i] takes in each of them, those
	// of hidden wrappers below it included. What they leave of StackBytes is unused.
	Frames []Bytes
	// Oldest is the longest time one of them has waited, 0 if unknown.
	Oldest time.Duration
	// Locked is how many of them are locked to their thread (runtime.LockOSThread), which serves no
	// other goroutine.
	Locked Opt[int]
	// Labels are the profiler labels (runtime/pprof.Do) that they carry, the most
	// frequent first.
	Labels []LabelCount
	// IDs are the lowest of their numbers (runtime.g.goid), ascending, of groups of FewestNumbered or more. Later
	// goroutines have higher ones: those of a look that a later one has not have ended.
	IDs []uint64
}

// The numbers of goroutines are kept of groups of so many at least, and so many of each.
const FewestNumbered, MostIDs = 8, 16

// LabelCount is a profiler label and how many goroutines of a group carry it.
type LabelCount struct {
	Key, Value string
	Count      int
}
