package faultprofile

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

func TestALargeMappingIsToldWhereverItLiesAndASmallOneIsNot(t *testing.T) {
	var p *Profiler
	hwtest.Need(t, hwtest.Root, func() (err error) { p, err = New(0); return err })
	defer p.Close()
	if err := p.MappingsUnseen(); err != nil {
		t.Fatal(err)
	}
	// Nothing of a goroutine is to be found: what is asked is whether the call is seen.
	if err := p.Know(os.Getpid(), Target{G: 1 << 40}); err != nil {
		t.Fatal(err)
	}
	if err := p.Attach("/proc", os.Getpid()); err != nil {
		t.Fatal(err)
	}
	make := func(at, n, flags uintptr) uintptr {
		got, _, errno := unix.Syscall6(unix.SYS_MMAP, at, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|flags, ^uintptr(0), 0)
		if errno != 0 {
			t.Fatal(errno)
		}
		return got
	}
	small, least := make(0, LeastMapping-4096, 0), make(0, LeastMapping, 0)
	large := make(0, 64<<20, 0) // may get huge pages
	fixed := make(large+4<<20, 3<<20, unix.MAP_FIXED)
	moved, _, errno := unix.Syscall6(unix.SYS_MREMAP, fixed, 3<<20, 5<<20, unix.MREMAP_MAYMOVE, 0, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	defer func() {
		for at, n := range map[uintptr]uintptr{small: LeastMapping - 4096, least: LeastMapping, large: 64 << 20, moved: 5 << 20} {
			_, _, _ = unix.Syscall(unix.SYS_MUNMAP, at, n, 0) // of this test
		}
	}()
	type told struct{ at, size, old, oldSize uint64 }
	seen := map[told]int{}
	_ = p.Drain(1<<10, func(s *Sample) {
		if s.Mapped > 0 {
			seen[told{s.Address, s.Mapped, s.Old, s.OldSize}]++
		}
	})
	all := []told{{uint64(least), LeastMapping, 0, 0}, {uint64(large), 64 << 20, 0, 0}, {uint64(moved), 5 << 20, uint64(fixed), 3 << 20}}
	if p.SeesFixed() {
		all = append(all, told{uint64(fixed), 3 << 20, 0, 0})
	}
	for _, want := range all {
		if seen[want] != 1 {
			t.Errorf("%+v was told %d times", want, seen[want])
		}
	}
	if seen[told{uint64(small), LeastMapping - 4096, 0, 0}] != 0 {
		t.Error("a small mapping is told")
	}
	t.Log(seen)
}
