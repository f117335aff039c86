package sample

// Row names of a Ledger, in the order they are shown where sizes are equal.
const (
	RowLive        = "live Go heap"
	RowNew         = "new since the last GC"
	RowGarbage     = "garbage"
	RowIdle        = "idle heap"
	RowStacks      = "goroutine stacks"
	RowRuntime     = "Go runtime"
	RowNative      = "native (cgo, mmap)"
	RowProgramData = "program data"    // data, bss and other written pages of mapped files
	RowUndivided   = "Go, not divided" // a Go program whose runtime could not be read
	RowOther       = "other programs"
	RowWatcher     = "highwater itself"
	RowPageCache   = "page cache"
	RowShmem       = "shared memory"
	RowKernel      = "kernel"
	RowSockets     = "socket buffers"
	RowUnexplained = "unexplained"
)

// RowNames are the rows that a ledger can have, in the order of the names above, without what
// is left over. Tests of the packages that show rows range over it.
func RowNames() []string {
	return []string{RowLive, RowNew, RowGarbage, RowIdle, RowStacks, RowRuntime, RowNative, RowProgramData, RowUndivided,
		RowOther, RowWatcher, RowPageCache, RowShmem, RowKernel, RowSockets}
}

// LedgerRow is one disjoint part of the charge.
type LedgerRow struct {
	Name  string
	Bytes Bytes
	// Reclaimable means that the kernel takes it back before it kills.
	Reclaimable bool
}

// Ledger divides a charge into disjoint rows. Unexplained is what is left of
// Total, negative where the rows exceed it: rows + Unexplained = Total, always.
type Ledger struct {
	Total       Bytes
	Rows        []LedgerRow
	Unexplained int64
	// OfCgroup means that Total is a cgroup's charge; else it is the resident memory of the processes, and the kernel's
	// rows are absent.
	OfCgroup bool
}

// Row is the row of that name, 0 bytes if it has none.
func (l Ledger) Row(name string) Bytes {
	for _, r := range l.Rows {
		if r.Name == name {
			return r.Bytes
		}
	}
	return 0
}
