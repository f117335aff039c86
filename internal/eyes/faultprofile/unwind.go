package faultprofile

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"os"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/files/elffile"
	"github.com/highwater-go/highwater/internal/files/regular"
)

// Image is a file of machine code that is not Go's: the C library, or the C part of a Go
// program. It finds frames by the table that compilers write for exceptions, as C has no frame
// pointers, and names functions by the file's symbols. What it lacks is left out: then a
// stack ends there, or a function has no name.
type Image struct {
	Name     string // of the file
	Base     uint64 // the link-time address of its first byte
	content  *os.File
	segments []elf.ProgHeader
	table    *frameTable
	symbols  []symbol
	names    []byte
}

type symbol struct {
	addr, size uint64
	name       uint32
}

// What an image keeps: tables of a file are read whole before, and many symbols may have one long name.
const (
	maxSymbolBytes = 64 << 20
	maxSymbols     = 1 << 18
	maxNames       = 16 << 20
)

// OpenImage opens a file, leaving out the symbols of [text, etext), which are Go's. The caller closes it.
func OpenImage(path, name string, text, etext uint64) (*Image, error) {
	f, err := regular.Open(path) // the program may have put something else there
	if err != nil {
		return nil, err
	}
	e, err := elffile.New(f)
	if err != nil {
		_ = f.Close() // only read
		return nil, err
	}
	m := &Image{Name: name, content: f, Base: baseOf(e)}
	for _, p := range e.Progs {
		if p.Type == elf.PT_LOAD {
			m.segments = append(m.segments, p.ProgHeader)
		}
	}
	m.readFrames(e)
	m.readSymbols(e, text, etext)
	return m, nil
}

// Size is about how much memory it takes.
func (m *Image) Size() int {
	const each, row = 24, 160 // of a symbol, and of a row with its place in the map
	size := each*cap(m.symbols) + cap(m.names)
	if m.table != nil {
		size += cap(m.table.index) + row*maxRows
	}
	return size
}

// ID is the file's own, whatever path led to it.
func (m *Image) ID() string {
	info, err := m.content.Stat()
	if err != nil {
		return m.Name
	}
	return fileID(info)
}

// Close closes the file.
func (m *Image) Close() { _ = m.content.Close() } // only read

// baseOf is where the file's first byte would lie, by its segments.
func baseOf(e *elf.File) uint64 {
	for _, p := range e.Progs {
		if p.Type == elf.PT_LOAD {
			return p.Vaddr - p.Off
		}
	}
	return 0
}

func (m *Image) readFrames(e *elf.File) {
	hdr, frames := e.Section(".eh_frame_hdr"), e.Section(".eh_frame")
	if hdr == nil || frames == nil || hdr.Size > maxFrameIndex || hdr.Type == elf.SHT_NOBITS || frames.Type == elf.SHT_NOBITS {
		return
	}
	if b, err := hdr.Data(); err == nil {
		m.table, _ = newFrameTable(b, hdr.Addr, frames.ReaderAt, frames.Addr, frames.Size) // nil: stacks end here
	}
}

// readSymbols keeps the functions of the file's symbol table, or of what it offers to the loader.
func (m *Image) readSymbols(e *elf.File, text, etext uint64) {
	for _, kind := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		s := e.SectionByType(kind)
		if s == nil || s.Size > maxSymbolBytes || int(s.Link) >= len(e.Sections) || e.Sections[s.Link].Size > maxSymbolBytes {
			continue
		}
		raw, err := s.Data()
		if err != nil {
			continue
		}
		if m.names, err = e.Sections[s.Link].Data(); err != nil {
			continue
		}
		if m.keepFunctions(raw, text, etext); len(m.symbols) > 0 {
			break
		}
	}
	m.keepNames()
	// Of several names of a function the last counts: malloc, and not __libc_malloc.
	inner := func(s symbol) int { return boolInt(strings.HasPrefix(cString(m.names, s.name), "_")) }
	slices.SortStableFunc(m.symbols, func(a, b symbol) int { return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(inner(b), inner(a))) })
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (m *Image) keepFunctions(raw []byte, text, etext uint64) {
	const each = 24 // Elf64_Sym
	for ; len(raw) >= each && len(m.symbols) < maxSymbols; raw = raw[each:] {
		kind, section := elf.SymType(raw[4]&0xf), binary.LittleEndian.Uint16(raw[6:])
		s := symbol{name: binary.LittleEndian.Uint32(raw), addr: binary.LittleEndian.Uint64(raw[8:]), size: binary.LittleEndian.Uint64(raw[16:])}
		isFunction := kind == elf.STT_FUNC || kind == elf.STT_GNU_IFUNC
		if isFunction && section != 0 && s.addr != 0 && (s.addr < text || s.addr >= etext) {
			m.symbols = append(m.symbols, s)
		}
	}
}

// keepNames keeps those names alone that symbols have: a Go program's are some MiB.
func (m *Image) keepNames() {
	kept := make([]byte, 1, 16*len(m.symbols)+1) // the first is no name
	for i := range m.symbols {
		s := &m.symbols[i]
		name := cString(m.names, s.name)
		if s.name = 0; len(kept)+len(name) < maxNames {
			s.name = uint32(len(kept))
			kept = append(append(kept, name...), 0)
		}
	}
	m.names = slices.Clone(kept)
}

// cString is the text at an offset, of some length that names have.
func cString(b []byte, at uint32) string {
	const longest = 512
	if uint64(at) >= uint64(len(b)) {
		return ""
	}
	b = b[at:min(uint64(len(b)), uint64(at)+longest)]
	if end := slices.Index(b, 0); end >= 0 {
		return string(b[:end])
	}
	return ""
}

// Function names the function at a link-time address, "" if no symbol does.
func (m *Image) Function(addr uint64) string {
	next, _ := slices.BinarySearchFunc(m.symbols, addr+1, func(s symbol, a uint64) int { return cmp.Compare(s.addr, a) })
	for i := next - 1; i >= 0; i-- {
		s := &m.symbols[i]
		if addr-s.addr < max(s.size, 1) {
			return cString(m.names, s.name)
		}
		if addr-s.addr > 1<<20 {
			break
		}
	}
	return ""
}

// Code is where images lie in a process.
type Code interface {
	// Image is the one whose code holds an address, and what was added to its link-time
	// addresses. nil: none that is C's.
	Image(pc uint64) (m *Image, bias uint64)
}

// maxUnwound bounds the frames of C.
const maxUnwound = 32

// Unwind appends the frames of C on the stack of a sample: the instruction, then return
// addresses, until Go's code, or as far as the copy of the stack goes.
func Unwind(dst []uint64, s *Place, code Code, text, etext uint64) []uint64 {
	dst = append(dst, s.IP)
	f := frame{regs: s.Registers, stack: s.Stack, bottom: s.SP}
	for n := range maxUnwound {
		m, bias := code.Image(f.regs.IP)
		if m == nil || !f.step(m, bias, n > 0) || f.regs.IP >= text && f.regs.IP < etext || f.regs.IP == 0 {
			break
		}
		dst = append(dst, f.regs.IP)
	}
	return dst
}

// frame is a place on a stack.
type frame struct {
	regs   Registers
	stack  []byte
	bottom uint64 // address of stack
}

// word reads the copy.
func (f *frame) word(addr uint64) (uint64, bool) {
	off := addr - f.bottom
	if addr < f.bottom || off > uint64(len(f.stack)) || uint64(len(f.stack))-off < 8 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(f.stack[off:]), true
}

// step goes to the caller. Where the file says nothing of its innermost function, that is taken for
// one without a frame, as assembly is.
func (f *frame) step(m *Image, bias uint64, called bool) bool {
	pc := f.regs.IP - bias
	if called {
		pc--
	}
	r, ok := row{}, false
	if m.table != nil {
		r, ok = m.table.row(pc)
	}
	if !ok {
		if called {
			return false
		}
		r = row{base: dwRSP, offset: 8}
	}
	cfa := f.base(r, pc)
	ret, ok := f.word(cfa - 8)
	if !ok || cfa <= f.regs.SP {
		return false
	}
	f.restore(r, cfa)
	f.regs.IP, f.regs.SP = ret, cfa
	return true
}

// base is the frame's address.
func (f *frame) base(r row, pc uint64) uint64 {
	if r.plt { // rsp + 8, and 8 more once the index is pushed (binutils, elfxx-x86.c)
		if pc&15 >= 11 {
			return f.regs.SP + 16
		}
		return f.regs.SP + 8
	}
	of := f.regs.SP
	if p := f.saved(savedIndex(uint64(r.base))); p != nil {
		of = *p
	}
	return of + uint64(r.offset)
}

// saved is a register that calls preserve, by its index.
func (f *frame) saved(i int) *uint64 {
	switch i {
	case 0:
		return &f.regs.BX
	case 1:
		return &f.regs.BP
	case 2:
		return &f.regs.R12
	case 3:
		return &f.regs.R13
	case 4:
		return &f.regs.R14
	case 5:
		return &f.regs.R15
	}
	return nil
}

func (f *frame) restore(r row, cfa uint64) {
	for i, s := range r.saved {
		if !s.saved {
			continue
		}
		if v, ok := f.word(cfa + uint64(s.at)); ok {
			*f.saved(i) = v
		}
	}
}
