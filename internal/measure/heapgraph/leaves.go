package heapgraph

import (
	"context"
	"sync/atomic"

	"github.com/highwater-go/highwater/internal/eyes/goheap"
)

// leafSearch finds the dominators of leaves: what all that point to one have in
// common, of the first class that does. The pointers are put on lists by ranges of
// leaves before, which several threads can take one by one.
type leafSearch struct {
	d    *dominators
	to   ranged[leafPointer]
	next atomic.Int64 // range that nobody has taken
}

// leafPointer leads to a leaf, counted from the first, from a node with a number, by
// what is noted of it.
type leafPointer struct{ leaf, from, by uint32 }

// gather lists the pointers to leaves. It needs the numbers alone, and may run while
// the dominators of nodes are found. The first class, which is most of a heap, is taken in
// the order of addresses, the others behind it.
func (d *dominators) gather(ctx context.Context) error {
	t := d.t
	l := &leafSearch{d: d, to: newRanged[leafPointer](d.g.Leaves)}
	d.ofLeaves, t.Leaves = l, goheap.InLargePages(make([]Leaf, d.g.Leaves))
	second := l.secondClass()
	for at, i := range t.number {
		if i < second {
			l.list(uint32(at), i)
		}
		if at%(1<<20) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for i := second; i < uint32(len(t.Node)); i++ {
		l.list(d.g.place(t.Node[i]), i)
	}
	return ctx.Err()
}

// secondClass is the number at which it begins.
func (l *leafSearch) secondClass() uint32 {
	if len(l.d.class) > 0 {
		return l.d.class[0]
	}
	return uint32(len(l.d.t.Node))
}

// list lists the pointers of node i to leaves.
func (l *leafSearch) list(at, i uint32) {
	g := l.d.g
	for e := g.First[at]; e < g.First[at+1]; e++ {
		if leaf := g.To[e] - l.d.inner; leaf < uint32(g.Leaves) {
			l.to.add(leaf, leafPointer{leaf, i, g.edge(e)})
		}
	}
}

// leaves finds the dominators of leaves, range by range, once their pointers are listed
// and there is a tree. Several may call it at once; all are found when each has returned.
func (d *dominators) leaves(ctx context.Context) error {
	l := d.ofLeaves
	for ctx.Err() == nil {
		k := int(l.next.Add(1)) - 1
		if k >= len(l.to.last) {
			break
		}
		l.dominate(k)
	}
	return ctx.Err()
}

// dominate finds the dominators of the leaves of a range.
func (l *leafSearch) dominate(k int) {
	all := l.d.t.Leaves
	all = all[k*rangeLen : min((k+1)*rangeLen, len(all))]
	for i := range all {
		all[i] = Leaf{none, none}
	}
	second := l.secondClass()
	for _, block := range l.to.take(k) {
		for _, p := range block {
			leaf := &all[p.leaf%rangeLen]
			switch v := leaf.Dominator; {
			case v == none:
				*leaf = Leaf{p.from, p.by}
			case v == p.from && leaf.By != none: // its first pointer was found before
			case v == p.from:
				leaf.By = p.by
			case v == 0 || p.from >= second && v < l.d.classOf(p.from): // nothing can change that
			default:
				l.meet(leaf, p)
			}
		}
	}
}

// meet takes in one more node that points to a leaf.
func (l *leafSearch) meet(leaf *Leaf, p leafPointer) {
	switch c := l.d.up.common(leaf.Dominator, p.from); c {
	case leaf.Dominator:
	case p.from:
		*leaf = Leaf{p.from, p.by}
	default:
		*leaf = Leaf{c, none}
	}
}
