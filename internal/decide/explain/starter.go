package explain

import (
	"fmt"
	"strings"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// blameStarter blames the program's own line for goroutines that wait in a library: its go statement, that which has the
// library start them, or that which made what they call, as far as that is known. words say of such a line what it is to
// them; "": none was found.
func (c *Case) blameStarter(f *Finding, p pile) (words string) {
	if heapdiff.OwnerOf(p.made.Func, c.module()) == heapdiff.Own {
		f.Culprit.Place = p.made.Place()
		return ""
	}
	asks, exact := c.asksFor(p)
	if handed := c.handed(p); handed != nil && !exact {
		f.Culprit.Place = handed.Closure.Place()
		return fmt.Sprintf("most of them have a closure of their own, of %s at %s", ShortFunc(handed.Closure.Func), place(f.Culprit.File, f.Culprit.Line))
	}
	if asks == nil {
		return ""
	}
	f.Culprit.Place = *asks
	what := "package"
	if exact {
		what = "function"
	}
	return fmt.Sprintf("%s calls the %s that starts them", place(asks.File, asks.Line), what)
}

// handed is what the program gave a library to call from such goroutines, by the newest capture of the heap; nil: nothing is known.
func (c *Case) handed(p pile) *sample.HeapCallback {
	if c.Heap == nil {
		return nil
	}
	for i := range c.Heap.Callbacks {
		if h := &c.Heap.Callbacks[i]; h.Creator == p.made.Func && heapdiff.OwnerOf(h.Closure.Func, c.module()) == heapdiff.Own {
			return h
		}
	}
	return nil
}

// asksFor is the line of the program's own code that has a module's go statement run, as far as stacks of allocations tell:
// the one below which most was allocated in the function of that statement, else in its package, with enough objects for one of
// each goroutine: what opened the connection that they share did so once. exact reports the first. nil: none was seen, or the
// goroutines are the standard library's, which starts them for whoever calls in.
func (c *Case) asksFor(p pile) (best *sample.Place, exact bool) {
	made := p.made
	if heapdiff.OwnerOf(made.Func, c.module()) != heapdiff.Dependency && !p.pulled() {
		return nil, false
	}
	function, _, _ := strings.Cut(made.Func, ".func")
	most := sample.Bytes(0)
	for i := range c.Allocators {
		a := &c.Allocators[i]
		if !a.Own || a.Function == "main.main" {
			continue
		}
		within, inside := a.passes(function, heapdiff.PackageOf(made.Func))
		within = within && a.Objects >= int64(p.waiting)
		if (within || inside) && (inside && !exact || inside == exact && a.Bytes > most) {
			best, most, exact = &a.Place, a.Bytes, inside
		}
	}
	return best, exact
}

// pulled reports whether iter.Pull started them, one for each sequence that is pulled from: where they wait is in the sequence, and who asked for
// its values has not told it that no more are wanted.
func (p *pile) pulled() bool { return strings.HasPrefix(p.made.Func, "iter.Pull") }

// passes reports whether what a line allocates is allocated in a package, and in a function of it or in a closure of that.
func (a *Allocator) passes(function, pkg string) (within, inside bool) {
	for _, f := range a.Stack {
		if f.Func == a.Function {
			break
		}
		within = within || heapdiff.PackageOf(f.Func) == pkg
		inside = inside || f.Func == function || strings.HasPrefix(f.Func, function+".func")
	}
	return within, inside
}
