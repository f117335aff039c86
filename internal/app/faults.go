package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"sync"

	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/eyes/faultprofile"
	"github.com/highwater-go/highwater/internal/eyes/filepages"
	"github.com/highwater-go/highwater/internal/record/watch"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// faultProfilesAtOnce is how many programs of a watch have their page faults sampled at a
// time, where more are watched.
const faultProfilesAtOnce = 2

// faultPool is the profilers of page faults of a watch. They are made while it has all its
// rights, and each goes from a program that ended to the next.
type faultPool struct {
	why  string // there is none, "": that was wanted
	mu   sync.Mutex
	free []*faultprofile.Profiler
	all  []*faultprofile.Profiler
}

// newFaultPool makes so many, or none where that is not permitted.
func newFaultPool(n int) *faultPool {
	p := &faultPool{}
	for range n {
		one, why := newFaultProfiler()
		if why != "" {
			p.why = why
			break
		}
		p.free, p.all = append(p.free, one), append(p.all, one)
	}
	if p.any() {
		debug.FreeOSMemory() // the kernel's types were some 20 MiB
	}
	return p
}

// newFaultProfiler makes one, or says why it cannot.
func newFaultProfiler() (p *faultprofile.Profiler, why string) {
	if limit, ok := limitOfOurs(); ok && limit < leastForFaults {
		return nil, fmt.Sprintf("off under a memory limit of %s, because it would use 20 MiB of that", units.Limit(limit))
	}
	p, err := faultprofile.New(0)
	switch {
	case err == nil:
		return p, ""
	case errors.Is(err, fs.ErrPermission):
		return nil, watch.MissingForFaults("/proc")
	}
	return nil, err.Error()
}

// leastForFaults is the least memory limit that this process may be under to sample page faults: the
// kernel's types, which are read for it, take some 20 MiB, and a program may share the limit.
const leastForFaults = sample.GiB

// limitOfOurs is the tightest memory limit that this process is under; ok is false where there is none.
func limitOfOurs() (limit sample.Bytes, ok bool) {
	home, err := cgroup.FindHome("/", os.Getpid())
	if err != nil {
		return 0, false
	}
	group, err := home.Open()
	if err != nil { // the machine, which has none
		return 0, false
	}
	defer group.Close()
	levels, err := group.Limits()
	if err != nil {
		return 0, false
	}
	tightest, ok := cgroup.Tightest(levels)
	return tightest.Limit.V, ok
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

// join gives a source that is to be made one that nobody uses, or the reason why there is none.
func (p *faultPool) join(o *watch.Options) { o.Faults, o.NoFaults = p.take(), p.why }

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

// filesCheck tries what tells whose the pages of files are.
func filesCheck() check {
	c := check{Name: "which files are in page cache and tmpfs", Costs: "for a file that other programs use too: how much of it counts for this program"}
	o, err := filepages.OpenOwners("/proc")
	switch {
	case err == nil:
		o.Close()
		c.OK, c.Says = true, "for each file: bytes in memory, waiting to be written, and counted for the program"
	case errors.Is(err, fs.ErrPermission):
		c.Says = "files are named; to tell which program their pages count for needs root, or CAP_SYS_ADMIN and CAP_DAC_READ_SEARCH"
	default:
		c.Says = "files are named, but not which program their pages count for: " + err.Error()
	}
	return c
}

// faultsCheck tries to load the program that samples page faults.
func faultsCheck() check {
	c := check{Name: "which lines make memory grow (page faults)", Costs: "the line of Go behind native memory (cgo, mmap)"}
	p, why := newFaultProfiler()
	if c.Says = why; why != "" {
		return c
	}
	c.OK, c.Says = true, "by line of Go, through calls of C; BPF samples 1 of 61 page faults"
	if err := p.MappingsUnseen(); err != nil {
		c.Says += "; not which line mapped memory: " + err.Error()
	}
	_ = p.Close() // nobody was sampled
	return c
}
