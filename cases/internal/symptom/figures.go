package symptom

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/google/pprof/profile"

	"github.com/highwater-go/highwater/cases/internal/probe"
)

// Figures is what was measured of a program, most of them the highest value
// seen. Bytes unless said otherwise. What could not be read stays zero only
// where the program ended before it was.
type Figures struct {
	Took   time.Duration
	Killed bool // by the kernel, for its cgroup's limit

	// The kernel, by cgroup: looked at every 50 ms, Peak kept by the kernel.
	Peak      uint64 // everything charged
	Anon      uint64 // anonymous memory
	File      uint64 // page cache, with temporary and database files
	FileAtEnd uint64 // page cache before the program was asked to end
	LimitHits uint64 // how often a charge met the limit
	Refaults  uint64 // pages of files that were read again soon after they were taken back
	Limit     uint64 // as it was set, 0: none

	// The kernel, by process: every 500 ms, at the highest of their sum.
	HeapResident    uint64 // pages present of the Go heap's arenas
	OutsideResident uint64 // other anonymous pages: C's malloc, thread stacks, the runtime's own

	// runtime/metrics, every 500 ms.
	Live      uint64 // marked by the last collection
	Goal      uint64 // heap size at which the next one starts
	Reserved  uint64 // held by Go's heap: objects, free and unused spans, not returned ones
	Allocated uint64 // by the whole run
	Cycles    uint64 // collections

	// Profile is the heap profile with the most in use, Last the one before the
	// program was asked to end; nil unless every allocation was kept.
	Profile, Last *profile.Profile
}

// Outcome is how a program fared under a load.
type Outcome string

// The outcomes. Killed and Livelock are two ends of the same limit: the kernel
// kills when it finds nothing to take back. While it finds pages of files, it
// takes those, though the program needs them, and has them read from disk again.
const (
	Alive    Outcome = "alive"
	Killed   Outcome = "killed"
	Livelock Outcome = "livelock"
	Stuck    Outcome = "stuck" // for another reason than its limit
)

// Outcome says how the program fared; done is whether the load came to its end.
func (f Figures) Outcome(done bool) Outcome {
	switch {
	case f.Killed:
		return Killed
	case done:
		return Alive
	case f.Limit > 0 && f.Refaults >= f.Limit/pageSize:
		return Livelock // it has read as much as it may hold again
	}
	return Stuck
}

const pageSize = 4096 // of page cache, on every system that has these cgroups

const (
	kernelEvery  = 50 * time.Millisecond
	runtimeEvery = 500 * time.Millisecond
)

// watchKernel keeps the cgroup's peaks until ctx ends.
func (p *Program) watchKernel(ctx context.Context) {
	every(ctx, p.ended, kernelEvery, func() { p.lookAtKernel() })
}

// lookAtKernel reads the cgroup's figures once; file is its page cache now.
func (p *Program) lookAtKernel() (file uint64) {
	anon, file := p.group.stat()
	usage := p.group.usage()
	p.mu.Lock()
	defer p.mu.Unlock()
	f := &p.figures
	f.Anon, f.File, f.Peak = max(f.Anon, anon), max(f.File, file), max(f.Peak, usage)
	return file
}

// watchRuntime keeps the peaks of what the program itself and its page tables
// say, until ctx ends.
func (p *Program) watchRuntime(ctx context.Context) {
	every(ctx, p.ended, runtimeEvery, func() { p.look("/debug/metrics") })
}

func every(ctx context.Context, ended <-chan struct{}, d time.Duration, do func()) {
	t := time.NewTicker(d)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ended:
			return
		case <-t.C:
			do()
		}
	}
}

// look takes one set of figures. A program that does not answer, because it is
// being killed or has not begun to listen, gives none.
func (p *Program) look(path string) error {
	m := map[string]float64{}
	if err := p.get(path, func(r *http.Response) error { return json.NewDecoder(r.Body).Decode(&m) }); err != nil {
		return err
	}
	heap, outside, err := residency(p.PID(), uint64(m[probe.HeapAddress]))
	if err != nil {
		return err
	}
	p.mu.Lock()
	f := &p.figures
	if heap+outside > f.HeapResident+f.OutsideResident {
		f.HeapResident, f.OutsideResident = heap, outside
	}
	f.Live = max(f.Live, uint64(m["/gc/heap/live:bytes"]))
	f.Goal = max(f.Goal, uint64(m["/gc/heap/goal:bytes"]))
	f.Reserved = max(f.Reserved, uint64(m["/memory/classes/heap/objects:bytes"]+m["/memory/classes/heap/unused:bytes"]+m["/memory/classes/heap/free:bytes"]))
	f.Allocated, f.Cycles = uint64(m["/gc/heap/allocs:bytes"]), uint64(m["/gc/cycles/total:gc-cycles"])
	p.mu.Unlock()
	if !p.options.EveryAllocation {
		return nil
	}
	return p.keepProfile()
}

func (p *Program) keepProfile() error {
	var taken *profile.Profile
	err := p.get("/debug/pprof/heap", func(r *http.Response) (err error) {
		taken, err = profile.Parse(r.Body)
		return err
	})
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f := &p.figures
	if f.Profile == nil || total(taken, "inuse_space") > total(f.Profile, "inuse_space") {
		f.Profile = taken
	}
	f.Last = taken
	return nil
}

// lastLook reads the cgroup once more, then collects, so that what is left is live,
// and looks. What the last collection found is in the Last profile. A program whose death the kernel has
// counted, though nobody could wait for it yet, no longer answers.
func (p *Program) lastLook() error {
	file := p.lookAtKernel()
	p.mu.Lock()
	p.figures.FileAtEnd = file
	p.mu.Unlock()
	if err := p.look("/debug/gc"); err != nil && p.group.kills() == 0 {
		return fmt.Errorf("look at %s: %w", p.options.Path, err)
	}
	return nil
}

// AllocatedNow is what the program has allocated until now.
func (p *Program) AllocatedNow() (uint64, error) {
	m := map[string]float64{}
	err := p.get("/debug/metrics", func(r *http.Response) error { return json.NewDecoder(r.Body).Decode(&m) })
	return uint64(m["/gc/heap/allocs:bytes"]), err
}

// LiveNow collects in the program and returns what is left.
func (p *Program) LiveNow() (uint64, error) {
	m := map[string]float64{}
	err := p.get("/debug/gc", func(r *http.Response) error { return json.NewDecoder(r.Body).Decode(&m) })
	return uint64(m["/gc/heap/live:bytes"]), err
}

func (p *Program) get(path string, read func(*http.Response) error) error {
	c := http.Client{Timeout: 20 * time.Second}
	r, err := c.Get("http://" + p.debug + path)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	return read(r)
}
