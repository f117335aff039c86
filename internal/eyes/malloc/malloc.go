// Package malloc reads the state of C's allocator out of a process's memory: what is in
// use, by size, and what was freed and is kept. It needs no right but to read that
// memory, no symbols, and nothing of the program.
//
// It reads glibc's malloc (2.26 and later, 64-bit), shared or linked in. Of other
// allocators it knows the name. Who allocated a block it cannot say: malloc keeps no
// record of that.
//
// The memory is a stranger's. Every pointer of it is used only after it was found within
// a mapping, every list is bounded, and a reading ends at the time that it was given.
package malloc

import (
	"errors"
	"io"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// ErrNone says that a process has no C allocator that could be found.
var ErrNone = errors.New("no C allocator was found")

// Mapping is a part of the process's address space, [Start, End).
type Mapping struct {
	Start, End uint64
	Writable   bool   // and may be read
	File       bool   // it maps a file
	Path       string // of the file, or a name such as [heap]; "": anonymous
}

// Process is what is read.
type Process struct {
	Memory   io.ReaderAt // an offset is an address
	Mappings []Mapping   // by address, without overlaps
	Page     uint64      // bytes in a page
	// Exe is the executable's path as Mappings have it: malloc may be linked into it.
	Exe string
	// Present appends, for each page of [start, end), whether it lies in memory: one that
	// does not is not read, as that would bring it back. nil: all pages do.
	Present func(dst []bool, start, end uint64) ([]bool, error)
}

// Read reads the allocator's state. At the time until it ends with what it has. ErrNone
// says that there is no allocator.
func Read(p Process, until time.Time) (*sample.Malloc, error) {
	m, _, err := read(p, after(until))
	return m, err
}

// after says whether a time is over.
func after(until time.Time) func() bool { return func() bool { return time.Now().After(until) } }

// read is Read until late says so; stale says that the mappings may be older than the memory.
func read(p Process, late func() bool) (m *sample.Malloc, stale bool, err error) {
	began := time.Now()
	if p.Page == 0 || p.Page&(p.Page-1) != 0 {
		return nil, false, errors.New("the size of a page is not known")
	}
	r := &reader{Process: p, late: late, sizes: map[uint64]uint64{}}
	for _, m := range p.Mappings {
		if m.Writable && !m.File {
			r.writable += sample.Bytes(m.End - m.Start)
		}
	}
	name := nameOf(p.Mappings)
	if name != "" && name != glibc {
		return &sample.Malloc{Allocator: name, WhyNot: howToAsk[name]}, false, nil
	}
	main, ok := r.findMain()
	if !ok {
		if name == "" {
			return nil, false, ErrNone
		}
		return &sample.Malloc{Allocator: name, WhyNot: "its main arena was not found: the program has not allocated yet, or its layout is not known"}, false, nil
	}
	r.out.Allocator = glibc
	r.readArenas(main)
	r.readMapped()
	r.finish()
	r.out.Took = time.Since(began)
	return &r.out, r.stale, nil
}

// reader reads one process once.
type reader struct {
	Process
	late func() bool // the time is over
	out  sample.Malloc
	// small counts blocks in use by a sixteenth of their size, sizes the larger ones; from mostSizes
	// different ones on, by the power of two below.
	small  [smallSizes]uint64
	sizes  map[uint64]uint64
	mapped map[uint64]uint64 // the same of blocks that are mappings of their own

	window  window
	cache   pageCache
	present presence
	params  params
	// writable is all memory that malloc's can be, whatever it says of itself.
	writable sample.Bytes
	stale    bool // an arena is not where the mappings have one: it may be newer than they are
}

// mappingAt is the index of the mapping that holds an address, -1: none does.
func (r *reader) mappingAt(addr uint64) int {
	low, high := 0, len(r.Mappings)
	for low < high {
		if mid := (low + high) / 2; r.Mappings[mid].End <= addr {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < len(r.Mappings) && r.Mappings[low].Start <= addr {
		return low
	}
	return -1
}

// isWritable says that all of [addr, addr+n) is in one mapping that the process may write to.
func (r *reader) isWritable(addr, n uint64) bool {
	i := r.mappingAt(addr)
	return i >= 0 && r.Mappings[i].Writable && n <= r.Mappings[i].End-addr
}
