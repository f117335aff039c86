// Package corefile reads the core file of a Linux process, the kernel's or
// gcore's, as the memory that it was: by address. It knows nothing of Go; what
// lies in the memory is for package gomem.
//
// A core leaves out what was not changed: pages of files, and pages that were
// never touched. The first are read from the executable, if that is the one that
// ran (same build ID); the others were zero. Whatever else is missing is an
// error, never zeros.
package corefile

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/highwater-go/highwater/internal/files/regular"
)

// What Open refuses.
var (
	ErrNotCore = errors.New("not a core file")
	ErrArch    = errors.New("a core file of another architecture: Highwater reads 64-bit little-endian ones of x86-64 and arm64")
	ErrCut     = errors.New("the core file is cut before its list of memory ends")
)

// ErrAbsent says that the core does not hold an address.
var ErrAbsent = errors.New("not in the core file")

// maxSegments bounds the program headers: a process has 65,530 mappings at most
// by default (vm.max_map_count), and those with more have a million at most.
const maxSegments = 1 << 20

// Core is an open core file.
type Core struct {
	file     io.ReaderAt
	closers  []io.Closer
	size     int64
	segments []Segment // by address
	Machine  elf.Machine

	PID     int
	Name    string   // of the executable, at most 15 bytes
	Args    []string // the start of its command line, at most 80 bytes
	Signal  int      // that made the kernel write it; 0: none is known
	Threads []Thread
	Files   []File // mapped files, by address
	Aux     map[uint64]uint64

	exe       *executable            // nil: not given
	libraries map[string]*executable // by path; see UseLibraries
}

// Segment is a range of addresses that the process had mapped.
type Segment struct {
	Start, End uint64
	Flags      elf.ProgFlag
	offset     int64  // in the file
	held       uint64 // bytes that the file holds of it, from Start on
	lost       uint64 // bytes that it should hold after them, where it is cut
}

// File is a range of addresses at which a file was mapped (NT_FILE).
type File struct {
	Start, End uint64
	Offset     uint64 // in the file, in bytes
	Path       string
}

// Thread is one thread's registers (NT_PRSTATUS): those that matter for its stack, and
// all general ones.
type Thread struct {
	TID    int
	PC, SP uint64
	Words  []uint64
}

// Is reports whether the file's first bytes are those of a core file; other says
// what kind of ELF file it is instead.
func Is(r io.ReaderAt) (core bool, other string) {
	var b [18]byte
	if n, _ := r.ReadAt(b[:], 0); n < len(b) || string(b[:4]) != elf.ELFMAG {
		return false, ""
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if b[elf.EI_DATA] == byte(elf.ELFDATA2MSB) {
		order = binary.BigEndian
	}
	switch elf.Type(order.Uint16(b[16:])) {
	case elf.ET_CORE:
		return true, ""
	case elf.ET_EXEC, elf.ET_DYN:
		return false, "an executable"
	}
	return false, "an object file"
}

// Open opens a core file. The caller closes it.
func Open(path string) (*Core, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		var c *Core
		if c, err = Read(f, info.Size()); err == nil {
			c.closers = append(c.closers, f)
			return c, nil
		}
		err = fmt.Errorf("read %s: %w", path, err)
	}
	f.Close()
	return nil, err
}

// Close closes the files that were opened.
func (c *Core) Close() error {
	var errs []error
	for _, f := range c.closers {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// Read reads a core file of so many bytes from r, which it keeps.
func Read(r io.ReaderAt, size int64) (*Core, error) {
	c := &Core{file: r, size: size, Aux: map[uint64]uint64{}}
	header, err := c.header()
	if err != nil {
		return nil, err
	}
	headers, err := c.programHeaders(header)
	if err != nil {
		return nil, err
	}
	for _, p := range headers {
		switch elf.ProgType(p.Type) {
		case elf.PT_LOAD:
			c.addSegment(p)
		case elf.PT_NOTE:
			if err := c.readNotes(p); err != nil {
				return nil, err
			}
		}
	}
	sort.Slice(c.segments, func(i, j int) bool { return c.segments[i].Start < c.segments[j].Start })
	sort.Slice(c.Files, func(i, j int) bool { return c.Files[i].Start < c.Files[j].Start })
	held := uint64(0)
	for _, s := range c.segments {
		held += s.held
	}
	switch {
	case len(c.segments) == 0:
		return nil, fmt.Errorf("%w: it holds no memory", ErrNotCore)
	case held > uint64(size): // it would take longer to read than it is long
		return nil, fmt.Errorf("%w: its segments lie over each other", ErrNotCore)
	}
	return c, nil
}

// header reads the file's first 64 bytes.
func (c *Core) header() (h elf.Header64, err error) {
	if core, other := Is(c.file); !core {
		if other != "" {
			return h, fmt.Errorf("%w but %s", ErrNotCore, other)
		}
		return h, ErrNotCore
	}
	b := make([]byte, binary.Size(h))
	if n, _ := c.file.ReadAt(b, 0); n < len(b) {
		return h, ErrCut
	}
	if b[elf.EI_CLASS] != byte(elf.ELFCLASS64) || b[elf.EI_DATA] != byte(elf.ELFDATA2LSB) {
		return h, ErrArch
	}
	if _, err := binary.Decode(b, binary.LittleEndian, &h); err != nil {
		return h, err
	}
	c.Machine = elf.Machine(h.Machine)
	if c.Machine != elf.EM_X86_64 && c.Machine != elf.EM_AARCH64 {
		return h, fmt.Errorf("%w (this one is of %s)", ErrArch, c.Machine)
	}
	return h, nil
}

// programHeaders reads the list of segments. Where it has 65,535 entries or more
// their number stands in the first section header (elf(5), PN_XNUM).
func (c *Core) programHeaders(h elf.Header64) ([]elf.Prog64, error) {
	n := uint64(h.Phnum)
	if h.Phnum == 0xffff {
		var s elf.Section64
		if err := c.decode(h.Shoff, &s); err != nil {
			return nil, err
		}
		n = uint64(s.Info)
	}
	if int(h.Phentsize) != binary.Size(elf.Prog64{}) || n == 0 || n > maxSegments {
		return nil, fmt.Errorf("%w: %d program headers of %d bytes", ErrNotCore, n, h.Phentsize)
	}
	if h.Phoff > uint64(c.size) || n*uint64(h.Phentsize) > uint64(c.size)-h.Phoff {
		return nil, ErrCut
	}
	list := make([]elf.Prog64, n)
	return list, c.decode(h.Phoff, list)
}

// decode reads a struct, or a slice of them, from the file.
func (c *Core) decode(offset uint64, to any) error {
	b := make([]byte, binary.Size(to))
	if offset > uint64(c.size) {
		return ErrCut
	}
	if n, _ := c.file.ReadAt(b, int64(offset)); n < len(b) {
		return ErrCut
	}
	_, err := binary.Decode(b, binary.LittleEndian, to)
	return err
}

// addSegment notes a range of memory; what the file was cut by is not held.
func (c *Core) addSegment(p elf.Prog64) {
	if p.Memsz == 0 || p.Vaddr+p.Memsz < p.Vaddr {
		return
	}
	s := Segment{Start: p.Vaddr, End: p.Vaddr + p.Memsz, Flags: elf.ProgFlag(p.Flags), offset: int64(p.Off), held: min(p.Filesz, p.Memsz)}
	if p.Off > uint64(c.size) {
		s.held, s.offset = 0, 0
	}
	if left := uint64(c.size) - uint64(s.offset); s.held > left {
		s.held = left
	}
	s.lost = min(p.Filesz, p.Memsz) - s.held
	c.segments = append(c.segments, s)
}
