package watch

import (
	"errors"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// onThread is told of a thread that a program in another language makes, while both
// stand still. A Go library's initializer makes one for its runtime (_rt0_amd64_lib in
// runtime/asm_amd64.s, Go 1.26): the library's variables are as its linker left them
// then, and schedinit is still to come, as in a program that is held behind its execve.
func (s *Source) onThread(pid int) (more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.live[pid]
	if p == nil {
		return true // it was forked, and may exec
	}
	if !s.opts.HeapProfile || p.bin != nil || !errors.Is(p.attachErr, gobin.ErrNotGo) {
		return false
	}
	libraries, err := s.mapper.Libraries(p.root, pid)
	if err != nil {
		return true
	}
	for _, at := range libraries {
		if !slices.Contains(p.besides, at.Start) && s.switchLibraryOn(p, at) {
			return false
		}
	}
	p.besides = startsOf(libraries)
	return true
}

// switchLibraryOn switches the heap profile of a library on whose runtime is about to
// start, as that of a program, and reports whether a file is such a library. Where
// another thread is still loading it, its variables are not there yet, and nothing is
// written: MemProfileRate is what the linker makes it.
func (s *Source) switchLibraryOn(p *process, at procfs.Mapping) (isLibrary bool) {
	rw, err := procfs.OpenMemoryToWrite(p.root, p.readTID)
	if err != nil {
		return false
	}
	defer rw.Close()
	bin := goLibrary(p.root, p.readTID, at, rw)
	if bin == nil {
		return false
	}
	defer bin.Close()
	bias := at.Start - bin.Base()
	if rate, err := readRate(rw, bin, bias); err != nil || rate != defaultRate {
		return true
	}
	if state, err := switchOn(rw, bin, bias, s.opts.ProfileRate); err == nil && state == sample.HeapProfileEnabled {
		p.switchedOn = at.Start
	}
	return true
}
