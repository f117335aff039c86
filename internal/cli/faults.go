package cli

import (
	"errors"
	"io/fs"
	"runtime/debug"
	"sync"

	"github.com/highwater-go/highwater/internal/faultprofile"
	"github.com/highwater-go/highwater/internal/watch"
)

// faultProfilesAtOnce is how many programs of a watch have their page faults sampled at a
// time, where more are watched.
const faultProfilesAtOnce = 2

// faultPool is the profilers of page faults of a watch. They are made while it has all its
// rights, and each goes from a program that ended to the next.
type faultPool struct {
	mu   sync.Mutex
	free []*faultprofile.Profiler
	all  []*faultprofile.Profiler
}

// newFaultPool makes so many, or none where that is not permitted.
func newFaultPool(n int) *faultPool {
	p := &faultPool{}
	for range n {
		one, err := faultprofile.New(0)
		if err != nil {
			break // doctor says why
		}
		p.free, p.all = append(p.free, one), append(p.all, one)
	}
	if p.any() {
		debug.FreeOSMemory() // the kernel's types were some 20 MiB
	}
	return p
}

func (p *faultPool) any() bool { return len(p.all) > 0 }

// take is one that nobody uses, nil if there is none.
func (p *faultPool) take() *faultprofile.Profiler {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) == 0 {
		return nil
	}
	one := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	return one
}

// giveBack returns the one of a source that is closed.
func (p *faultPool) giveBack(s *watch.Source) {
	one := s.Profiler()
	if one == nil {
		return
	}
	one.Reset()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, one)
}

// close ends those that are free: what a watch that hangs has ends with this process.
func (p *faultPool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.free {
		_ = one.Close() // its maps hold nothing that anybody needs
	}
	p.free = nil
}

// faultsCheck tries to load the program that samples page faults.
func faultsCheck() check {
	c := check{Name: "who made memory grow (page faults)", Costs: "the line of Go behind native memory (cgo, mmap)"}
	p, err := faultprofile.New(0)
	switch {
	case err == nil:
		c.OK, c.Says = true, "by line, through calls of C; BPF at one of 61 page faults"
		_ = p.Close()
	case errors.Is(err, fs.ErrPermission):
		c.Says = watch.MissingForFaults("/proc")
	default:
		c.Says = err.Error()
	}
	return c
}
