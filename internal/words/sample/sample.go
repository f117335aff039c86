// Package sample holds the words of the house: what can be seen of a program at
// one instant, and nothing that reads, stores or judges it.
//
// Two rules hold everywhere. A group that could not be read is nil (or, for one
// number, absent in its Opt), and a Gap says why: zero is always an
// observation. And the unit is in the type: memory is Bytes, time is
// time.Time or time.Duration.
package sample

import "time"

// Bytes is an amount of memory.
type Bytes uint64

// KiB, MiB and GiB are the units that people are shown.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
)

// Sub returns b - c, or 0 where that would be negative: two figures read a
// microsecond apart need not be ordered.
func (b Bytes) Sub(c Bytes) Bytes {
	if c > b {
		return 0
	}
	return b - c
}

// Opt is a value that may not have been seen. The zero Opt is "not seen".
type Opt[T any] struct {
	V  T
	OK bool
}

// Some is a value that was seen.
func Some[T any](v T) Opt[T] { return Opt[T]{V: v, OK: true} }

// Or is the value, or other where it was not seen.
func (o Opt[T]) Or(other T) T {
	if o.OK {
		return o.V
	}
	return other
}

// ProcessKey names one life of one process: a pid may be used again, a pid with
// its start time may not (within one boot).
type ProcessKey struct {
	PID int
	// Start is the process's start in clock ticks since boot, field 22 of
	// /proc/PID/stat (proc_pid_stat(5)).
	Start uint64
}

// Point is everything that one tick of the watcher saw. Its groups are owned by
// whoever filled it and are valid until the next tick: a receiver copies.
type Point struct {
	At        time.Time
	Cgroup    *Cgroup // nil: no memory cgroup is watched
	Pressure  *Pressure
	Host      *Host
	Processes []Process
	// Resting says that nothing moves and that points are seldom therefore.
	Resting bool
}

// Process is one process at one instant.
type Process struct {
	Key ProcessKey
	// Resident is nil once the process is gone.
	Resident *Resident
	// Go is nil for a program that is no Go program, or whose runtime cannot be
	// read; a Gap of the process says why.
	Go *Runtime
}

// Resident is a process's memory as the kernel counts it for the process
// (/proc/PID/statm and stat; see docs/traps.md for what resident does not mean).
type Resident struct {
	Total   Bytes // resident set: anonymous, file and shared pages
	Shared  Bytes // file and shmem pages of it (statm field 3)
	Threads int
	User    time.Duration // CPU time in user mode since the start
	System  time.Duration
	Majflt  uint64 // page faults that needed the disk, since the start
}

// Anon is the anonymous part of the resident set.
func (r Resident) Anon() Bytes { return r.Total.Sub(r.Shared) }

// Host is what the machine had left; it tells a container's kill from the
// node's.
type Host struct {
	Total     Bytes // MemTotal
	Available Bytes // MemAvailable
}

// Pressure is PSI of memory: the share of the last 10 s in which some or all
// tasks waited for memory, in percent, and the totals since the start.
type Pressure struct {
	Some10, Full10       float64
	SomeTotal, FullTotal time.Duration
}

// Gap is something that was not seen, and why. From and To bound the time it
// holds for; a zero To means "until the end".
type Gap struct {
	From, To time.Time
	Process  ProcessKey // zero: not of one process
	// What is the thing not seen, in a user's words: "heap profile", "cgroup events".
	What string
	// Why is the reason, with the name of the missing right, version or file.
	Why string
}

// EventKind names what happened to the program or to the watch.
type EventKind string

// The kinds of events. Kernel events carry their counter's growth in Value.
const (
	EventStart      EventKind = "start"       // a process was first seen
	EventExec       EventKind = "exec"        // a process became another program
	EventExit       EventKind = "exit"        // a process ended; Value is its exit code as a shell gives it, Text "exit N", "signal N" or "unseen"
	EventOOMKill    EventKind = "oom-kill"    // the cgroup's oom_kill counter grew by Value
	EventOOMBeside  EventKind = "oom-beside"  // the same, for a program that only shares the cgroup
	EventOOM        EventKind = "oom"         // the limit that a kill was for: Value bytes; Text is LimitOwn or LimitAbove, its kind ("pod", ...), its path
	EventSignal     EventKind = "signal"      // highwater sent or forwarded signal Value; Text is the reason
	EventReady      EventKind = "ready"       // the program answered --ready
	EventLoadStart  EventKind = "load-start"  // --load began
	EventLoadEnd    EventKind = "load-end"    // --load ended; Value is its exit code
	EventStop       EventKind = "stop"        // highwater held the program for Value nanoseconds
	EventRecordFull EventKind = "record-full" // the recording could not be written any more
	EventNote       EventKind = "note"        // a person's note
)

// Whose limit an EventOOM tells of: that of the cgroup which the program is in, or of one
// above it, whose path is left out where it cannot be seen. Recordings from before have
// no Text.
const (
	LimitOwn   = "own"
	LimitAbove = "above"
)

// Why a program is in a recording that does not belong to what is watched: the beginning of
// its Program.WhyNot.
const (
	WhyBeside  = "it shares the cgroup with what is watched"
	WhyWatcher = "it is the watcher"
)

// The reasons of an EventSignal. Recordings made before there were any have the
// signal's name there.
const (
	SignalKeyboard  = "interrupt" // Ctrl-C on the terminal of both, which reaches the program by itself
	SignalForwarded = "forwarded" // sent to highwater from outside and passed on
	SignalTime      = "time"      // --for was over
	SignalLoadEnd   = "load-end"  // --load had ended
	SignalUnready   = "not-ready" // --ready was not answered
	SignalTimeout   = "timeout"   // a trial's run did not end in time
	SignalStalled   = "stalled"   // a trial's run lived, and nothing moved any more
)

// Event is one thing that happened.
type Event struct {
	At      time.Time
	Kind    EventKind
	Process ProcessKey // zero: not of one process
	Value   int64
	Text    string
}
