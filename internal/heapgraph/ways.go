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
	t, o := a.tree, a.Objects
	if t.Number[object] == none {
		return nil
	}
	from := make([]uint32, len(t.Node)) // by number: who led to it first, and by which pointer
	by := make([]uint32, len(t.Node))
	var queue []uint32
	for i := 1; i < len(t.Node); i++ {
		if t.Node[i] >= uint32(o.Count) {
			queue = append(queue, uint32(i))
		}
	}
	for k := 0; k < len(queue) && from[t.Number[object]] == 0; k++ {
		node := t.Node[queue[k]]
		for e := o.First[node]; e < o.First[node+1]; e++ {
			if v := t.Number[o.To[e]]; from[v] == 0 {
				from[v], by[v] = queue[k], e
				queue = append(queue, v)
			}
		}
	}
	var way []Step
	for i := t.Number[object]; ; i = from[i] {
		node := t.Node[i]
		if node >= uint32(o.Count) {
			way = append(way, Step{Label: rootName(&o.Roots[node-uint32(o.Count)])})
			break
		}
		way = append(way, Step{
			Label: o.Types.Label(o.Edge(t.Node[from[i]], by[i])), Address: o.Address(node),
			Type: o.Types.Name(o.TypeOf[node]), Bytes: o.Size(node),
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
