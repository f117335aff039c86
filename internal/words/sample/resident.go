package sample

import "time"

// ResidentKind is what a page that became resident is used for.
type ResidentKind string

// The kinds.
const (
	ResidentHeap    ResidentKind = "heap"    // the Go heap and goroutine stacks
	ResidentRuntime ResidentKind = "runtime" // the Go runtime's own tables
	ResidentNative  ResidentKind = "native"  // anonymous memory of C, and what the program maps itself
	ResidentShared  ResidentKind = "shared"  // shared mappings of files in memory: tmpfs, memfds, and those without a file
	ResidentFile    ResidentKind = "file"    // pages of files on disks, data and bss of the executable
)

// What of native memory may not be seen, as a Gap names it. It is worth telling where there is much of that memory.
const (
	GapFaults   = "which lines of Go made native memory grow"
	GapMappings = "which lines of Go mapped native memory"
)

// GapKill is a process's memory at its kill, where the kernel freed that before it was read. There is no moment of the kill then.
const GapKill = "the memory at the kill"

// ResidentGrowth is memory of a process that became resident between two instants, by
// the stack that touched it first: a sampled profile of page faults.
type ResidentGrowth struct {
	From, At time.Time
	Process  ProcessKey
	Kind     ResidentKind
	// Where is the stack, innermost first: C's frames, named by function and file, then
	// Go's. Empty: of more stacks than are kept apart, or one that was not found.
	Where []Location
	// Mapped is the stack on which the program itself mapped this memory, innermost first, of native and shared memory
	// alone. Empty: it was not seen, or an allocator mapped it, which serves others from it.
	Mapped  []Location
	Samples uint64
	Bytes   Bytes // that they stand for
}
