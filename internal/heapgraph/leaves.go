package heapgraph

import (
	"context"
	"math/bits"

	"github.com/highwater-go/highwater/internal/gomem"
)

// leafSearch finds the dominators of leaves: what all that point to one have in
// common, of the first class that does. Of most that is the one that does, which needs
// no tree.
type leafSearch struct {
	d    *dominators
	up   climber
	more bitmap // places of nodes that point to a leaf to which another led first
	of   []Leaf // dominators so far
}

// single gives every leaf to the first node that points to it. It needs the numbers
// alone, and may run while the dominators of nodes are found. The first class, which is
// most of a heap, is taken in the order of addresses, the others behind it.
func (d *dominators) single(ctx context.Context) error {
	t := d.t
	l := &leafSearch{d: d, more: newBitmap(len(t.number)), of: unreached(d.g.Leaves)}
	d.ofLeaves = l
	second := l.secondClass()
	for at, i := range t.number {
		if i < second {
			l.first(uint32(at), i)
		}
		if at%(1<<20) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for i := second; i < uint32(len(t.Node)); i++ {
		l.first(d.g.place(t.Node[i]), i)
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

// first takes the leaves of node i that none had before.
func (l *leafSearch) first(at, i uint32) {
	g := l.d.g
	for e := g.First[at]; e < g.First[at+1]; e++ {
		leaf := g.To[e] - l.d.inner
		switch {
		case leaf >= uint32(len(l.of)):
		case l.of[leaf].Dominator != none:
			l.more.set(at)
		default:
			l.of[leaf] = Leaf{i, g.edge(e)}
		}
	}
}

// leaves takes in what else leads to leaves, once there is a tree.
func (d *dominators) leaves(ctx context.Context) error {
	l, t := d.ofLeaves, d.t
	l.up = climber{dom: t.Dominator}
	second := l.secondClass()
	for w, rest := range l.more {
		for ; rest != 0; rest &= rest - 1 {
			at := uint32(w*64 + bits.TrailingZeros64(rest))
			if i := t.number[at]; i < second {
				l.others(at, i, 0)
			}
		}
		if w%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for i := second; i < uint32(len(t.Node)); i++ {
		if at := d.g.place(t.Node[i]); l.more.has(at) {
			l.others(at, i, d.classOf(i))
		}
	}
	t.Leaves, d.ofLeaves = l.of, nil
	return ctx.Err()
}

// others takes in the pointers of node i, of a class that begins at first.
func (l *leafSearch) others(at, i, first uint32) {
	g := l.d.g
	for e := g.First[at]; e < g.First[at+1]; e++ {
		leaf := g.To[e] - l.d.inner
		if leaf >= uint32(len(l.of)) {
			continue
		}
		switch v := l.of[leaf].Dominator; {
		case v == i && l.of[leaf].By != none: // its first pointer was found before, or leads to others
		case v == i:
			l.of[leaf].By = g.edge(e)
		case v >= first && v != 0:
			l.meet(&l.of[leaf], i, e)
		}
	}
}

// meet takes in one more node that points to a leaf.
func (l *leafSearch) meet(leaf *Leaf, i, e uint32) {
	switch c := l.up.common(leaf.Dominator, i); c {
	case leaf.Dominator:
	case i:
		*leaf = Leaf{i, l.d.g.edge(e)}
	default:
		*leaf = Leaf{c, none}
	}
}

// unreached is leaves that nothing leads to.
func unreached(n int) []Leaf {
	all := gomem.InLargePages(make([]Leaf, n))
	for i := range all {
		all[i] = Leaf{none, none}
	}
	return all
}
