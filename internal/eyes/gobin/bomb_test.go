package gobin

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// bomb is a program whose entries of DWARF are replaced by size zeros, compressed as
// the linker compresses them.
func bomb(t *testing.T, size int) string {
	t.Helper()
	data, err := os.ReadFile(plain.build(t))
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	s := f.Section(".debug_info")
	if s == nil || s.Flags&elf.SHF_COMPRESSED == 0 {
		t.Fatalf("%+v is not compressed", s)
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := z.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	const header = 24 // Elf64_Chdr: type, reserved, size, alignment
	part := data[s.Offset : s.Offset+s.FileSize]
	if header+packed.Len() > len(part) {
		t.Fatalf("%d bytes have no room in %d", packed.Len(), len(part))
	}
	binary.LittleEndian.PutUint64(part[8:], uint64(size))
	copy(part[header:], packed.Bytes())
	path := filepath.Join(t.TempDir(), "bomb")
	if err := os.WriteFile(path, data, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestASectionThatUnpacksToFarMoreThanItIsIsNotRead(t *testing.T) {
	const size = 96 << 20
	b := open(t, bomb(t, size))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	all, err := b.Variables([][2]uint64{{0, 1 << 62}})
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "the section .debug_info of ") || len(all) == 0 {
		t.Errorf("%d variables, %v", len(all), err)
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > size/2 {
		t.Errorf("%d MiB were allocated", allocated>>20)
	}
}
