package faultprofile

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

func TestALargeMappingIsToldAndASmallOneIsNot(t *testing.T) {
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
	sizes := map[uint64]uint64{}
	for _, n := range []int{LeastMapping - 4096, LeastMapping, 3 << 20} {
		b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Munmap(b)
	}
	_ = p.Drain(1<<10, func(s *Sample) {
		if s.Mapped > 0 {
			sizes[s.Mapped]++
		}
	})
	t.Log(sizes)
	if sizes[LeastMapping] == 0 || sizes[3<<20] == 0 || sizes[LeastMapping-4096] != 0 {
		t.Errorf("mappings by size: %v", sizes)
	}
}
