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
	last  [1 << 10]struct { // what was looked up last, by a hash
		key  pathKey
		path uint32
	}
}

func (p *pather) run() {
	t := p.a.tree
	p.a.paths = make([]path, 1, 1024)
	p.a.pathOf = table(len(t.Node))
	p.shared()
	for i := 1; i < t.Inner; i++ {
		p.place(i)
		p.below(i)
	}
	for i := t.Inner; i < len(t.Node); i++ {
		p.place(i)
	}
	p.sum()
}

// shared places what a root leads to, but others, too.
func (p *pather) shared() {
	t, o := p.a.tree, p.a.Objects
	for k := range o.Roots {
		node, label := o.Count+k, int32(-1)
		for _, to := range o.To[o.First[node]:o.First[node+1]] {
			v := t.Number[to]
			if t.Dominator[v] != 0 || p.a.pathOf[v] != 0 {
				continue
			}
			if label < 0 {
				label = o.Types.NewLabel(rootName(&o.Roots[k]) + " and others")
			}
			p.a.pathOf[v] = p.find(pathKey{0, label, o.TypeOf[to]}, to)
		}
	}
}

// place gives a node a path that its dominator does not lead to itself.
func (p *pather) place(i int) {
	if p.a.pathOf[i] != 0 {
		return
	}
	t, o := p.a.tree, p.a.Objects
	node, dom := t.Node[i], t.Dominator[i]
	key := pathKey{parent: p.a.pathOf[dom]}
	switch {
	case node >= uint32(o.Count):
		key.label = o.Types.NewLabel(rootName(&o.Roots[node-uint32(o.Count)]))
	case dom == 0:
		key.label, key.typ = o.Types.NewLabel("several places: "), o.TypeOf[node]
	default:
		key.label, key.typ = o.Types.NewLabel("…"), o.TypeOf[node]
	}
	p.a.pathOf[i] = p.find(key, node)
}

// below places what a node leads to and dominates, and notes how deep it lies.
func (p *pather) below(i int) {
	t, o := p.a.tree, p.a.Objects
	node, at := t.Node[i], p.a.pathOf[i]
	if d := p.depth[node]; node < uint32(o.Count) {
		up := &p.a.paths[at]
		up.nearest, up.longest = min(up.nearest, d), max(up.longest, d)
	}
	for e := o.First[node]; e < o.First[node+1]; e++ {
		to := o.To[e]
		v := t.Number[to]
		if t.Dominator[v] == uint32(i) && p.a.pathOf[v] == 0 {
			p.a.pathOf[v] = p.find(pathKey{at, o.Edge(node, e), o.TypeOf[to]}, to)
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
	a.Objects.Sizes(func(first, end uint32, size uint64) {
		for _, i := range t.Number[first:end] {
			if i != none {
				at := &a.paths[a.pathOf[i]]
				at.objects++
				at.bytes += size
			}
		}
	})
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
