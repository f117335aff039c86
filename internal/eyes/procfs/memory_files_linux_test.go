package procfs

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Shared mappings of files in memory count as shared memory; those of a file on a disk and private ones do not.
func TestSharedMappingsOfFilesInMemoryAreTold(t *testing.T) {
	const size = 1 << 20
	want := map[uintptr]bool{}
	mapped := func(fd, how int) {
		addr, _, errno := unix.Syscall6(unix.SYS_MMAP, 0, size, unix.PROT_READ|unix.PROT_WRITE, uintptr(how), uintptr(fd), 0)
		if errno != 0 {
			t.Fatal(errno)
		}
		t.Cleanup(func() { unix.Syscall(unix.SYS_MUNMAP, addr, size, 0) })
		want[addr] = how&unix.MAP_SHARED != 0
	}
	memfd, err := unix.MemfdCreate("ring", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(memfd)
	inTmpfs, err := os.CreateTemp("/dev/shm", "ring")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(inTmpfs.Name())
	for _, fd := range []int{memfd, int(inTmpfs.Fd())} {
		if err := unix.Ftruncate(fd, size); err != nil {
			t.Fatal(err)
		}
		mapped(fd, unix.MAP_SHARED)
		mapped(fd, unix.MAP_PRIVATE)
	}
	mapped(-1, unix.MAP_ANON|unix.MAP_SHARED)
	mapped(-1, unix.MAP_ANON|unix.MAP_PRIVATE)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var m Mapper
	list, err := m.Areas("/proc", os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	var files MemoryFiles
	found := 0
	isMemory := func(m *Mapping) bool { return files.Has("/proc", os.Getpid(), m) }
	for i := range list {
		v := &list[i]
		shared, ours := want[uintptr(v.Start)]
		if ours {
			found++
		}
		if ours && isMemory(v) != shared || filepath.Base(v.Path) == filepath.Base(exe) && isMemory(v) {
			t.Errorf("%+v: %v", v, isMemory(v))
		}
	}
	if found < len(want)-1 { // two private ones next to each other are one
		t.Errorf("%d of %d were found", found, len(want))
	}
}
