package explain

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/sample"
)

// RootShare is one kind of root, and what the heap capture nearest to the moment says that
// it retains: a variable, or the goroutines that run one function.
type RootShare struct {
	Kind     sample.HeapRootKind
	Name     string                    // of a variable; of goroutines the function that they run
	Frame    string                    // of goroutines: the function whose frame retains most of it, "" if that is not known
	Creator  string                    // of goroutines: the function with their go statement
	Count    int                       // of goroutines
	Oldest   sample.Opt[time.Duration] // of goroutines: for how long one of them waits, at least
	First    uint64                    // of goroutines: their lowest goid; 1 is main's
	NewID    uint64                    // the highest goid that there was
	Retained sample.Bytes
}

// isMain says whether the main goroutine is among them: its frames return when the program
// ends.
func (r *RootShare) isMain() bool { return r.Kind == sample.RootGoroutine && r.First == 1 }

// youngerThan says whether all of them were started after the goroutine with a number, as
// the newest of an earlier capture.
func (r *RootShare) youngerThan(id uint64) bool {
	return r.Kind == sample.RootGoroutine && r.First > id
}

// rootShares is what each root retains, most first; nil where no heap was captured, or by
// a version that did not note what roots are.
func (c *Case) rootShares() (all []RootShare) {
	h := c.Heap
	if h == nil {
		return nil
	}
	for i := range h.Paths {
		p := &h.Paths[i]
		if p.Parent >= 0 || p.Root == nil {
			continue
		}
		r := p.Root
		all = append(all, RootShare{Kind: r.Kind, Name: cmp.Or(r.Func, p.Label), Frame: frameBelow(h, i), Creator: r.Creator,
			Count: r.Count, Oldest: r.Oldest, First: r.First, NewID: r.NewID, Retained: p.Retained})
	}
	slices.SortStableFunc(all, func(x, y RootShare) int { return cmp.Compare(y.Retained, x.Retained) })
	return all
}

// frameBelow is the function whose frame leads to most of what a goroutine retains.
func frameBelow(h *sample.HeapCapture, root int) (name string) {
	most := sample.Bytes(0)
	for i := root + 1; i < len(h.Paths); i++ {
		p := &h.Paths[i]
		in, ok := strings.CutPrefix(p.Label, " in ")
		if p.Parent == root && ok && in != sample.WholeStack && p.Retained > most {
			name, most = in, p.Retained
		}
	}
	return name
}

// retainedBy is how much of the live heap package-level variables retain, and how much
// frames of goroutines do, by the heap capture nearest to the moment. What both lead to is
// the variables'. ok is false where that is not known.
func (c *Case) retainedBy() (global, frames sample.Bytes, ok bool) {
	for _, r := range c.rootShares() {
		ok = true
		switch r.Kind {
		case sample.RootGlobal:
			global += r.Retained
		case sample.RootGoroutine:
			frames += r.Retained
		}
	}
	return global, frames, ok
}

// container is the place that retains what a line allocated, and the root that keeps
// that; nil where no capture says so.
func (c *Case) container(s *Site) (*HeldBy, *sample.HeapRoot) {
	h := c.keeper(s)
	if h == nil {
		return nil, nil
	}
	return h, c.Heap.RootOf(h.path)
}
