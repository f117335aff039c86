package heapgraph

import (
	"cmp"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/goheap"
	"github.com/highwater-go/highwater/internal/words/sample"
)

const (
	// callbackSteps is how many pointers away from a stack closures are looked for, and callbackObjects how many
	// objects of a goroutine are looked at for it.
	callbackSteps, callbackObjects = 3, 256
	// mostAsked bounds the goroutines of a function that are looked at, and fewestAsked is how many there have to be.
	mostAsked, fewestAsked = 64, 8
	// mostCallbacks bounds how many a capture has.
	mostCallbacks = 16
)

// callbacks finds what the program handed to libraries for their goroutines to call: a closure near to the stack of each,
// whose function is the program's, and that no other of them leads to. What they share, as the options of a connection, is
// no reason why there are many.
func (a *Analysis) callbacks() (out []sample.HeapCallback) {
	names := a.rootsByName()
	for name, roots := range a.borrowed() {
		if names[name] == nil || len(roots) < fewestAsked {
			continue
		}
		asked := roots[:min(len(roots), mostAsked)]
		leads := make(map[uint32]int) // by closure, how many of the goroutines
		for _, root := range asked {
			for _, id := range a.closuresNear(root) {
				leads[id]++
			}
		}
		alone := make(map[goheap.TypeRef]int)
		for id, n := range leads {
			if n == 1 {
				alone[a.Objects.TypeOf(id)]++
			}
		}
		best, most := goheap.TypeRef(0), 0
		for typ, n := range alone {
			if n > most || n == most && typ < best {
				best, most = typ, n
			}
		}
		if at, ok := a.Objects.Types.Closure(best); ok && most*2 >= len(asked) {
			r := names[name]
			out = append(out, sample.HeapCallback{Func: r.Func, Creator: r.Creator, Count: len(roots), Closure: at})
		}
	}
	slices.SortFunc(out, func(x, y sample.HeapCallback) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Func, y.Func))
	})
	return out[:min(len(out), mostCallbacks)]
}

// borrowed are the nodes of goroutines that run a function of a module of others, by name.
func (a *Analysis) borrowed() map[string][]uint32 {
	out := make(map[string][]uint32)
	for k := range a.Objects.Roots {
		r := &a.Objects.Roots[k]
		if r.Kind == goheap.RootGoroutine && a.Objects.Types.OwnerOf(r.Name) == goheap.PackageDependency {
			name := rootName(r)
			out[name] = append(out[name], uint32(a.Objects.Count+k))
		}
	}
	return out
}

// closuresNear are the closures of the program's own functions that are a few pointers away from a root.
func (a *Analysis) closuresNear(root uint32) (found []uint32) {
	o := a.Objects
	seen := map[uint32]bool{root: true}
	level := []uint32{root}
	for range callbackSteps {
		var next []uint32
		for _, from := range level {
			for e, end := o.Pointers(from); e < end && len(seen) < callbackObjects; e++ {
				id := o.To[e]
				if id >= uint32(o.Count) || seen[id] {
					continue
				}
				seen[id] = true
				if typ := o.TypeOf(id); o.Types.PartOf(typ) == goheap.PartClosure && a.ownFunction(typ) != "" {
					found = append(found, id)
				}
				next = append(next, id)
			}
		}
		level = next
	}
	return found
}
