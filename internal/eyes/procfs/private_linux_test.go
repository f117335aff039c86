package procfs

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// What a program writes into a private mapping of a data file is memory that it mapped; that of its executable is not.
func TestPrivateCopiesOfADataFileAreMappedMemory(t *testing.T) {
	const size = 8 << 20
	path := filepath.Join(t.TempDir(), "tiles")
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mapper := &Mapper{}
	look := func() *sample.Residency {
		r, err := mapper.Residency("/proc", os.Getpid(), nil, false)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	before := look()
	b, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(b)
	for i := 0; i < size; i += 4096 {
		b[i] = 1
	}
	after := look()
	if grew := after.Mmap.Sub(before.Mmap); grew < size || after.Image > before.Image+1<<20 {
		t.Errorf("mapped memory grew by %d of %d bytes, the image from %d to %d", grew, size, before.Image, after.Image)
	}
}
