package heapgraph

import (
	"cmp"
	"slices"
)

// byFrame says of what framed roots dominate, and some object leads to besides a frame, by which frame it is
// reached that returns last: a call that has a table in hand is not what keeps it, where its caller's caller does. Objects
// are told by their nodes, the labels are those of pointers. from and to bound the nodes that are asked for.
func (p *pather) byFrame(from, to uint32) map[uint32]int32 {
	t, o := p.a.tree, p.a.Objects
	out := make(map[uint32]int32)
	for _, root := range o.Framed {
		number := t.Number(root)
		last := uint32(len(t.Node)) // behind what was reached from this root first
		if int(root)+1 < o.Count+len(o.Roots) {
			last = t.Number(root + 1)
		}
		k, _ := slices.BinarySearchFunc(t.starts, number, func(s start, n uint32) int { return cmp.Compare(s.number, n) })
		note := func(node, by uint32) {
			if node < from || node >= to || t.dominator(node) != number {
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
				note(t.Node[i], e)
				for inner, end := o.Pointers(t.Node[i]); inner < end; inner++ {
					note(o.To[inner], e)
				}
			}
		}
	}
	return out
}
