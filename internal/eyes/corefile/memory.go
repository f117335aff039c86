package corefile

import (
	"debug/elf"
	"fmt"
	"io"
	"sort"
)

// ReadAt reads the process's memory at an address. What the core leaves out of a
// mapped file comes from the executable and the libraries, where they were given; pages that were never
// touched are zero.
func (c *Core) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		got, err := c.read(p[n:], uint64(off)+uint64(n))
		n += got
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// read reads from one segment, as much as there is in one piece.
func (c *Core) read(p []byte, addr uint64) (int, error) {
	i := c.find(addr)
	if i < 0 {
		return c.readUnlisted(p, addr)
	}
	s := &c.segments[i]
	p = p[:min(uint64(len(p)), s.End-addr)]
	at := addr - s.Start
	switch {
	case at < s.held:
		p = p[:min(uint64(len(p)), s.held-at)]
		return readFull(c.file, p, s.offset+int64(at))
	case at < s.held+s.lost:
		return 0, fmt.Errorf("%w at %#x: it is cut", ErrAbsent, addr)
	}
	if f := c.fileAt(addr); f != nil {
		return c.readFile(p, addr, f)
	}
	if s.Flags&elf.PF_W == 0 {
		return 0, fmt.Errorf("%w: what was mapped at %#x was left out", ErrAbsent, addr)
	}
	// fs/coredump.c, vma_dump_size: of anonymous memory only what was never written
	// is left out.
	clear(p)
	return len(p), nil
}

// readUnlisted reads where the core has no segment: gcore leaves mappings of files
// that cannot be written out of its list.
func (c *Core) readUnlisted(p []byte, addr uint64) (int, error) {
	f := c.fileAt(addr)
	if f == nil {
		return 0, fmt.Errorf("%w: nothing is mapped at %#x", ErrAbsent, addr)
	}
	if i := c.after(addr); i < len(c.segments) {
		p = p[:min(uint64(len(p)), c.segments[i].Start-addr)]
	}
	return c.readFile(p, addr, f)
}

func readFull(r io.ReaderAt, p []byte, off int64) (int, error) {
	n, err := r.ReadAt(p, off)
	if n == len(p) {
		return n, nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// readFile reads what was mapped from a file and not changed.
func (c *Core) readFile(p []byte, addr uint64, f *File) (int, error) {
	exe := c.libraries[f.Path]
	if c.exe != nil && c.exe.path == f.Path {
		exe = c.exe
	}
	if exe == nil {
		return 0, fmt.Errorf("%w: %s was mapped at %#x and left out", ErrAbsent, f.Path, addr)
	}
	p = p[:min(uint64(len(p)), f.End-addr)]
	off := f.Offset + addr - f.Start
	if off >= uint64(exe.size) {
		return 0, fmt.Errorf("%w: %#x lies behind the end of %s", ErrAbsent, addr, f.Path)
	}
	// The rest of the last page is zero.
	clear(p)
	_, err := readFull(exe.file, p[:min(uint64(len(p)), uint64(exe.size)-off)], int64(off))
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// find is the segment that holds addr, -1 for none.
func (c *Core) find(addr uint64) int {
	i := c.after(addr) - 1
	if i < 0 || addr >= c.segments[i].End {
		return -1
	}
	return i
}

// after is the index of the first segment that begins behind addr.
func (c *Core) after(addr uint64) int {
	return sort.Search(len(c.segments), func(i int) bool { return c.segments[i].Start > addr })
}

// fileAt is the mapped file at addr, nil for anonymous memory.
func (c *Core) fileAt(addr uint64) *File {
	i := sort.Search(len(c.Files), func(i int) bool { return c.Files[i].Start > addr }) - 1
	if i < 0 || addr >= c.Files[i].End {
		return nil
	}
	return &c.Files[i]
}

// Lost is how many bytes of memory are missing because the file is cut.
func (c *Core) Lost() (n uint64) {
	for _, s := range c.segments {
		n += s.lost
	}
	return n
}
