package heapgraph

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/goheap"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// rootKinds are those of the classes of roots, in their order (goheap.Objects.Later); the third are pools.
var rootKinds = []sample.HeapRootKind{sample.RootGlobal, sample.RootGoroutine, sample.RootGlobal, sample.RootTimer, sample.RootSpecial}

// rootKind is the kind of the class that a root is of.
func (a *Analysis) rootKind(root int) sample.HeapRootKind {
	class := 0
	for _, first := range a.Objects.Later {
		if uint32(a.Objects.Count+root) >= first {
			class++
		}
	}
	return rootKinds[min(class, len(rootKinds)-1)]
}

// rootsByName sums up the roots that have a name in common, as the first part of a path.
func (a *Analysis) rootsByName() map[string]*sample.HeapRoot {
	all := make(map[string]*sample.HeapRoot)
	creators := make(map[string]map[string]int)
	newest := uint64(0)
	for k := range a.Objects.Roots {
		r := &a.Objects.Roots[k]
		name := rootName(r)
		sum := all[name]
		if sum == nil {
			sum = &sample.HeapRoot{Kind: a.rootKind(k), Func: r.Name}
			all[name] = sum
		}
		if r.Kind == goheap.RootGoroutine {
			addGoroutine(sum, r)
			newest = max(newest, r.ID)
			if creators[name] == nil {
				creators[name] = make(map[string]int)
			}
			creators[name][r.Creator]++
		}
	}
	for name, sum := range all {
		if sum.Count > 0 {
			sum.Creator, sum.NewID = mostOften(creators[name]), newest
		}
	}
	return all
}

// addGoroutine counts one more goroutine in.
func addGoroutine(sum *sample.HeapRoot, r *goheap.Root) {
	if sum.Count++; sum.First == 0 || r.ID < sum.First {
		sum.First = r.ID
	}
	sum.Last = max(sum.Last, r.ID)
	if r.Waits.OK && r.Waits.V >= sum.Oldest.V {
		sum.Oldest = r.Waits
	}
}

// mostOften is the name that was counted most, of several the first.
func mostOften(count map[string]int) (name string) {
	for s, n := range count {
		if most := count[name]; n > most || n == most && s < name {
			name = s
		}
	}
	return name
}

// sharer is goroutines of a name that lead to an object which others lead to as well, and the frame of theirs in
// which they do.
type sharer struct {
	name  string
	frame int32
}

// note counts, for a path, an object to which a sharer leads.
func (a *Analysis) note(path uint32, s sharer) {
	if a.sharers == nil {
		a.sharers = make(map[uint32]map[sharer]int)
	}
	if a.sharers[path] == nil {
		a.sharers[path] = make(map[sharer]int)
	}
	a.sharers[path][s]++
}

// maxSharers bounds how many of a path are told.
const maxSharers = 8

// sharersOf are those that lead to most of the objects of a path, nil where only one does.
func (n *rootNamer) sharersOf(path uint32) (out []sample.HeapSharer) {
	all := n.a.sharers[path]
	if len(all) < 2 {
		return nil
	}
	most := 0
	for _, count := range all {
		most = max(most, count)
	}
	for _, s := range slices.SortedFunc(maps.Keys(all), func(x, y sharer) int {
		return cmp.Or(cmp.Compare(all[y], all[x]), cmp.Compare(x.name, y.name), cmp.Compare(x.frame, y.frame))
	}) {
		if r := n.byName[s.name]; r != nil && all[s]*2 >= most && len(out) < maxSharers {
			frame, _ := strings.CutPrefix(n.a.Objects.Types.Label(s.frame), " in ")
			out = append(out, sample.HeapSharer{HeapRoot: *r, Frame: frame})
		}
	}
	return out
}

// rootNamer says what paths begin with.
type rootNamer struct {
	a       *Analysis
	byName  map[string]*sample.HeapRoot
	classes []uint32 // the number with which each class of roots but the first begins
}

func (a *Analysis) rootNamer() *rootNamer {
	return &rootNamer{a, a.rootsByName(), a.classes()}
}

// of is what a path without a parent begins with, nil where that is not known. What
// several roots lead to has the kind of the first of them.
func (n *rootNamer) of(at uint32) *sample.HeapRoot {
	p := &n.a.paths[at]
	name, _, _ := strings.Cut(n.a.Objects.Types.Label(p.label), " and others")
	if r := n.byName[name]; r != nil {
		if all := n.sharersOf(at); r.Kind == sample.RootGoroutine && len(all) > 1 {
			shared := *r
			shared.Sharers = all
			return &shared
		}
		return r
	}
	number := n.a.numberOf(p.sample)
	if number == none {
		return nil
	}
	class := 0
	for _, first := range n.classes {
		if number >= first {
			class++
		}
	}
	return &sample.HeapRoot{Kind: rootKinds[min(class, len(rootKinds)-1)]}
}

// numberOf is a node's, or of a leaf that of some node that points to it; none: there is
// none.
func (a *Analysis) numberOf(node uint32) uint32 {
	if i := a.tree.Number(node); i != none {
		return i
	}
	for i := 1; i < len(a.tree.Node); i++ {
		for e, end := a.Objects.Pointers(a.tree.Node[i]); e < end; e++ {
			if a.Objects.To[e] == node {
				return uint32(i)
			}
		}
	}
	return none
}
