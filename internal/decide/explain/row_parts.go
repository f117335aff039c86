package explain

import (
	"cmp"
	"fmt"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// RowPart is what a part of a row is known to be. The parts of a row sum to it; what
// is left has a part of its own.
type RowPart struct {
	Name  string       `json:"name"`
	Bytes sample.Bytes `json:"bytes"`
}

// The names of parts.
const (
	PartInUse    = "in use by C"
	PartKept     = "free inside malloc"
	PartUnread   = "malloc, not read"
	PartCStacks  = "stacks of C threads"
	PartMappings = "other mappings"

	PartKernelStacks = "kernel stacks"
	PartPageTables   = "page tables"
	PartSlab         = "slab"
	PartKernelRest   = "other"
)

// kernelStack is what the kernel keeps for each thread: THREAD_SIZE, 16 KiB on x86-64 and on arm64 with
// pages of 4 KiB (arch/x86/include/asm/page_64_types.h, arch/arm64/include/asm/memory.h).
const kernelStack = 16 * sample.KiB

// divideRows gives the rows of native memory, the kernel's and those of files their parts, where they are known.
func (c *Case) divideRows(l *Ledger) {
	for i := range l.Rows {
		switch row := &l.Rows[i]; row.Name {
		case sample.RowNative:
			row.Parts = c.nativeParts(row.Bytes)
		case sample.RowKernel:
			row.Parts = c.kernelParts(row.Bytes)
		case sample.RowPageCache, sample.RowShmem:
			row.Parts = c.fileParts(row.Bytes, row.Name)
		}
	}
}

// partsOf are those that are not empty, cut at the whole, the largest first, then what is left.
func partsOf(whole sample.Bytes, rest string, parts ...RowPart) (out []RowPart) {
	for _, p := range parts {
		if p.Bytes = min(p.Bytes, whole); p.Bytes > 0 {
			out = append(out, p)
			whole -= p.Bytes
		}
	}
	sorting.Stable(out, func(a, b RowPart) int { return cmp.Compare(b.Bytes, a.Bytes) })
	if len(out) > 0 && whole > 0 {
		out = append(out, RowPart{rest, whole})
	}
	return out
}

func (c *Case) nativeParts(whole sample.Bytes) []RowPart {
	if c.proc == nil || c.proc.Residency == nil || !c.proc.Residency.GoKnown && !c.otherLanguage() {
		return nil
	}
	r := c.proc.Residency
	stacks := RowPart{PartCStacks, min(r.CStacks.V, r.Mmap)}
	if c.malloc == nil {
		return partsOf(whole, PartMappings, stacks)
	}
	unread := min(c.malloc.Unread, r.CMalloc-c.mallocKeeps()) // of the rest it is not known whether it is in use
	inUse := r.CMalloc - c.mallocKeeps() - unread + min(c.malloc.Mapped, r.Mmap-stacks.Bytes)
	return partsOf(whole, PartMappings, RowPart{PartKept, c.mallocKeeps()}, RowPart{PartInUse, inUse}, RowPart{PartUnread, unread}, stacks)
}

// kernelParts are the cgroup's own where it tells them (version 2); else each thread's stack, and
// the page tables of the processes.
func (c *Case) kernelParts(whole sample.Bytes) []RowPart {
	if s := c.Moment.Cgroup.Stat; s != nil && s.KernelStack.OK {
		return partsOf(whole, PartKernelRest, RowPart{PartKernelStacks, s.KernelStack.V}, RowPart{PartPageTables, s.PageTables.V}, RowPart{PartSlab, s.Slab.V})
	}
	var threads, tables sample.Bytes
	for _, p := range c.Moment.Processes {
		if p.Resident != nil {
			threads += sample.Bytes(max(0, p.Resident.Threads))
		}
		if p.Residency != nil {
			tables += p.Residency.PageTables
		}
	}
	return partsOf(whole, PartKernelRest, RowPart{PartKernelStacks, min(threads, whole/kernelStack) * kernelStack}, RowPart{PartPageTables, tables})
}

// lockedThreads is how many goroutines of the subject are locked to their thread.
func (c *Case) lockedThreads() (n int) {
	for _, g := range c.goroutines() {
		n += g.Locked.V
	}
	return n
}

// factThreads is what the subject's threads take, and how many are goroutines' own.
func (c *Case) factThreads() Fact {
	n := sample.Bytes(c.threads())
	f := Fact{ID: "threads", Values: map[string]int64{"threads": int64(n), "locked": int64(c.lockedThreads()), "kernel_stack_bytes": int64(n * kernelStack)}}
	f.Text = count(int(n), "OS thread") + ": kernel stacks " + size(n*kernelStack)
	if r := c.proc.Residency; r != nil {
		f.Values["page_table_bytes"], f.Values["c_stack_bytes"] = int64(r.PageTables), int64(r.CStacks.V)
		f.Text += ", page tables " + size(r.PageTables)
		if r.CStackCount.V > 0 {
			f.Text += ", stacks of C " + size(r.CStacks.V)
		}
	}
	if most, n := c.ownThreads(); n > 0 {
		f.Values["c_threads"] = int64(n)
		f.Text += fmt.Sprintf("; C code made %s, most for %s", sample.Thousands(uint64(n)), startWords(most))
	}
	if locked := c.lockedThreads(); locked > 0 {
		f.Text += "; " + count(locked, "goroutine") + " locked to a thread"
	}
	return f
}
