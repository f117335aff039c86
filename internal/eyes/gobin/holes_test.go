package gobin

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/highwater-go/highwater/internal/files/elffile"
)

// ofHoles is an executable whose sections, from the first on, begin where its headers end and go on
// as far as a hole of size bytes; the first has the names.
func ofHoles(t *testing.T, size int64, sections ...elf.Section64) string {
	t.Helper()
	var h elf.Header64
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)
	h.Type, h.Machine, h.Version, h.Ehsize = uint16(elf.ET_EXEC), uint16(elf.EM_X86_64), uint32(elf.EV_CURRENT), 64
	h.Phoff, h.Phnum, h.Phentsize = 64, 1, 56
	h.Shoff, h.Shnum, h.Shentsize, h.Shstrndx = 64+56, uint16(len(sections)+1), 64, 1
	start := h.Shoff + 64*uint64(h.Shnum)
	for i := range sections {
		sections[i].Off = start
	}
	all := append([]elf.Section64{{}}, sections...)
	var b bytes.Buffer
	for _, part := range []any{h, elf.Prog64{Type: uint32(elf.PT_LOAD), Off: start, Vaddr: 0x400000, Filesz: uint64(size), Memsz: uint64(size)}, all} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "holes")
	if err := os.WriteFile(path, b.Bytes(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(start)+size); err != nil {
		t.Fatal(err)
	}
	return path
}

// Without bounds the first took as much memory as the hole is long.
func TestAnExecutableOfHolesTakesNoMemory(t *testing.T) {
	const size = 64 << 20
	names := elf.Section64{Type: uint32(elf.SHT_STRTAB), Size: 1}
	long := names
	long.Size = size
	libraries := elf.Section64{Type: uint32(elf.SHT_DYNAMIC), Size: size, Link: 1}
	for name, c := range map[string]struct {
		path string
		want error
	}{
		"of names":     {ofHoles(t, size, long), elffile.ErrTooLarge},
		"of libraries": {ofHoles(t, size, names, libraries), ErrNotGo},
		"of code":      {ofHoles(t, size, names), ErrNotGo},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Open(c.path)
			is, tracing := IsGo(c.path), TracingOf(c.path)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, c.want) || is || tracing == Traces {
				t.Errorf("%v, want %v; Go: %v, tracing: %v", err, c.want, is, tracing)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 24<<20 {
				t.Errorf("%d MiB were allocated", took>>20)
			}
		})
	}
}
