package sample

import "time"

// Malloc is what C's malloc says of its own memory at an instant, read from outside.
// Amounts are bytes as malloc counts them: a block with its header and rounding.
type Malloc struct {
	// Allocator names it: "glibc", "musl", "jemalloc", "tcmalloc" or "mimalloc"; "": none is known.
	Allocator string
	// WhyNot says in a user's words why nothing more is known of it; "": the rest is.
	WhyNot string

	// Blocks are in use by the program, InUse their bytes. Those that a thread keeps for
	// its next calls (glibc's tcache, at most some hundred KiB a thread) are among them, as in mallinfo2(3).
	Blocks uint64
	InUse  Bytes
	// Free is what was freed and malloc keeps, Resident the part of it that is in memory.
	Free, FreeResident Bytes
	// Top is the part of FreeResident at the ends of the heaps, Whole that of other free pages that
	// malloc_trim(3) gives back. What is left shares its pages with blocks in use.
	Top, Whole Bytes
	// Mapped are large blocks that malloc mapped on their own: their number and bytes.
	MappedBlocks uint64
	Mapped       Bytes
	// System is what malloc has from the kernel in its arenas; Unread what of it was not read, for WhyUnread.
	System, Unread Bytes
	WhyUnread      string

	Arenas []MallocArena // the main one first; at most MaxArenas
	// Others is the number of arenas that are not in Arenas.
	Others int
	Sizes  []MallocSize // blocks in use by size, most bytes first; at most MaxSizes
	// OtherBlocks and OtherBytes are the blocks of sizes that are not in Sizes.
	OtherBlocks uint64
	OtherBytes  Bytes

	Took time.Duration // to read it
}

// How much of it is kept.
const (
	MaxArenas = 64
	MaxSizes  = 64
)

// MallocArena is one arena: threads share them, each with a heap of its own that grows.
type MallocArena struct {
	System, InUse, Free, FreeResident Bytes
}

// MallocSize is blocks in use of one size.
type MallocSize struct {
	Size   Bytes // of each
	Count  uint64
	Mapped bool // each is a mapping of its own
}

// Bytes is what they take together.
func (s MallocSize) Bytes() Bytes { return s.Size * Bytes(s.Count) }
