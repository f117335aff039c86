package heapgraph

import "context"

// leafSearch finds the dominators of leaves: what all that point to one have in
// common, of the first class that does.
type leafSearch struct {
	d    *dominators
	up   climber
	seen bitmap
	of   []uint32 // numbers of dominators so far
	by   []uint32 // the pointer by which that leads there; none: it does not itself
}

// leaves finds the dominators of leaves. The first class, which is most of a heap, is
// taken in the order of addresses, the others behind it.
func (d *dominators) leaves(ctx context.Context) error {
	t, n := d.t, uint32(len(d.t.Node))
	l := leafSearch{d: d, seen: newBitmap(d.g.Leaves), of: nones(d.g.Leaves), by: table(d.g.Leaves)}
	l.up = climber{dom: t.Dominator, depth: d.semi, far: d.label}
	end := n
	if len(d.class) > 0 {
		end = d.class[0]
	}
	for at, i := range t.number {
		if i < end {
			l.pointers(uint32(at), i, 0)
		}
		if at%(1<<20) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for i := max(end, 1); i < n; i++ {
		l.pointers(d.g.place(t.Node[i]), i, d.classOf(i))
	}
	t.LeafDominator, t.LeafBy, d.semi, d.label = l.of, l.by, nil, nil
	return ctx.Err()
}

// pointers takes in those of node i, of a class that begins at first.
func (l *leafSearch) pointers(at, i, first uint32) {
	g := l.d.g
	for e := g.First[at]; e < g.First[at+1]; e++ {
		leaf := g.To[e] - l.d.inner
		if leaf >= uint32(len(l.of)) {
			continue
		}
		if !l.seen.has(leaf) {
			l.seen.set(leaf)
			l.of[leaf], l.by[leaf] = i, e
			continue
		}
		switch v := l.of[leaf]; {
		case v == i: // its first pointer was found before, or leads to others
			l.by[leaf] = min(l.by[leaf], e)
		case v >= first && v != 0:
			l.meet(leaf, i, e)
		}
	}
}

// meet takes in one more node that points to a leaf.
func (l *leafSearch) meet(leaf, i, e uint32) {
	switch c := l.up.common(l.of[leaf], i); c {
	case l.of[leaf]:
	case i:
		l.of[leaf], l.by[leaf] = i, e
	default:
		l.of[leaf], l.by[leaf] = c, none
	}
}
