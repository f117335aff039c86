package heapgraph

import "github.com/highwater-go/highwater/internal/gomem"

type pathKey struct {
	parent uint32
	label  int32
	typ    gomem.TypeRef
}

// pather gives every reachable object its path: that of its dominator and the field
// by which that leads to it.
type pather struct {
	a     *Analysis
	depth []uint32 // by node
	known map[pathKey]uint32

	shared, joined int32             // labels of what several roots, or fields of one object, lead to
	last           [1 << 10]struct { // what was looked up last, by a hash
		key  pathKey
		path uint32
	}
}

func (p *pather) run() {
	t, o := p.a.tree, p.a.Objects
	p.a.paths = make([]path, 1, 1024)
	p.a.pathOf, p.a.leafPath = table(len(t.Node)), table(o.Leaves)
	p.shared, p.joined = p.label("several places: "), p.label("…")
	p.ofRoots()
	for i := 1; i < len(t.Node); i++ {
		if p.a.pathOf[i] == 0 {
			p.a.pathOf[i] = p.below(t.Dominator[i], t.By[i], t.Node[i])
		}
		p.leaves(uint32(i))
	}
	for leaf, dom := range t.LeafDominator {
		if dom != none && p.a.leafPath[leaf] == 0 {
			p.a.leafPath[leaf] = p.below(dom, none, uint32(o.Count-o.Leaves+leaf))
		}
	}
	p.deep()
	p.sum()
}

// leaves places those that a node dominates and leads to.
func (p *pather) leaves(i uint32) {
	t, o := p.a.tree, p.a.Objects
	inner := uint32(o.Count - o.Leaves)
	for e, end := o.Pointers(t.Node[i]); e < end; e++ {
		if leaf := o.To[e] - inner; leaf < uint32(o.Leaves) && t.LeafDominator[leaf] == i && p.a.leafPath[leaf] == 0 {
			p.a.leafPath[leaf] = p.below(i, e, o.To[e])
		}
	}
}

func (p *pather) label(s string) int32 { return p.a.Objects.Types.NewLabel(s) }

// ofRoots places the roots, and what one of them leads to, but others, too.
func (p *pather) ofRoots() {
	t, o := p.a.tree, p.a.Objects
	for k := range o.Roots {
		node := uint32(o.Count + k)
		name := rootName(&o.Roots[k])
		*p.a.path(node) = p.find(pathKey{0, p.label(name), 0}, node)
		for e, end := o.Pointers(node); e < end; e++ {
			to := o.To[e]
			if at := p.a.path(to); *at == 0 && t.dominator(to) == 0 {
				*at = p.find(pathKey{0, p.label(name + " and others"), o.TypeOf[to]}, to)
			}
		}
	}
}

// path is where the path of a reachable node is noted.
func (a *Analysis) path(node uint32) *uint32 {
	if leaf := node - uint32(a.Objects.Count-a.Objects.Leaves); leaf < uint32(a.Objects.Leaves) {
		return &a.leafPath[leaf]
	}
	return &a.pathOf[a.tree.Number(node)]
}

// below is the path of a node: that of its dominator, and how that leads to it.
func (p *pather) below(dom, by, node uint32) uint32 {
	key := pathKey{p.a.pathOf[dom], p.joined, p.a.Objects.TypeOf[node]}
	if by != none {
		key.label = p.a.Objects.Edge(by)
	} else if dom == 0 {
		key.label = p.shared
	}
	return p.find(key, node)
}

// deep notes how far from a root the objects of each path lie.
func (p *pather) deep() {
	t, o := p.a.tree, p.a.Objects
	for i := 1; i < len(t.Node); i++ {
		if node := t.Node[i]; node < uint32(o.Count) {
			at, d := &p.a.paths[p.a.pathOf[i]], p.depth[node]
			at.nearest, at.longest = min(at.nearest, d), max(at.longest, d)
		}
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

// sum adds up the objects of each path, and what it retains.
func (p *pather) sum() {
	a, t := p.a, p.a.tree
	inner := uint32(a.Objects.Count - a.Objects.Leaves)
	a.Objects.Sizes(func(first, end uint32, size uint64) {
		if first >= inner {
			for _, at := range a.leafPath[first-inner : end-inner] {
				a.paths[at].objects++
				a.paths[at].bytes += size
			}
			return
		}
		for _, i := range t.number[first:end] {
			if i != none {
				at := &a.paths[a.pathOf[i]]
				at.objects++
				at.bytes += size
			}
		}
	})
	a.paths[0] = path{} // what is not reachable
	for i := len(a.paths) - 1; i > 0; i-- {
		at := &a.paths[i]
		a.Live, a.LiveSize = a.Live+at.objects, a.LiveSize+at.bytes
		at.held, at.retains = at.held+at.objects, at.retains+at.bytes
		up := &a.paths[at.parent]
		up.held, up.retains = up.held+at.held, up.retains+at.retains
	}
}

// find is the path that a key stands for. Where a type holds itself, as nodes of
// lists and trees do, the nodes below lie on the path of the first.
func (p *pather) find(key pathKey, node uint32) uint32 {
	hash := (key.parent*0x9e3779b1 ^ uint32(key.label)*0x85ebca6b ^ uint32(key.typ)*0xc2b2ae35) >> 22
	last := &p.last[hash]
	if key == last.key && last.path != 0 {
		return last.path
	}
	at, ok := p.known[key]
	if !ok {
		at = p.enclosing(key)
		if at == 0 {
			at = uint32(len(p.a.paths))
			p.a.paths = append(p.a.paths, path{parent: key.parent, label: key.label, typ: key.typ, sample: node, nearest: none})
		}
		p.known[key] = at
	}
	last.key, last.path = key, at
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
