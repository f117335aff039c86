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

// depths is how many pointers each object that has some is away from a root of the
// first class that leads to it: a dead word on a stack makes no chain shorter. It is
// of no meaning where no root leads to the object.
func (g *Graph) depths(ctx context.Context) ([]uint32, error) {
	inner := uint32(g.Objects - g.Leaves)
	depth := table(int(inner))
	now, next := table(int(inner))[:0], table(int(inner))[:0] // only what is used becomes memory
	seen := make([]uint64, inner/64+1)                        // small enough to be near
	from := func(first, end uint32) {
		for _, to := range g.To[first:end] {
			if to < inner && seen[to/64]>>(to%64)&1 == 0 {
				seen[to/64] |= 1 << (to % 64)
				next = append(next, to)
			}
		}
	}
	root := uint32(g.Objects)
	for _, end := range append(slices.Clone(g.Later), uint32(g.nodes())) {
		for ; root < end; root++ {
			from(g.pointers(root))
		}
		for d := uint32(0); len(next) > 0; d++ {
			now, next = next, now[:0]
			for k, node := range now {
				depth[node] = d
				from(g.First[node], g.First[node+1])
				if k%(1<<20) == 0 && ctx.Err() != nil {
					return nil, ctx.Err()
				}
			}
		}
	}
	return depth, nil
}
