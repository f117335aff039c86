package procfs

import (
	"encoding/binary"
	"runtime"
	"slices"
	"sort"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// A thread of C has a stack in a mapping of its own, above a guard that nobody may touch
// (nptl/allocatestack.c: PTHREAD_STACK_MIN is 16 KiB, a guard is a page unless the program asks
// for more). Go's own threads, in a program without C, have theirs on Go's heap.
const (
	leastCStack = 16 << 10
	mostGuard   = 1 << 20
	// mostCStacks bounds how many are looked into; above it they are told by their shape.
	mostCStacks = 20_000
)

// countStack adds the i-th mapping to the stacks of C's threads if it is one.
func (c *census) countStack(i int) {
	if !c.isCStack(i) {
		return
	}
	c.stacks++
	c.stackBytes += c.m.mappings[i].Anonymous
}

func (c *census) isCStack(i int) bool {
	v := &c.m.mappings[i]
	if i == 0 || v.FileBacked() || v.Path != "" || !v.Writable() || v.Perms[2] == 'x' || v.End-v.Start < leastCStack {
		return false
	}
	guard := &c.m.mappings[i-1]
	if guard.End != v.Start || guard.Accessible() || guard.FileBacked() || guard.End-guard.Start > mostGuard {
		return false
	}
	return c.stacks >= mostCStacks || c.hasThread(v)
}

// hasThread says whether the last page of a mapping has the description of a thread, which on x86-64
// begins with its own address (tcbhead_t in glibc's sysdeps/x86_64/nptl/tls.h, struct pthread in musl's
// src/internal/pthread_impl.h). On arm64 it does not, and the shape decides.
func (c *census) hasThread(v *Mapping) bool {
	if runtime.GOARCH != "amd64" || c.mem == nil {
		return true
	}
	var last [8 << 10]byte
	start := v.End - uint64(len(last))
	if n, _ := c.mem.ReadAt(last[:], int64(start)); n < len(last) {
		return false
	}
	for at := 0; at+8 <= len(last); at += 16 {
		if binary.LittleEndian.Uint64(last[at:]) == start+uint64(at) {
			c.noteStart(last[at:])
			return true
		}
	}
	return false
}

// ThreadStart is the function that threads of C run, by its address, and how many do.
type ThreadStart struct {
	Address uint64
	Count   int
}

// maxStarts bounds the functions that are told apart.
const maxStarts = 64

// noteStart finds the function that a thread was made for: of all that its description holds, the one
// address of code (glibc's struct pthread, start_routine; nptl/descr.h). A description with none, or with
// several, is left out.
func (c *census) noteStart(description []byte) {
	var found uint64
	for at := 0; at+8 <= len(description); at += 8 {
		word := binary.LittleEndian.Uint64(description[at:])
		if word == found || !c.isCode(word) {
			continue
		}
		if found != 0 {
			return
		}
		found = word
	}
	if found == 0 {
		return
	}
	for i := range c.m.starts {
		if c.m.starts[i].Address == found {
			c.m.starts[i].Count++
			return
		}
	}
	if len(c.m.starts) < maxStarts {
		c.m.starts = append(c.m.starts, ThreadStart{found, 1})
	}
}

// isCode says whether an address is in a file that is mapped to be executed.
func (c *census) isCode(addr uint64) bool {
	i := sort.Search(len(c.m.mappings), func(i int) bool { return c.m.mappings[i].End > addr })
	return i < len(c.m.mappings) && c.m.mappings[i].Start <= addr && c.m.mappings[i].Perms[2] == 'x' && c.m.mappings[i].FileBacked()
}

// ThreadStarts are the functions that threads of C ran when residency was read last.
func (m *Mapper) ThreadStarts() []ThreadStart { return slices.Clone(m.starts) }

// stacksOf is what was counted, for the result.
func (c *census) stacksOf(r *sample.Residency) {
	r.CStacks, r.CStackCount = sample.Some(c.stackBytes), sample.Some(c.stacks)
}
