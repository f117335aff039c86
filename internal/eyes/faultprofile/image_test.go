package faultprofile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// withSymbols is an ELF file of so many functions, all of one name, one byte of code each from 0x1000 on.
func withSymbols(t testing.TB, many int, name string) string {
	t.Helper()
	names := "\x00" + name + "\x00"
	symbols := binary.LittleEndian.AppendUint64(make([]byte, 0, 24*(many+1)), 0)
	symbols = append(symbols, make([]byte, 16)...)
	for i := range many {
		symbols = binary.LittleEndian.AppendUint32(symbols, 1)
		symbols = append(symbols, byte(elf.STT_FUNC), 0, 1, 0)
		symbols = binary.LittleEndian.AppendUint64(symbols, 0x1000+uint64(i))
		symbols = binary.LittleEndian.AppendUint64(symbols, 1)
	}
	var h elf.Header64
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)
	h.Type, h.Machine, h.Version, h.Ehsize = uint16(elf.ET_DYN), uint16(elf.EM_X86_64), uint32(elf.EV_CURRENT), 64
	h.Shoff, h.Shnum, h.Shentsize = 64, 3, 64
	const behind = 64 + 3*64
	var b bytes.Buffer
	for _, part := range []any{h, []elf.Section64{{},
		{Type: uint32(elf.SHT_SYMTAB), Off: behind, Size: uint64(len(symbols)), Link: 2, Entsize: 24},
		{Type: uint32(elf.SHT_STRTAB), Off: behind + uint64(len(symbols)), Size: uint64(len(names))}}, symbols, []byte(names)} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "lib.so")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Without a bound 134 MB of names, of a file of 6 MB; a program may have 64 such.
func TestSymbolsOfOneLongNameTakeNoMoreThanStated(t *testing.T) {
	m, err := OpenImage(withSymbols(t, maxSymbols, strings.Repeat("n", 511)), "lib.so", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if most := maxNames + 2*24*maxSymbols; len(m.symbols) != maxSymbols || m.Size() > most {
		t.Errorf("%d symbols take %d bytes, want at most %d", len(m.symbols), m.Size(), most)
	}
	if name := m.Function(0x1000); len(name) != 511 {
		t.Errorf("the first is called %q", name)
	}
	if name := m.Function(0x1000 + maxSymbols - 1); name != "" {
		t.Errorf("the last, whose name is not kept, is called %.20q", name)
	}
}

func TestFunctionsAreNamedByTheirSymbols(t *testing.T) {
	m, err := OpenImage(withSymbols(t, 2, "grow"), "lib.so", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if a, b := m.Function(0x1001), m.Function(0x1002); a != "grow" || b != "" {
		t.Errorf("%q, %q", a, b)
	}
}

// Whatever a library says of itself is read within bounds.
func FuzzOpenImage(f *testing.F) {
	b, err := os.ReadFile(withSymbols(f, 3, "grow"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b, uint64(0x1001))
	f.Fuzz(func(t *testing.T, file []byte, pc uint64) {
		path := filepath.Join(t.TempDir(), "lib.so")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := OpenImage(path, "lib.so", 0, 0)
		if err != nil {
			return
		}
		defer m.Close()
		if name := m.Function(pc); len(name) > 512 || m.Size() > maxNames+(64<<20) {
			t.Errorf("a name of %d bytes, %d bytes in all", len(name), m.Size())
		}
	})
}

func TestAPipeInALibrarysPlaceKeepsNobodyWaiting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lib.so")
	if err := makePipe(path); err != nil {
		t.Skip("SKIP-REASON: needs named pipes:", err)
	}
	if m, err := OpenImage(path, "lib.so", 0, 0); err == nil {
		m.Close()
		t.Error("it was opened")
	}
}
