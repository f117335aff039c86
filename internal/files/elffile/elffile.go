// Package elffile opens ELF files of strangers. Package debug/elf reads all names of
// sections at once, as large and as often as a file says: 2 MB of a file, or a hole in
// one, take gigabytes there. What it is to read is looked at here first, and it then
// gets those very bytes, whatever becomes of the file meanwhile.
//
// What sections hold is not looked at: who reads one asks for its Size before.
package elffile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Bounds of what is opened. The executables of browsers have 50 sections, a Go program's names
// take 400 bytes; of the 16,384 sections here each may have a name of 512.
const (
	maxSections     = 1 << 14
	maxSegments     = 1 << 8
	maxSectionNames = 1 << 20 // bytes of the table
	maxNamesInAll   = 8 << 20 // bytes of all names, of which many may be one
)

// ErrTooLarge says that a file's headers are larger than any linker writes.
var ErrTooLarge = errors.New("its ELF headers are larger than any linker writes")

// New is elf.NewFile, with bounds. It never panics.
func New(r io.ReaderAt) (f *elf.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			f, err = nil, fmt.Errorf("not an ELF file: %v", r)
		}
	}()
	checked, err := Check(r)
	if err != nil {
		return nil, err
	}
	return elf.NewFile(checked)
}

// Check reads a file's headers and says whether they are within bounds. What it gives reads the
// same headers again, and the rest from r: for packages that call elf.NewFile themselves.
func Check(r io.ReaderAt) (io.ReaderAt, error) {
	s := &seen{ReaderAt: r}
	return s, s.look()
}

// header is what the two classes of a file's header have in common.
type header struct {
	phoff, shoff              uint64
	phentsize, phnum          uint64
	shentsize, shnum, shstrnd uint64
}

// section is that of a section's header.
type section struct {
	name, kind   uint32
	flags        uint64
	offset, size uint64
}

// seen is a file of which some parts were read, and are not read again.
type seen struct {
	io.ReaderAt
	parts []part
}

type part struct {
	at   int64
	data []byte
}

// ReadAt reads from what was seen, or from the file.
func (s *seen) ReadAt(p []byte, off int64) (int, error) {
	for i := range s.parts {
		if at := off - s.parts[i].at; at >= 0 && at+int64(len(p)) <= int64(len(s.parts[i].data)) {
			return copy(p, s.parts[i].data[at:]), nil
		}
	}
	return s.ReaderAt.ReadAt(p, off)
}

// keep reads a part of the file, or as much of it as there is.
func (s *seen) keep(at, n uint64) ([]byte, error) {
	data := make([]byte, n)
	got, err := s.ReaderAt.ReadAt(data, int64(at))
	if got < len(data) {
		return nil, fmt.Errorf("read its ELF headers: %w", err)
	}
	s.parts = append(s.parts, part{int64(at), data})
	return data, nil
}

// look keeps all that elf.NewFile makes tables of, if it is within bounds.
func (s *seen) look() error {
	h, order, is64, err := s.header()
	if err != nil {
		return err
	}
	wantSegment, wantSection := uint64(binary.Size(elf.Prog32{})), uint64(binary.Size(elf.Section32{}))
	if is64 {
		wantSegment, wantSection = uint64(binary.Size(elf.Prog64{})), uint64(binary.Size(elf.Section64{}))
	}
	switch {
	case h.phnum > maxSegments || h.shnum > maxSections || h.shnum == 0 && h.shoff > 0: // then the first section has the number
		return ErrTooLarge
	case h.phnum > 0 && h.phentsize != wantSegment || h.shnum > 0 && h.shentsize != wantSection:
		return ErrTooLarge
	case h.shnum == 0 || h.shstrnd >= h.shnum:
		return nil // no names, or an error of elf.NewFile
	}
	table, err := s.keep(h.shoff, h.shnum*h.shentsize)
	if err != nil {
		return err
	}
	return s.names(sectionsOf(table, order, is64), h.shstrnd)
}

func (s *seen) header() (h header, order binary.ByteOrder, is64 bool, err error) {
	data, err := s.keep(0, uint64(binary.Size(elf.Header64{})))
	if err != nil {
		data, err = s.keep(0, uint64(binary.Size(elf.Header32{}))) // all there may be
	}
	if err != nil {
		return h, nil, false, err
	}
	order = binary.LittleEndian
	if elf.Data(data[elf.EI_DATA]) == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	is64 = elf.Class(data[elf.EI_CLASS]) == elf.ELFCLASS64
	var h64 elf.Header64
	var h32 elf.Header32
	if is64 {
		_, err = binary.Decode(data, order, &h64)
		h = header{h64.Phoff, h64.Shoff, uint64(h64.Phentsize), uint64(h64.Phnum), uint64(h64.Shentsize), uint64(h64.Shnum), uint64(h64.Shstrndx)}
	} else {
		_, err = binary.Decode(data, order, &h32)
		h = header{uint64(h32.Phoff), uint64(h32.Shoff), uint64(h32.Phentsize), uint64(h32.Phnum), uint64(h32.Shentsize), uint64(h32.Shnum), uint64(h32.Shstrndx)}
	}
	return h, order, is64, err
}

func sectionsOf(table []byte, order binary.ByteOrder, is64 bool) (all []section) {
	for len(table) > 0 {
		var s64 elf.Section64
		var s32 elf.Section32
		if is64 {
			n, _ := binary.Decode(table, order, &s64) // there are bytes enough
			all, table = append(all, section{s64.Name, s64.Type, s64.Flags, s64.Off, s64.Size}), table[n:]
			continue
		}
		n, _ := binary.Decode(table, order, &s32)
		all, table = append(all, section{s32.Name, s32.Type, uint64(s32.Flags), uint64(s32.Off), uint64(s32.Size)}), table[n:]
	}
	return all
}

// names keeps the names of sections, if all of them together are within bounds.
func (s *seen) names(sections []section, at uint64) error {
	table := sections[at]
	if at == 0 { // there are none
		return nil
	}
	if elf.SectionFlag(table.flags)&elf.SHF_COMPRESSED != 0 || table.size > maxSectionNames {
		return ErrTooLarge
	}
	text, err := s.keep(table.offset, table.size)
	if err != nil {
		return err
	}
	sum := 0
	for i := range sections {
		if name := int(sections[i].name); name < len(text) {
			sum += max(0, bytes.IndexByte(text[name:], 0))
		}
		if sum > maxNamesInAll {
			return ErrTooLarge
		}
	}
	return nil
}
