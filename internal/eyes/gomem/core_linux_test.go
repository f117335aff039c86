package gomem_test

import (
	"debug/elf"
	"errors"
	"io"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

// attachCore attaches to a core file.
func (p *target) attachCore(path string) (*gomem.Runtime, error) {
	core, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	p.t.Cleanup(func() { core.Close() })
	exe, err := elf.Open(p.bin.Path)
	if err != nil {
		return nil, err
	}
	p.t.Cleanup(func() { exe.Close() })
	return gomem.AttachCore(coreMemory{loads(core, 0), loads(exe, p.bias)}, p.bin, p.bias)
}

// coreMemory is a core's segments, and behind them those of the executable,
// which a core leaves out where they were not written to.
type coreMemory struct{ core, exe []load }

// load is a PT_LOAD at its run-time address.
type load struct {
	start, end uint64
	data       io.ReaderAt
}

func loads(f *elf.File, bias uint64) (all []load) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Filesz > 0 {
			all = append(all, load{p.Vaddr + bias, p.Vaddr + bias + p.Filesz, p.ReaderAt})
		}
	}
	return all
}

func (c coreMemory) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		l := c.at(uint64(off) + uint64(n))
		if l == nil {
			return n, errUnmapped
		}
		at := uint64(off) + uint64(n) - l.start
		part := p[n:min(uint64(len(p)), uint64(n)+l.end-l.start-at)]
		k, err := l.data.ReadAt(part, int64(at))
		n += k
		if k < len(part) {
			return n, errors.Join(errUnmapped, err)
		}
	}
	return n, nil
}

func (c coreMemory) at(addr uint64) *load {
	for _, side := range [][]load{c.core, c.exe} {
		for i := range side {
			if side[i].start <= addr && addr < side[i].end {
				return &side[i]
			}
		}
	}
	return nil
}
