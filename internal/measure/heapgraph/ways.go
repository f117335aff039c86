package heapgraph

import (
	"cmp"
	"slices"
)

// Step is one object on a way from a root, and what led to it.
type Step struct {
	Label   string // a root's name, then fields
	Address uint64 // 0: a root
	Type    string
	Bytes   uint64
}

// Way is the shortest way from a root to an object; nil if there is none.
func (a *Analysis) Way(object uint32) []Step {
	o := a.Objects
	if a.tree.dominator(object) == none {
		return nil
	}
	from, by := nones(o.Count), table(o.Count) // by object: who led to it first, and by which pointer
	queue := make([]uint32, 0, 1024)
	for k := range o.Roots {
		queue = append(queue, uint32(o.Count+k))
	}
	for k := 0; k < len(queue) && from[object] == none; k++ {
		for e, end := o.Pointers(queue[k]); e < end; e++ {
			if to := o.To[e]; from[to] == none {
				from[to], by[to] = queue[k], e
				queue = append(queue, to)
			}
		}
	}
	var way []Step
	for node := object; ; node = from[node] {
		if node >= uint32(o.Count) {
			way = append(way, Step{Label: rootName(&o.Roots[node-uint32(o.Count)])})
			break
		}
		way = append(way, Step{
			Label: o.Types.Label(o.Edge(by[node])), Address: o.Address(node),
			Type: o.Types.Name(o.TypeOf(node)), Bytes: o.Size(node),
		})
	}
	slices.Reverse(way)
	return way
}

// Use is the objects of one type on one path.
type Use struct {
	Path    string
	Objects uint64
	Bytes   uint64
	Example uint64 // address of one
}

// OfType are the paths on which objects of a type lie, largest first.
func (a *Analysis) OfType(name string) (all []Use) {
	for i := 1; i < len(a.paths); i++ {
		p := &a.paths[i]
		if p.objects > 0 && p.sample < uint32(a.Objects.Count) && a.Objects.Types.Name(p.typ) == name {
			all = append(all, Use{a.Path(uint32(i)), p.objects, p.bytes, a.Objects.Address(p.sample)})
		}
	}
	slices.SortFunc(all, func(x, y Use) int { return cmp.Compare(y.Bytes, x.Bytes) })
	return all
}
