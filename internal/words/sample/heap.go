package sample

import "time"

// HeapCapture is a heap at one instant, summed up by who holds it. It has names of
// variables, fields, types and lines of code, and amounts; no contents and no
// addresses of objects.
type HeapCapture struct {
	At      time.Time
	Process ProcessKey
	Reason  HeapReason
	Stopped time.Duration // for how long the process stood still; 0: it was not stopped
	Took    time.Duration // from then until it was summed up
	GC      uint32        // collections until then, NumGC

	Objects, LiveObjects uint64 // allocated, those not yet swept too; reachable
	Bytes, LiveBytes     Bytes  // of these, in size-class slots
	Untyped              Bytes  // live, of a type that is not known
	Ages                 bool   // what is young, and inferred, is known: not of recordings before version 1.3

	// Paths are a tree, each after the one that it is a part of. Those that hold next
	// to nothing are left out: their sums are in the paths above them.
	Paths []HeapPath
	// Lines are where sampled objects that can be reached were allocated, whoever retains them, most
	// bytes first: a heap profile of this instant. Nil: not known, as of recordings before version 1.5.
	Lines       []HeapSite
	Types       []HeapType       // most bytes first
	Collections []HeapCollection // most bytes first
	Chains      []HeapChain      // longest first
	Callbacks   []HeapCallback   // most goroutines first; nil: of recordings before version 1.10
	Gaps        []Gap            // What and Why alone
}

// HeapReason is why a heap was captured.
type HeapReason string

// The reasons.
const (
	HeapAsked HeapReason = "asked" // by highwater heap
	HeapPeak  HeapReason = "peak"  // a new maximum of the charge
	HeapKill  HeapReason = "kill"  // the process was held as a signal ended it
	HeapExit  HeapReason = "exit"  // it was held as it ended by itself
	HeapEvery HeapReason = "every" // the time for it had come
)

// HeapPath is a way into the heap that objects have in common: a variable or a
// goroutine, and fields from there on. What a path retains is what would be garbage
// without it.
type HeapPath struct {
	Parent   int    // index of the path that it is a part of, -1: a root
	Label    string // the part that it adds: "main.cache", ".entries[]"
	Type     string // of the objects on it, "?": not known
	Objects  uint64 // on it
	Bytes    Bytes  // of these
	Held     uint64 // objects that it retains, those on it too
	Retained Bytes
	Young    Bytes // of Retained, allocated since the last collection; see HeapCapture.Ages
	// Holder means that here memory accumulates. No holder is a part of another.
	Holder bool
	// Sites are where a holder's sampled objects were allocated, most bytes first.
	Sites []HeapSite
	// Root is of a path that is a part of no other, Owner of a holder. Nil: not known, as
	// of recordings before version 1.4.
	Root  *HeapRoot
	Owner *HeapOwner
}

// WholeStack stands in a label, " in its stack", for the frame of a goroutine whose frames
// are not known: it ran as its program was killed, or was met between two stacks.
const WholeStack = "its stack"

// HeapSite is a line of code, and what stands for the sampled objects that were
// allocated there: estimates, as a heap profile's.
type HeapSite struct {
	At      Frame
	Objects uint64
	Bytes   Bytes
}

// HeapType is the reachable objects of one type.
type HeapType struct {
	Type     string
	Objects  uint64
	Bytes    Bytes
	Inferred Bytes // of these, whose type follows from what points there alone; see HeapCapture.Ages
}

// HeapCollection is the maps, channels, slices or strings on one path that are large
// or keep much more than they hold.
type HeapCollection struct {
	Path, Kind, Type string
	Count            uint64 // of them
	Entries, Room    uint64 // that they have and have room for, of all together
	Bytes, Reached   Bytes  // that they keep, and what of it is in reach
	Name             string // as the program's source calls the place; "": not known, as in recordings before version 1.4
}

// HeapChain is objects that can only be found one after the other.
type HeapChain struct {
	Path, Type string
	Length     uint64
}

// HeapCallback is goroutines that run a library's function, most of which lead to a closure of their own whose function is
// the program's: who handed it to the library is who has the goroutines started.
type HeapCallback struct {
	Func    string // the function that the goroutines run
	Creator string // the function with the go statement of most of them
	Count   int    // goroutines
	Closure Frame  // where the closure's function begins
}

// Path is the text of a path: "main.cache.entries[].body".
func (c *HeapCapture) Path(i int) string {
	text := ""
	for n := 0; i >= 0 && i < len(c.Paths) && n <= len(c.Paths); n++ {
		text = c.Paths[i].Label + text
		i = c.Paths[i].Parent
	}
	return text
}
