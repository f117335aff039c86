package explain

import (
	"strings"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// blameStarter blames the program's own line for goroutines that wait in a library: its go statement, or that which has the
// library start them, as far as that is known.
func (c *Case) blameStarter(f *Finding, made sample.Frame) {
	if heapdiff.OwnerOf(made.Func, c.module()) == heapdiff.Own {
		f.Culprit.Place = made.Place()
	} else if asks := c.asksFor(made); asks != nil {
		f.Culprit.Place = *asks
	}
}

// asksFor is the line of the program's own code that has a module's go statement run, as far as stacks of allocations tell:
// the one below which most was allocated in the function of that statement, else in its package. nil: none was seen, or the
// goroutines are the standard library's, which starts them for whoever calls in.
func (c *Case) asksFor(made sample.Frame) *sample.Place {
	if heapdiff.OwnerOf(made.Func, c.module()) != heapdiff.Dependency {
		return nil
	}
	function, _, _ := strings.Cut(made.Func, ".func")
	var best *sample.Place
	most, exact := sample.Bytes(0), false
	for i := range c.Allocators {
		a := &c.Allocators[i]
		if !a.Own || a.Function == "main.main" {
			continue
		}
		within, inside := false, false
		for _, f := range a.Stack {
			if f.Func == a.Function {
				break
			}
			within = within || heapdiff.PackageOf(f.Func) == heapdiff.PackageOf(made.Func)
			inside = inside || f.Func == function || strings.HasPrefix(f.Func, function+".func")
		}
		if within && (inside && !exact || inside == exact && a.Bytes > most) {
			best, most, exact = &a.Place, a.Bytes, inside
		}
	}
	return best
}
