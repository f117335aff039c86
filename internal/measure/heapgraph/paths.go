package heapgraph

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/goheap"
)

type pathKey struct {
	parent uint32
	label  int32
	typ    goheap.TypeRef
}

// pather gives every reachable object its path: that of its dominator and the field
// by which that leads to it.
type pather struct {
	a      *Analysis
	depth  []uint32 // by node; nil: nothing is far from a root
	inner  uint32   // objects from here on are leaves
	paths  trie     // of nodes but leaves
	ends   trie     // of leaves
	counts []path   // of the objects but leaves that lie on those paths

	shared, joined int32 // labels of what several roots, or fields of one object, lead to
}

func newPather(a *Analysis) *pather {
	return &pather{a: a, inner: uint32(a.Objects.Count - a.Objects.Leaves)}
}

// nodes places all nodes but leaves, a dominator before what it dominates.
func (p *pather) nodes(ctx context.Context) error {
	a, t := p.a, p.a.tree
	p.paths = newTrie(0)
	p.paths.own = make([]path, 1, 1024)
	p.paths.above = p.paths.own
	a.pathOf = table(len(t.Node))
	p.shared, p.joined = p.label("several places: "), p.label(joinedLabel)
	p.ofRoots()
	p.belowRoots(0, p.inner)
	frames := p.nodesByFrame()
	for i := 1; i < len(t.Node); i++ {
		if id := t.Node[i]; a.pathOf[i] == 0 && id >= uint32(a.Objects.Count) {
			p.poolOf(id)
		} else if a.pathOf[i] == 0 {
			edge := int32(0)
			if t.By[i] != none {
				edge = a.Objects.Edge(t.By[i])
				if frame, ok := frames[t.Node[i]]; ok {
					edge = frame
				}
			}
			a.pathOf[i] = p.below(&p.paths, t.Dominator[i], edge, t.By[i] != none, t.Node[i])
		}
		if i%(1<<20) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	t.By = nil
	return nil
}

// leaves places the leaves once all nodes are.
func (p *pather) leaves(ctx context.Context) error {
	a, t := p.a, p.a.tree
	a.leafPath = table(a.Objects.Leaves)
	p.belowRoots(p.inner, uint32(a.Objects.Count))
	p.ends = newTrie(ofLeaf)
	p.ends.above = p.paths.own
	first := uint32(len(p.ends.above)) // of the paths of leaves among all
	size := a.Objects.SizeOf()
	frames := p.leavesByFrame()
	for leaf := range t.Leaves {
		dom, by := t.Leaves[leaf].Dominator, t.Leaves[leaf].By
		if dom == none {
			continue
		}
		if frame, ok := frames[p.inner+uint32(leaf)]; ok && by != none {
			by = uint32(frame)
		}
		at := a.leafPath[leaf]
		if at == 0 {
			at = p.below(&p.ends, dom, int32(by), by != none, p.inner+uint32(leaf))
		}
		on := p.ends.above
		if at&ofLeaf != 0 {
			on, at = p.ends.own, at&^ofLeaf
			a.leafPath[leaf] = at + first
		} else {
			a.leafPath[leaf] = at
		}
		on[at].objects += a.Objects.Stands(p.inner + uint32(leaf))
		n := size(p.inner + uint32(leaf))
		on[at].bytes += n
		if a.Objects.Young(p.inner + uint32(leaf)) {
			on[at].young += n
		}
		if leaf%(1<<20) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	a.paths = append(p.paths.own, p.ends.own...)
	return nil
}

func (p *pather) label(s string) int32 { return p.a.Objects.Types.NewLabel(s) }

// joinedLabel is of what several fields of one object lead to.
const joinedLabel = "…"

// ofRoots places the roots.
func (p *pather) ofRoots() {
	o := p.a.Objects
	for k := range o.Roots {
		node := uint32(o.Count + k)
		if o.Roots[k].Pool != nil {
			continue // see poolOf
		}
		*p.a.path(node) = p.find(&p.paths, pathKey{0, p.label(rootName(&o.Roots[k])), 0}, node)
	}
}

// poolOf places a pool that is a part of an object, and what it has, below that object, if anything but the lists of pools
// leads there.
func (p *pather) poolOf(root uint32) {
	a, o, t := p.a, p.a.Objects, p.a.tree
	r, number := &o.Roots[root-uint32(o.Count)], t.Number(root)
	at := &a.pathOf[number]
	if owner := t.Number(r.Pool.Object); owner < number {
		*at, t.Dominator[number] = a.pathOf[owner], owner
	} else {
		*at = p.find(&p.paths, pathKey{0, p.label(rootName(r)), 0}, root)
	}
	first, end := o.Pointers(root)
	for e := first; e < end; e++ {
		if node := o.To[e]; node < p.inner && t.dominator(node) == number {
			*a.path(node) = p.below(&p.paths, number, cmp.Or(o.PoolLabel(r.Pool, int(e-first)), o.Edge(e)), true, node)
		}
	}
}

// belowRoots places those of some objects that a root leads to, but others, too. Of
// goroutines that is the function that more of them run than any other: which of them is
// the first changes as they come and go.
func (p *pather) belowRoots(from, to uint32) {
	t, o := p.a.tree, p.a.Objects
	held := make(map[heldBy]heldIn)
	for k := range o.Roots {
		root := &o.Roots[k]
		if root.Kind != goheap.RootGoroutine {
			p.belowMost(held)
		}
		name := rootName(root)
		for e, end := o.Pointers(uint32(o.Count + k)); e < end; e++ {
			switch node := o.To[e]; {
			case node < from || node >= to || t.dominator(node) != 0:
			case root.Kind == goheap.RootGoroutine:
				h := heldBy{node, name}
				in, ok := held[h]
				if !ok {
					in.frame = o.Edge(e)
				}
				in.count++
				held[h] = in
			default:
				p.belowRoot(name, node)
			}
		}
	}
	p.belowMost(held)
}

// belowRoot places an object that has no place yet.
func (p *pather) belowRoot(name string, node uint32) {
	if at := p.a.path(node); *at == 0 {
		typ := p.a.Objects.TypeOf(node)
		*at = p.find(&p.paths, pathKey{0, p.label(name + andOthers(typ)), typ}, node)
	}
}

// heldBy is an object to which goroutines of a name lead.
type heldBy struct {
	node uint32
	name string
}

// heldIn is how many of them do, and in which frame the first of them has it: a label, 0 if that is not known.
type heldIn struct {
	count int
	frame int32
}

// belowMost places objects, each below the name of most, and empties the list. All names are noted on its path.
func (p *pather) belowMost(held map[heldBy]heldIn) {
	for _, h := range inOrder(held) {
		p.belowRoot(h.name, h.node)
		p.a.note(*p.a.path(h.node), sharer{h.name, held[h].frame})
	}
	clear(held)
}

// inOrder is an object's most frequent name first.
func inOrder(held map[heldBy]heldIn) []heldBy {
	return slices.SortedFunc(maps.Keys(held), func(x, y heldBy) int {
		return cmp.Or(cmp.Compare(x.node, y.node), cmp.Compare(held[y].count, held[x].count), cmp.Compare(x.name, y.name))
	})
}

// andOthers says behind the name of a root that other ways lead there, too; of what has
// a type that follows, as what several hold is known by that.
func andOthers(typ goheap.TypeRef) string {
	if typ == 0 {
		return " and others"
	}
	return " and others: "
}

// path is where the path of a reachable node is noted.
func (a *Analysis) path(node uint32) *uint32 {
	if leaf := node - uint32(a.Objects.Count-a.Objects.Leaves); leaf < uint32(a.Objects.Leaves) {
		return &a.leafPath[leaf]
	}
	return &a.pathOf[a.tree.Number(node)]
}

// below is the path of a node: that of its dominator, and how that leads to it if it
// does so itself.
func (p *pather) below(in *trie, dom uint32, edge int32, direct bool, node uint32) uint32 {
	key := pathKey{p.a.pathOf[dom], edge, p.a.Objects.TypeOf(node)}
	switch {
	case direct:
	case dom == 0:
		key.label = p.shared
	default:
		key.label = p.joined
	}
	return p.find(in, key, node)
}

// rootName is the first part of a path. Goroutines that run the same function
// have one in common.
func rootName(r *goheap.Root) string {
	if r.Kind == goheap.RootGoroutine {
		return "goroutine " + r.Name
	}
	return r.Name
}

// count notes on their paths the objects but leaves, apart from what leaves note there
// meanwhile.
func (p *pather) count(ctx context.Context) error {
	a, t := p.a, p.a.tree
	for i := range p.counts {
		p.counts[i].nearest = none
	}
	a.Objects.Sizes(func(first, end uint32, size uint64) {
		for ; first < min(end, p.inner); first++ {
			i := t.number[first]
			if i == none {
				continue
			}
			at := &p.counts[a.pathOf[i]]
			size := a.Objects.BytesOf(first, size)
			at.objects += a.Objects.Stands(first)
			at.bytes += size
			if a.Objects.Young(first) {
				at.young += size
			}
			if a.Objects.Carried(first) {
				at.carried += size
			}
			if p.depth != nil {
				d := p.depth[first]
				at.nearest, at.longest = min(at.nearest, d), max(at.longest, d)
			}
		}
	})
	return ctx.Err()
}

// sum adds up the objects of each path, and what it retains.
func (p *pather) sum() {
	a := p.a
	for i := range p.counts {
		a.paths[i].join(&p.counts[i])
	}
	size := a.Objects.SizeOf()
	a.Objects.EachCarried(p.inner, func(leaf uint32) {
		if at := a.leafPath[leaf-p.inner]; at != 0 {
			a.paths[at].carried += size(leaf)
		}
	})
	for i := len(a.paths) - 1; i > 0; i-- {
		at := &a.paths[i]
		a.Live, a.LiveSize = a.Live+at.objects, a.LiveSize+at.bytes
		at.held, at.retains = at.held+at.objects, at.retains+at.bytes
		up := &a.paths[at.parent]
		up.held, up.retains, up.young = up.held+at.held, up.retains+at.retains, up.young+at.young
	}
}

// join adds what was counted apart.
func (at *path) join(other *path) {
	at.objects, at.bytes = at.objects+other.objects, at.bytes+other.bytes
	at.young, at.carried = at.young+other.young, at.carried+other.carried
	at.nearest, at.longest = min(at.nearest, other.nearest), max(at.longest, other.longest)
}

// trie is paths by what they consist of. They are told by numbers: of leaves' paths,
// which nothing lies below, with ofLeaf.
type trie struct {
	own   []path
	above []path // those that may be parents
	known map[pathKey]uint32
	flag  uint32
	last  []lookup // what was looked up last, by a hash
}

type lookup struct {
	key pathKey
	at  uint32 // 0: nothing yet
}

const (
	ofLeaf      = 1 << 31
	lookupsKept = 1 << 10
)

func newTrie(flag uint32) trie {
	return trie{known: make(map[pathKey]uint32), flag: flag, last: make([]lookup, lookupsKept)}
}

// find is the path that a key stands for. Where a type holds itself, as nodes of
// lists and trees do, the nodes below lie on the path of the first.
func (p *pather) find(in *trie, key pathKey, node uint32) uint32 {
	hash := (key.parent*0x9e3779b1 ^ uint32(key.label)*0x85ebca6b ^ uint32(key.typ)*0xc2b2ae35) >> 22
	last := &in.last[hash]
	if key == last.key && last.at != 0 {
		return last.at
	}
	at, ok := in.known[key]
	if !ok {
		if at = p.enclosing(in.above, key); at != 0 {
			for up := key.parent; up != at; up = in.above[up].parent {
				in.above[up].spills = true
			}
		} else {
			at = uint32(len(in.own)) | in.flag
			in.own = append(in.own, path{parent: key.parent, label: key.label, typ: key.typ, sample: node, nearest: none})
			if in.flag == 0 {
				in.above = in.own
			}
		}
		in.known[key] = at
	}
	last.key, last.at = key, at
	return at
}

// enclosing is the path above of the same type, 0 if there is none. Of what has no
// type that is the one right above.
func (p *pather) enclosing(paths []path, key pathKey) uint32 {
	for at := key.parent; at != 0; at = paths[at].parent {
		up := &paths[at]
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
