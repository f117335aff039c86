package heapgraph

import (
	"cmp"
	"context"
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
func (a *Analysis) Chains(ctx context.Context) ([]Chain, error) {
	nearest, farthest, err := a.depths(ctx)
	if err != nil {
		return nil, err
	}
	var all []Chain
	for i := 1; i < len(a.paths); i++ {
		if n := uint64(farthest[i] - min(nearest[i], farthest[i])); n >= minChain {
			all = append(all, Chain{Path: a.Path(uint32(i)), Type: a.Objects.Types.Name(a.paths[i].typ), Length: n + 1})
		}
	}
	slices.SortStableFunc(all, func(x, y Chain) int { return cmp.Compare(y.Length, x.Length) })
	return all, nil
}

// depths is, for each path, how many pointers its objects are away from a root at
// the least and at the most.
func (a *Analysis) depths(ctx context.Context) (nearest, farthest []uint32, err error) {
	t, o := a.tree, a.Objects
	nearest, farthest = make([]uint32, len(a.paths)), make([]uint32, len(a.paths))
	for i := range nearest {
		nearest[i] = none
	}
	seen := make([]uint64, len(t.Node)/64+1)
	queue := make([]uint32, 0, len(t.Node))
	for i := 1; i < len(t.Node); i++ {
		if t.Node[i] >= uint32(o.Count) {
			queue = append(queue, uint32(i))
		}
	}
	for depth, from := uint32(0), 0; from < len(queue); depth++ {
		level := queue[from:]
		from = len(queue)
		for _, i := range level {
			p := a.pathOf[i]
			nearest[p], farthest[p] = min(nearest[p], depth), max(farthest[p], depth)
			node := t.Node[i]
			for _, to := range o.To[o.First[node]:o.First[node+1]] {
				v := t.Number[to]
				if seen[v/64]>>(v%64)&1 == 0 {
					seen[v/64] |= 1 << (v % 64)
					queue = append(queue, v)
				}
			}
		}
		if depth%(1<<12) == 0 && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
	}
	return nearest, farthest, nil
}
