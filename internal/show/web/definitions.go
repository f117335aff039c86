package web

import "github.com/highwater-go/highwater/internal/words/sample"

// definition says of a row of the ledger which greater part it belongs to, and in
// plain words what it is.
type definition struct{ group, means string }

// The greater parts of the ledger.
const (
	groupHeap    = "Go heap"
	groupGo      = "Go, not heap"
	groupOutside = "outside Go"
	groupFiles   = "files and kernel"
)

var definitions = map[string]definition{
	sample.RowLive:        {groupHeap, "Objects that were reachable at the last GC, or when they were counted at the kill."},
	sample.RowNew:         {groupHeap, "Allocated since the last GC: live or garbage is not known yet."},
	sample.RowGarbage:     {groupHeap, "Dead objects that GC has not collected yet, and free space between live ones."},
	sample.RowIdle:        {groupHeap, "Without objects; kept by Go for the next allocations, and returned to the kernel over minutes."},
	sample.RowStacks:      {groupGo, "The stacks of the goroutines."},
	sample.RowRuntime:     {groupGo, "The Go runtime's own tables."},
	sample.RowUndivided:   {groupGo, "A Go program whose runtime could not be read."},
	sample.RowNative:      {groupOutside, "Allocated by C code, or mapped by the program itself: Go's heap profile does not show it."},
	sample.RowProgramData: {groupOutside, "Variables of the program and of its libraries that were written to."},
	sample.RowOther:       {groupOutside, "Programs in the same cgroup that are not written in Go."},
	sample.RowWatcher:     {groupOutside, "Highwater itself, where it runs under the same limit as the program."},
	sample.RowPageCache:   {groupFiles, "File data that the kernel keeps while nobody needs the room. It reclaims this before it kills."},
	sample.RowShmem:       {groupFiles, "tmpfs files and shared memory: counted, and not reclaimable without swap."},
	sample.RowKernel:      {groupFiles, "Page tables, kernel stacks, inodes and dentries that the kernel needs for these processes."},
	sample.RowSockets:     {groupFiles, "Data in flight in network buffers."},
}
