package procfs

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
)

// Page is a page's entry in /proc/PID/pagemap
// (Documentation/admin-guide/mm/pagemap.rst).
type Page uint64

// Present says that a page lies in memory, the shared page of zeros included
// (bit 63).
func (p Page) Present() bool { return p>>63&1 != 0 }

// Swapped says that a page lies in swap (bit 62).
func (p Page) Swapped() bool { return p>>62&1 != 0 }

// Exclusive says that no other process maps the page (bit 56, since Linux 4.2).
// The page of zeros is never exclusive.
func (p Page) Exclusive() bool { return p>>56&1 != 0 }

// Pagemap reads which pages of a process have memory behind them. Whoever may
// read the process's memory may read it; the physical addresses in it, which
// are not used, are for root only.
type Pagemap struct {
	f        *os.File
	pageSize uint64
	buf      []byte
}

// OpenPagemap opens the page map of a process or thread. The caller closes it.
func OpenPagemap(root string, tid int) (*Pagemap, error) {
	f, err := os.Open(pidPath(root, tid, "pagemap"))
	if err != nil {
		return nil, fmt.Errorf("open the page map of process %d: %w", tid, gone(err))
	}
	return &Pagemap{f: f, pageSize: uint64(os.Getpagesize())}, nil
}

// Close closes the file.
func (p *Pagemap) Close() { p.f.Close() }

// Pages appends the entries of the pages of [start, end) to dst, which must be
// multiples of the page size. Fewer entries are appended only where the address
// space ends.
func (p *Pagemap) Pages(dst []Page, start, end uint64) ([]Page, error) {
	const chunk = 8 << 10 // entries; 64 KiB at a time
	if p.buf == nil {
		p.buf = make([]byte, 8*chunk)
	}
	first, n := start/p.pageSize, (end-start)/p.pageSize
	dst = slices.Grow(dst, int(min(n, 1<<20)))
	for n > 0 {
		k := min(n, chunk)
		got, err := p.f.ReadAt(p.buf[:8*k], int64(8*first))
		for b := p.buf[:got&^7]; len(b) > 0; b = b[8:] {
			dst = append(dst, Page(binary.NativeEndian.Uint64(b)))
		}
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return dst, fmt.Errorf("read the page map: %w", gone(err))
		}
		first, n = first+k, n-k
	}
	return dst, nil
}
