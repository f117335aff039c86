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

// depths is how many pointers each object that has some is away from a root; none
// where no root leads to it.
func (g *Graph) depths(ctx context.Context) ([]uint32, error) {
	inner := uint32(g.Objects - g.Leaves)
	depth := table(int(inner))
	for i := range depth {
		depth[i] = none
	}
	queue := table(int(inner))[:0]
	from := func(node, d uint32) {
		for e, end := g.pointers(node); e < end; e++ {
			if to := g.To[e]; to < inner && depth[to] == none {
				depth[to] = d
				queue = append(queue, to)
			}
		}
	}
	for root := g.Objects; root < g.nodes(); root++ {
		from(uint32(root), 0)
	}
	for k := 0; k < len(queue); k++ {
		from(queue[k], depth[queue[k]]+1)
		if k%(1<<20) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return depth, nil
}
