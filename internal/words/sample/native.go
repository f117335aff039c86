package sample

import "time"

// NativeLive is what C's allocator has given to one stack of a process and not got back, at an
// instant: estimated from sampled calls.
type NativeLive struct {
	At      time.Time
	Process ProcessKey
	// Where is the stack, innermost first: C's frames, named by function and file, then
	// Go's. Empty: of more stacks than are kept apart, or one that was not found.
	Where   []Location
	Samples uint64 // of live blocks
	Objects uint64 // that they stand for
	Bytes   Bytes  // as they were asked for: without the allocator's own headers and rounding
	Error   Bytes  // one standard error of Bytes
	// Allocated is what was asked for there since the probes were set.
	Allocated Bytes
	// Oldest and Median are when the oldest of the live samples, and the one in the middle, were
	// allocated; zero where none is live.
	Oldest, Median time.Time
}

// NativeReading is what is known of all stacks of a process at an instant.
type NativeReading struct {
	At       time.Time
	Process  ProcessKey
	Since    time.Time // from when on allocations were seen
	Interval Bytes     // between two samples, on average
	// Allocs and Frees are calls of all programs that share the probes, until then.
	Allocs, Frees uint64
	Lost          uint64 // samples without room, which the others were made to stand for
	Ended         string // why the probes were taken out then; "": they were not
}
