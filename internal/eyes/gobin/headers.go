package gobin

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/highwater-go/highwater/internal/files/elffile"
)

// pageSize is the granularity of ELF loading on amd64.
const pageSize = 4096

// maxSegments bounds them: Go's and GNU's linkers make up to seven.
const maxSegments = 64

// segment is a PT_LOAD.
type segment struct {
	addr, size uint64 // in memory
	exec       bool
	data       []byte // the part that the file holds
}

func openELF(m *mapping) (f *elf.File, err error) {
	defer catch(&err)
	f, err = elffile.New(m)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotELF, err)
	}
	return f, nil
}

func (b *Binary) readHeaders(f *elf.File) {
	b.PIE = f.Type == elf.ET_DYN
	b.Arch = goarch(f)
	held := 0
	for _, p := range f.Progs {
		switch p.Type {
		case elf.PT_LOAD:
			// Hostile files may load one part many times; all of it is searched.
			data := b.slice(p.Off, min(p.Filesz, maxSegment))
			if held += len(data); held > min(2*len(b.file.data), 2*maxSegment) || len(b.segments) == maxSegments {
				continue
			}
			b.segments = append(b.segments, segment{p.Vaddr, p.Memsz, p.Flags&elf.PF_X != 0, data})
		case elf.PT_NOTE:
			b.BuildID = cmp.Or(b.BuildID, goBuildID(b.slice(p.Off, min(p.Filesz, maxNotes))))
		}
	}
	b.readRelocations(f)
	if s := f.SectionByType(elf.SHT_SYMTAB); s != nil && uint64(s.Link) < uint64(len(f.Sections)) {
		b.HasSymbols = true
		b.symtab = b.slice(s.Offset, min(s.Size, maxTable))
		str := f.Sections[s.Link]
		b.strtab = b.slice(str.Offset, min(str.Size, maxTable))
	}
}

// Bounds of what is looked through. A file may have a hole of any size, and every page of it that is read takes
// memory. The largest Go executables have symbols of some 100 MB.
const (
	maxSegment = 1 << 30
	maxTable   = 256 << 20
	maxNotes   = 1 << 16
	maxDynamic = 1 << 16
)

// slice is the file's bytes from off, as many of n as there are.
func (b *Binary) slice(off, n uint64) []byte {
	size := uint64(len(b.file.data))
	if off >= size {
		return nil
	}
	end := off + min(n, size-off)
	return b.file.data[off:end:end]
}

// at is the file's bytes from a link-time address to the end of its segment,
// nil where the file has none. Relocations are not applied.
func (b *Binary) at(addr uint64) []byte {
	for _, s := range b.segments {
		if addr >= s.addr && addr-s.addr < uint64(len(s.data)) {
			return s.data[addr-s.addr:]
		}
	}
	return nil
}

// search gives the aligned addresses where the file has a pattern, and its bytes from
// there to the end of the segment. It lets go of the pages that it has read, so that
// a large file does not become ours.
func (b *Binary) search(pattern []byte, align uint64) iter.Seq2[uint64, []byte] {
	const piece = 1 << 20
	return func(yield func(uint64, []byte) bool) {
		for _, s := range b.segments {
			for lo := 0; lo < len(s.data); lo += piece {
				part := s.data[lo:min(lo+piece+len(pattern)-1, len(s.data))]
				for at := 0; ; at++ {
					i := bytes.Index(part[at:], pattern)
					if i < 0 {
						break
					}
					at += i
					addr := s.addr + uint64(lo+at)
					if addr%align == 0 && !yield(addr, s.data[lo+at:]) {
						return
					}
				}
				b.file.release(part)
			}
		}
	}
}

// Base is the lowest address that the file asks to be loaded at, rounded down to
// a page: 0x400000 for what Go's own linker makes, PIE or not, and mostly 0 for
// a PIE that a C linker made. The load bias of a process is the start of the
// file's mapping with offset 0, minus Base.
func (b *Binary) Base() uint64 {
	lowest := ^uint64(0)
	for _, s := range b.segments {
		lowest = min(lowest, s.addr)
	}
	return lowest &^ (pageSize - 1)
}

// goBuildID reads the note that cmd/link writes: name "Go", type 4
// (cmd/link/internal/ld/elf.go, ELF_NOTE_GOBUILDID_TAG). C linkers put it among
// other notes.
func goBuildID(notes []byte) string {
	const header, tag = 12, 4 // sizes of name and description, type
	padded := func(n uint32) uint64 { return (uint64(n) + 3) &^ 3 }
	for len(notes) >= header {
		nameSize, size := binary.LittleEndian.Uint32(notes), binary.LittleEndian.Uint32(notes[4:])
		typ, rest := binary.LittleEndian.Uint32(notes[8:]), notes[header:]
		if padded(nameSize)+uint64(size) > uint64(len(rest)) {
			return ""
		}
		name, desc := rest[:nameSize], rest[padded(nameSize):]
		if typ == tag && string(name) == "Go\x00\x00" {
			return string(desc[:size])
		}
		notes = tail(desc, padded(size))
	}
	return ""
}

// goarch names the machine as Go does, for files whose build settings do not.
func goarch(f *elf.File) string {
	switch {
	case f.Machine == elf.EM_X86_64 && f.Class == elf.ELFCLASS64:
		return "amd64"
	case f.Machine == elf.EM_AARCH64:
		return "arm64"
	case f.Machine == elf.EM_386:
		return "386"
	}
	return f.Machine.String()
}
