package heapgraph

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
)

// Chain is objects that can only be found one after the other, so that the
// collector's marking of them cannot be shared among processors.
type Chain struct {
	Path   string
	Type   string
	Length uint64
}

// minChain is the shortest chain told of: at some 10 ns an object 10,000 are marked
// in 0.1 ms.
const minChain = 10000

// Chains are the long ones, longest first: paths whose objects lie one behind the
// other from the nearest root on.
func (a *Analysis) Chains(context.Context) ([]Chain, error) {
	var all []Chain
	for i := 1; i < len(a.paths); i++ {
		p := &a.paths[i]
		if n := uint64(p.longest - min(p.nearest, p.longest)); n >= minChain {
			all = append(all, Chain{Path: a.Path(uint32(i)), Type: a.Objects.Types.Name(p.typ), Length: n + 1})
		}
	}
	slices.SortStableFunc(all, func(x, y Chain) int { return cmp.Compare(y.Length, x.Length) })
	return all, nil
}

// onTheWay is how many pointers nodes are away from a root by the way on which the
// search came to them. That can be far more than by the shortest: a list may be entered
// at one end, though a map leads to each of its nodes.
func (d *dominators) onTheWay() []uint32 {
	away := table(len(d.parent))
	for i := 1; i < len(away); i++ {
		away[i] = away[d.parent[i]] + 1
	}
	return away
}

// nearer takes in what else leads to node i.
func (d *dominators) nearer(i uint32, from []uint32) {
	for _, v := range from {
		d.away[i] = min(d.away[i], d.away[v]+1)
	}
}

// farthest is what no node is farther away than, once all that leads to each was taken in:
// below what is nearer now others are, too. The tree is still the search's.
func (d *dominators) farthest() (most int) {
	for i := 1; i < len(d.away); i++ {
		d.away[i] = min(d.away[i], d.away[d.t.Dominator[i]]+1)
		most = max(most, int(d.away[i]))
	}
	return most
}

// depths is how many pointers each object that has some is away from a root of the
// first class that leads to it: a dead word on a stack makes no chain shorter. It is
// of no meaning where no root leads to the object.
//
// A level of many objects is taken in the order of their addresses, which memory is
// fast at, from a bitmap; a small one from a list (as Beamer, Asanović and Patterson,
// Direction-Optimizing Breadth-First Search, 2012, keep theirs).
func (g *Graph) depths(ctx context.Context) ([]uint32, error) {
	inner := uint32(g.Objects - g.Leaves)
	depth := table(int(inner))
	now, next := newLevel(inner), newLevel(inner)
	seen := newBitmap(int(inner))
	from := func(first, end uint32) {
		for _, to := range g.To[first:end] {
			if to < inner && !seen.has(to) {
				seen.set(to)
				next.add(to)
			}
		}
	}
	root := uint32(g.Objects)
	for _, end := range append(slices.Clone(g.Later), uint32(g.nodes())) {
		for ; root < end; root++ {
			from(g.pointers(root))
		}
		taken := 0
		for d := uint32(0); next.n > 0; d++ {
			now, next = next, now
			if taken += now.n; taken >= 1<<20 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			now.take(func(node uint32) {
				depth[node] = d
				from(g.First[node], g.First[node+1])
			})
		}
	}
	return depth, nil
}

// level is the objects that are equally far away.
type level struct {
	n    int
	few  []uint32 // all of them, while it has room
	bits bitmap
}

// fewOf is the share of all objects up to which a level is few.
const fewOf = 1024

func newLevel(objects uint32) level {
	return level{few: make([]uint32, objects/fewOf+1), bits: newBitmap(int(objects))}
}

func (l *level) add(node uint32) {
	if l.n < len(l.few) {
		l.few[l.n] = node
	}
	l.bits.set(node)
	l.n++
}

// take empties it.
func (l *level) take(fn func(node uint32)) {
	if l.n <= len(l.few) {
		for _, node := range l.few[:l.n] {
			l.bits[node/64] = 0
			fn(node)
		}
		l.n = 0
		return
	}
	for w, rest := range l.bits {
		for l.bits[w] = 0; rest != 0; rest &= rest - 1 {
			fn(uint32(w*64 + bits.TrailingZeros64(rest)))
		}
	}
	l.n = 0
}
