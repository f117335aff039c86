// Package heapgraph says who holds a heap's memory: from the objects and pointers
// that package gomem has read it finds what is reachable, which object keeps how
// much alive, and by which field of which variable or goroutine.
//
// What something retains is what would be garbage without it (its subtree of
// the dominator tree). Objects that are held from several places are retained by
// what these have in common, at last by all roots together, and are counted once.
// What variables lead to is theirs, whichever stack has it in hand too; what stacks
// lead to is not a finalizer's.
package heapgraph

import (
	"context"

	"github.com/highwater-go/highwater/internal/gomem"
)

// Analysis is a heap and who holds it.
type Analysis struct {
	Objects  *gomem.Objects
	Live     uint64 // objects that are reachable
	LiveSize uint64 // bytes of these
	tree     *Tree
	paths    []path
	pathOf   []uint32 // by number
	retained []uint64 // by number; nil: not yet asked for
}

// Analyze finds who holds the objects.
func Analyze(ctx context.Context, o *gomem.Objects) (*Analysis, error) {
	tree, err := Dominators(ctx, &Graph{Objects: o.Count, First: o.First, To: o.To, Later: o.Later})
	if err != nil {
		return nil, err
	}
	a := &Analysis{Objects: o, tree: tree}
	p := pather{a: a, known: make(map[pathKey]uint32)}
	p.run()
	return a, ctx.Err()
}

// path is a way into the heap that objects have in common: of a list of a million
// nodes there is one.
type path struct {
	parent  uint32
	label   int32
	typ     gomem.TypeRef
	objects uint64 // that lie on it
	bytes   uint64
	held    uint64 // objects that it retains
	retains uint64 // bytes
	sample  uint32 // an object that lies on it
}

type pathKey struct {
	parent uint32
	label  int32
	typ    gomem.TypeRef
}

// pather gives every reachable object its path: that of its dominator and the field
// by which that leads to it.
type pather struct {
	a     *Analysis
	known map[pathKey]uint32
	last  pathKey
	path  uint32
}

func (p *pather) run() {
	t, o := p.a.tree, p.a.Objects
	by, first := p.directly(), p.firstRoots()
	p.a.paths = make([]path, 1, 1024)
	p.a.pathOf = make([]uint32, len(t.Node))
	sizes := p.sizes()
	shared, joined := o.Types.NewLabel("several places: "), o.Types.NewLabel("…")
	for i := 1; i < len(t.Node); i++ {
		node, dom := t.Node[i], t.Dominator[i]
		key := pathKey{parent: p.a.pathOf[dom]}
		switch {
		case node >= uint32(o.Count):
			key.label = o.Types.NewLabel(rootName(&o.Roots[node-uint32(o.Count)]))
		case dom == 0 && first[i] != none: // a root's own, but not alone
			key.label, key.typ = o.Types.NewLabel(rootName(&o.Roots[first[i]])+" and others"), o.TypeOf[node]
		case dom == 0:
			key.label, key.typ = shared, o.TypeOf[node]
		case by[i] == none:
			key.label, key.typ = joined, o.TypeOf[node]
		default:
			key.label, key.typ = o.Edge(t.Node[dom], by[i]), o.TypeOf[node]
		}
		at := p.find(key, node)
		p.a.pathOf[i] = at
		if node < uint32(o.Count) {
			p.a.paths[at].objects++
			p.a.paths[at].bytes += uint64(sizes[i])
			p.a.Live++
			p.a.LiveSize += uint64(sizes[i])
		}
	}
	for i := len(p.a.paths) - 1; i > 0; i-- {
		at := &p.a.paths[i]
		at.held, at.retains = at.held+at.objects, at.retains+at.bytes
		up := &p.a.paths[at.parent]
		up.held, up.retains = up.held+at.held, up.retains+at.retains
	}
}

// rootName is the first part of a path. Goroutines that run the same function
// have one in common.
func rootName(r *gomem.Root) string {
	if r.Kind == gomem.RootGoroutine {
		return "goroutine " + r.Name
	}
	return r.Name
}

// directly is, by number, a pointer of a node's dominator that leads to it.
func (p *pather) directly() []uint32 {
	t, o := p.a.tree, p.a.Objects
	by := make([]uint32, len(t.Node))
	for i := range by {
		by[i] = none
	}
	for i := 1; i < len(t.Node); i++ {
		node := t.Node[i]
		for e := o.First[node]; e < o.First[node+1]; e++ {
			if to := t.Number[o.To[e]]; t.Dominator[to] == uint32(i) && by[to] == none {
				by[to] = e
			}
		}
	}
	return by
}

// firstRoots is, by number, the first root that points to a node.
func (p *pather) firstRoots() []uint32 {
	t, o := p.a.tree, p.a.Objects
	first := make([]uint32, len(t.Node))
	for i := range first {
		first[i] = none
	}
	for k := range o.Roots {
		node := o.Count + k
		for _, to := range o.To[o.First[node]:o.First[node+1]] {
			if v := t.Number[to]; first[v] == none {
				first[v] = uint32(k)
			}
		}
	}
	return first
}

// sizes is the objects' bytes, by number.
func (p *pather) sizes() []uint64 {
	t := p.a.tree
	sizes := make([]uint64, len(t.Node))
	p.a.Objects.Sizes(func(first, end uint32, size uint64) {
		for id := first; id < end; id++ {
			if i := t.Number[id]; i != none {
				sizes[i] = size
			}
		}
	})
	return sizes
}

// find is the path that a key stands for. Where a type holds itself, as nodes of
// lists and trees do, the nodes below lie on the path of the first.
func (p *pather) find(key pathKey, node uint32) uint32 {
	if key == p.last && p.path != 0 {
		return p.path
	}
	at, ok := p.known[key]
	if !ok {
		at = p.enclosing(key)
		if at == 0 {
			at = uint32(len(p.a.paths))
			p.a.paths = append(p.a.paths, path{parent: key.parent, label: key.label, typ: key.typ, sample: node})
		}
		p.known[key] = at
	}
	p.last, p.path = key, at
	return at
}

// enclosing is the path above of the same type, 0 if there is none. Of what has no
// type that is the one right above.
func (p *pather) enclosing(key pathKey) uint32 {
	for at := key.parent; at != 0; at = p.a.paths[at].parent {
		up := &p.a.paths[at]
		isRoot := up.sample >= uint32(p.a.Objects.Count)
		if up.typ == key.typ && !isRoot {
			return at
		}
		if key.typ == 0 {
			return 0
		}
	}
	return 0
}
