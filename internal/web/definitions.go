package web

import "github.com/highwater-go/highwater/internal/sample"

// definition says of a row of the ledger which greater part it belongs to, and in
// plain words what it is.
type definition struct{ group, means string }

// The greater parts of the ledger.
const (
	groupHeap    = "Go heap"
	groupGo      = "Go, beside the heap"
	groupOutside = "outside Go"
	groupFiles   = "files and kernel"
)

var definitions = map[string]definition{
	sample.RowLive:        {groupHeap, "Objects that the program can still reach."},
	sample.RowNew:         {groupHeap, "Allocated since the last collection: which of it is dead is not known before the next."},
	sample.RowGarbage:     {groupHeap, "Dead objects that are still there, until the collector sweeps them, and what is free between live ones."},
	sample.RowIdle:        {groupHeap, "Freed by Go and kept for the next allocations; given back to the kernel over minutes."},
	sample.RowStacks:      {groupGo, "The stacks of the goroutines."},
	sample.RowRuntime:     {groupGo, "The Go runtime's own tables."},
	sample.RowUndivided:   {groupGo, "A Go program whose runtime could not be read."},
	sample.RowNative:      {groupOutside, "Allocated by C code, or mapped by the program itself: Go's tools do not see it."},
	sample.RowProgramData: {groupOutside, "Variables of the program and of its libraries that were written to."},
	sample.RowOther:       {groupOutside, "Programs in the same cgroup that are not written in Go."},
	sample.RowWatcher:     {groupOutside, "Highwater itself, where it runs under the same limit as the program."},
	sample.RowPageCache:   {groupFiles, "File contents that the kernel keeps in memory. It takes them back before it kills."},
	sample.RowShmem:       {groupFiles, "tmpfs files and shared memory: charged, and not taken back without swap."},
	sample.RowKernel:      {groupFiles, "Page tables, kernel stacks, inodes and dentries that the kernel needs for these processes."},
	sample.RowSockets:     {groupFiles, "Data in flight in network buffers."},
}
