package procfs

import (
	"fmt"
	"os"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// row numbers the rows of a Residency while pages are counted.
type row uint8

const (
	rowObjects row = iota
	rowObjectsNew
	rowIdle
	rowStacks
	rowRuntime
	rowMalloc
	rowMmap
	rowImage
	rowCount
)

// Residency says where a process's resident memory lies, page by page: ranges
// are the Go runtime's own account of its addresses, in any order, nil for a
// program that is no Go program. A thread id serves as tid, and is what serves
// when the first thread has ended, as in a process that is held at its exit.
//
// The anonymous rows sum to Anon, the sum of Anonymous in smaps, exactly. The
// page map alone would not give that: it calls a page present that was only
// read and is the kernel's page of zeros, which is no memory of the process. So
// for each mapping smaps says how many pages are anonymous, and the page map
// which: pages that are exclusively the process's own first, then, up to
// smaps's count, those that it may share with a forked child (the page of zeros
// is among these; where smaps counts some of them, they are spread over the
// rows in proportion). A process that runs meanwhile moves by what it touches
// between the two readings, and the same rule evens that out.
//
// Memory in ranges is Go's. Elsewhere [heap] and glibc's thread arenas are
// CMalloc; written pages of executables and libraries, the bss that follows them, and
// [stack] are Image; all else is Mmap, written pages of a private mapping of
// another file, too. A page that two ranges share belongs to the range that holds
// its first byte.
func (m *Mapper) Residency(root string, tid int, ranges []sample.PageRange, goKnown bool) (*sample.Residency, error) {
	r, err := m.residency(root, tid, ranges)
	if err != nil {
		return nil, fmt.Errorf("read residency of process %d: %w", tid, gone(err))
	}
	r.GoKnown = goKnown
	return r, nil
}

func (m *Mapper) residency(root string, tid int, ranges []sample.PageRange) (*sample.Residency, error) {
	if err := m.readMappings(root, tid, "smaps"); err != nil {
		return nil, err
	}
	pm, err := OpenPagemap(root, tid)
	if err != nil {
		return nil, err
	}
	defer pm.Close()
	c := census{m: m, pagemap: pm, page: uint64(os.Getpagesize()), code: codeFiles(m.mappings)}
	c.mem, _ = os.Open(pidPath(root, tid, "mem")) // nil: malloc arenas are told by their shape
	if c.mem != nil {
		defer c.mem.Close()
	}
	m.starts = m.starts[:0]
	m.setRanges(ranges, c.page)
	if err := c.countAll(); err != nil {
		return nil, err
	}
	return c.result(root, tid)
}

// census counts the pages of one process by row.
type census struct {
	m       *Mapper
	pagemap *Pagemap
	mem     *os.File
	page    uint64
	code    map[fileID]bool // see codeFiles

	anon      [rowCount]sample.Bytes // resident and anonymous
	swap      [rowCount]sample.Bytes
	totalAnon sample.Bytes
	notAnon   sample.Bytes // resident, of files and of shared memory
	totalSwap sample.Bytes

	stacks     uint64 // of C's threads
	stackBytes sample.Bytes
}

// countAll counts every mapping.
func (c *census) countAll() error {
	for i := range c.m.mappings {
		v := &c.m.mappings[i]
		c.totalAnon += v.Anonymous
		c.totalSwap += v.Swap
		c.notAnon += v.Rss.Sub(v.Anonymous)
		if v.Anonymous == 0 && v.Swap == 0 {
			continue
		}
		c.countStack(i)
		if err := c.count(i); err != nil {
			return err
		}
	}
	return nil
}

// count adds one mapping's anonymous pages to their rows.
func (c *census) count(i int) error {
	v := &c.m.mappings[i]
	if v.FileBacked() { // copied pages of a private mapping
		r := rowMmap
		if c.code[v.file()] {
			r = rowImage
		}
		c.anon[r] += v.Anonymous
		return nil
	}
	t, err := c.tally(i)
	if err != nil {
		return err
	}
	t.settle(&c.anon, v.Anonymous, c.page)
	for r, n := range t.swapped {
		c.swap[r] += sample.Bytes(n * c.page)
	}
	return nil
}

// result makes the Residency of what was counted.
func (c *census) result(root string, tid int) (*sample.Residency, error) {
	p, err := process(root, tid)
	if err != nil {
		return nil, err
	}
	status, err := p.NewStatus()
	if err != nil {
		return nil, err
	}
	shmem := min(sample.Bytes(status.RssShmem), c.notAnon)
	r := &sample.Residency{
		Anon:       c.totalAnon,
		File:       c.notAnon - shmem,
		Shmem:      shmem,
		Swap:       c.totalSwap,
		GoObjects:  c.anon[rowObjects] + c.anon[rowObjectsNew],
		GoIdle:     c.anon[rowIdle],
		GoStacks:   c.anon[rowStacks],
		GoRuntime:  c.anon[rowRuntime],
		CMalloc:    c.anon[rowMalloc],
		Mmap:       c.anon[rowMmap],
		Image:      c.anon[rowImage],
		PageTables: sample.Bytes(status.VmPTE),
	}
	c.stacksOf(r)
	// Untouched is what is left of the spans with objects.
	r.UntouchedNew = c.untouched(sample.RangeObjectsNew, rowObjectsNew)
	r.Untouched = c.untouched(sample.RangeObjects, rowObjects) + r.UntouchedNew
	return r, nil
}

// untouched is the part of the ranges of a kind that has no page behind it.
func (c *census) untouched(kind sample.RangeKind, r row) sample.Bytes {
	var size sample.Bytes
	for _, s := range c.m.spans {
		if s.Kind == kind {
			size += sample.Bytes(s.End - s.Start)
		}
	}
	return size.Sub(c.anon[r] + c.swap[r])
}
