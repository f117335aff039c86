package heapgraph

import (
	"cmp"
	"slices"
)

// nodesByFrame says of what framed roots dominate and point to, leaves apart, by which frame it is reached that returns
// last: a call that has a table in hand is not what keeps it, where its caller's caller does. The search went through what
// the frames point to in that order, so that it is the one in whose part of the search an object was found. Objects are
// told by their nodes, the labels are those of pointers.
func (p *pather) nodesByFrame() map[uint32]int32 {
	t, o := p.a.tree, p.a.Objects
	out := make(map[uint32]int32)
	for _, root := range o.Framed {
		number := t.Number(root)
		for e, end := o.Pointers(root); e < end; e++ {
			node := o.To[e]
			if node >= p.inner || t.dominator(node) != number {
				continue
			}
			k, found := slices.BinarySearchFunc(t.starts, t.Number(node), func(s start, n uint32) int { return cmp.Compare(s.number, n) })
			if !found {
				k--
			}
			if k >= 0 && t.starts[k].number > number {
				out[node] = o.Edge(t.starts[k].by)
			}
		}
	}
	return out
}

// largeLeaf is the share of the heap from which on a leaf that a frame points to is looked for behind the frames
// that return later.
const largeLeaf = 20

// leavesByFrame says the same of leaves. The search does not number them, so that all is looked through that was found
// from a root: only of roots that point to a large one.
func (p *pather) leavesByFrame() map[uint32]int32 {
	t, o := p.a.tree, p.a.Objects
	out := make(map[uint32]int32)
	for _, root := range o.Framed {
		number := t.Number(root)
		if !p.pointsToLargeLeaf(root, number) {
			continue
		}
		last := uint32(len(t.Node)) // behind what was reached from this root first
		if int(root)+1 < o.Count+len(o.Roots) {
			last = t.Number(root + 1)
		}
		k, _ := slices.BinarySearchFunc(t.starts, number, func(s start, n uint32) int { return cmp.Compare(s.number, n) })
		note := func(node, by uint32) {
			if node < p.inner || node >= uint32(o.Count) || t.dominator(node) != number {
				return
			}
			if _, known := out[node]; !known {
				out[node] = o.Edge(by)
			}
		}
		for e, end := o.Pointers(root); e < end; e++ {
			note(o.To[e], e)
			if k == len(t.starts) || t.starts[k].by != e {
				continue
			}
			next := last
			if k++; k < len(t.starts) {
				next = min(next, t.starts[k].number)
			}
			for i := t.starts[k-1].number; i < next; i++ {
				for inner, end := o.Pointers(t.Node[i]); inner < end; inner++ {
					note(o.To[inner], e)
				}
			}
		}
	}
	return out
}

// pointsToLargeLeaf reports whether a root points to a leaf of a large part of the heap, which nothing but it keeps.
func (p *pather) pointsToLargeLeaf(root, number uint32) bool {
	t, o := p.a.tree, p.a.Objects
	for e, end := o.Pointers(root); e < end; e++ {
		if node := o.To[e]; node >= p.inner && node < uint32(o.Count) && t.dominator(node) == number && o.Size(node)*largeLeaf >= o.Bytes {
			return true
		}
	}
	return false
}
