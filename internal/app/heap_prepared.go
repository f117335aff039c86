package app

import (
	"slices"
	"sync"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// prepared is the programs whose heaps can be copied at once, so that one that ends is held
// for no longer than its copy takes. To find a stripped program's runtime takes longer.
type prepared struct {
	at   sample.Bytes // the charge when they were
	busy bool
	all  map[sample.ProcessKey]*preparedHeap
}

// preparedHeap is one of them.
type preparedHeap struct {
	target    *heapTarget
	variables variables
}

// prepare opens the programs that run now, once there is something to capture, and again
// whenever the charge has doubled: there may be others then. It is called by the loop.
func (t *heapTaker) prepare() {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := &t.prepared
	if !t.Exit && !t.Kill || t.shares && t.ByDefault || t.source == nil || p.busy || t.startsMany() || t.charge < smallHeap || t.charge < 2*p.at {
		return
	}
	p.busy, p.at = true, t.charge
	t.analyses.Go(func() {
		t.open()
		t.mu.Lock()
		t.prepared.busy = false
		t.mu.Unlock()
	})
}

// preparing is held by who prepares: a walk over the DWARF of a large program takes 25 MiB for a
// moment, and a watch of a hundred programs begins with all of them.
var preparing sync.Mutex

// open opens what is not open yet.
func (t *heapTaker) open() {
	preparing.Lock()
	defer preparing.Unlock()
	programs := t.source.GoPrograms()
	t.forgetEnded(programs)
	for _, p := range programs {
		t.mu.Lock()
		known := t.prepared.all[p.Key] != nil
		t.mu.Unlock()
		if known || t.ctx.Err() != nil {
			continue
		}
		target, err := openLiveHeap(p.Key.PID)
		if err != nil {
			continue // it is opened at its end, or that says why it cannot be
		}
		c := heapCopy{heapTarget: target}
		c.readVariables()
		t.mu.Lock()
		if t.prepared.all == nil {
			t.prepared.all = make(map[sample.ProcessKey]*preparedHeap)
		}
		t.prepared.all[p.Key] = &preparedHeap{target, c.variables}
		t.mu.Unlock()
	}
}

// forgetEnded closes those that have ended and that nobody has taken.
func (t *heapTaker) forgetEnded(running []sample.Program) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, ready := range t.prepared.all {
		if !slices.ContainsFunc(running, func(p sample.Program) bool { return p.Key == key }) {
			ready.target.close()
			delete(t.prepared.all, key)
		}
	}
}

// takePrepared is a program's, which is the caller's then; nil: it is not prepared.
func (t *heapTaker) takePrepared(key sample.ProcessKey) *preparedHeap {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.prepared.all[key]
	delete(t.prepared.all, key)
	return p
}

// closePrepared closes those that nobody has taken.
func (t *heapTaker) closePrepared() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.prepared.all {
		p.target.close()
	}
	t.prepared.all = nil
}
