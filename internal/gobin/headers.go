package gobin

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// pageSize is the granularity of ELF loading on amd64.
const pageSize = 4096

// segment is the part of a PT_LOAD that the file holds.
type segment struct {
	addr uint64
	data []byte
}

func openELF(m *mapping) (f *elf.File, err error) {
	defer catch(&err)
	f, err = elf.NewFile(m)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotELF, err)
	}
	return f, nil
}

func (b *Binary) readHeaders(f *elf.File) {
	b.PIE = f.Type == elf.ET_DYN
	if b.Arch == "" {
		b.Arch = goarch(f)
	}
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		b.segments = append(b.segments, segment{p.Vaddr, b.slice(p.Off, p.Filesz)})
	}
	if s := f.SectionByType(elf.SHT_SYMTAB); s != nil && uint64(s.Link) < uint64(len(f.Sections)) {
		b.HasSymbols = true
		b.symtab = b.slice(s.Offset, s.Size)
		str := f.Sections[s.Link]
		b.strtab = b.slice(str.Offset, str.Size)
	}
	if s := f.Section(".note.go.buildid"); s != nil {
		b.BuildID = goBuildID(b.slice(s.Offset, s.Size))
	}
}

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
// (cmd/link/internal/ld/elf.go, ELF_NOTE_GOBUILDID_TAG).
func goBuildID(note []byte) string {
	const header, tag = 16, 4 // three words and the padded name
	if len(note) < header || string(note[12:16]) != "Go\x00\x00" {
		return ""
	}
	size := binary.LittleEndian.Uint32(note[4:])
	if binary.LittleEndian.Uint32(note[8:]) != tag || uint64(size) > uint64(len(note)-header) {
		return ""
	}
	return string(note[header : header+int(size)])
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

// checkSupported says what of this program cannot be read; the order is that of
// what a user can change least.
func (b *Binary) checkSupported(f *elf.File) error {
	goos := b.Settings["GOOS"]
	if goos == "" {
		goos = "linux" // the setting is as old as Go 1.18
	}
	if goos != "linux" || b.Arch != "amd64" || goarch(f) != "amd64" {
		return fmt.Errorf("built for %s/%s: %w", goos, b.Arch, ErrArch)
	}
	switch mode := b.Settings["-buildmode"]; mode {
	case "", "exe", "pie":
	default:
		return fmt.Errorf("built with -buildmode=%s: %w", mode, ErrBuildMode)
	}
	if _, err := findToolchains(b.Arch, b.GoVersion, b.Experiments); err != nil {
		return err
	}
	if !b.HasSymbols {
		return ErrStripped
	}
	return nil
}
