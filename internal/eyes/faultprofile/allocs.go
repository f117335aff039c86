package faultprofile

// What follows is the second profile of this package: the blocks that C's allocator has given and
// that were not freed, sampled by probes on its functions. It shares with the page faults how a
// stack is taken and found.

const (
	// AllocInterval is how many bytes of allocations there are to a sample, on average, unless it
	// is said otherwise.
	AllocInterval = 64 << 10
	// maxLiveBlocks bounds the sampled blocks that are live at a time: 16 GiB of them at
	// AllocInterval.
	maxLiveBlocks = 1 << 18
	// allocRing holds the samples of a tenth of a second, some 900: each has a fixed size. With a
	// shorter interval there are more, and up to sixteen times the room.
	allocRing = 4 << 20
	// gaps is how many distances between two samples there are to draw from.
	gaps = 1 << 10
)

// Kind is how a function of an allocator is called.
type Kind uint8

// The kinds, by which of its arguments says what.
const (
	Malloc   Kind = iota // size
	Calloc               // number, size of each
	Realloc              // block, size
	Aligned              // alignment, size
	Memalign             // where to store the block, alignment, size
	Free                 // block
)

// Probe is where a function of an allocator is met.
type Probe struct {
	Function string
	Kind     Kind
	Offset   uint64 // in its file, in bytes
	// Stepped means that no instruction at its beginning is one that the kernel carries out by itself, so that it must
	// let the processor step over it, which costs some thirty times as much.
	Stepped bool
}

// EventKind is what an AllocEvent tells.
type EventKind uint8

// The kinds of events. A block is sampled when its function is called, given when that
// returns, and freed.
const (
	Sampled EventKind = iota
	Given
	Freed
)

// AllocEvent is what became of a sampled block.
type AllocEvent struct {
	Kind EventKind
	ID   uint64 // of the sample, which all events of a block share
	// Block is the address that was given, 0 for none: only of Given.
	Block uint64
	// Size is what was asked for, in bytes, and Place the stack: only of Sampled, and valid until the
	// next event.
	Size uint64
	Place
}

// AllocCost is what the probes have taken from the programs so far.
type AllocCost struct {
	Allocs, Frees uint64 // calls that were met
	Samples, Lost uint64
	LostEvents    uint64 // of blocks that were given or freed
	Nanos         uint64 // within the BPF program, for samples alone
}
