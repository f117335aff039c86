package heapgraph

import (
	"context"
	"errors"
)

// Graph is nodes and what each points to: node i to To[First[i]:First[i+1]]. The
// nodes from Objects on are roots, which nothing points to.
//
// Roots of a later class, which begin at the nodes of Later, do not count for what
// an earlier class leads to: what a variable holds is the variable's, though some
// stack, on which dead words lie too, has it in hand at the moment.
type Graph struct {
	Objects int
	First   []uint32
	To      []uint32
	Later   []uint32
}

// none is no node.
const none = ^uint32(0)

// Tree is the dominator tree of a graph: a node's dominator is the nearest one
// through which every way from the roots leads, so that the node would be garbage
// without it. Nodes are numbered anew, in an order in which a dominator comes before
// what it dominates; 0 stands for all roots together.
type Tree struct {
	Node      []uint32 // of the graph; Node[0] is none
	Number    []uint32 // of each node of the graph; none: it is not reachable
	Dominator []uint32 // by number; of 0 it is 0
}

// ErrGraph says that a graph is none.
var ErrGraph = errors.New("a pointer leads to no node")

// Dominators finds the dominator of every reachable node: the algorithm of Georgiadis
// and Tarjan (Finding Dominators in Practice, 2006, SEMI-NCA), which takes time
// in proportion to the pointers for heaps as they are.
func Dominators(ctx context.Context, g *Graph) (*Tree, error) {
	n := len(g.First) - 1
	d := dominators{g: g, t: &Tree{Number: make([]uint32, n)}}
	if err := d.search(ctx, n); err != nil {
		return nil, err
	}
	d.reverse()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	d.semidominators()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	d.nearest()
	d.t.Dominator = d.dom
	return d.t, nil
}

type dominators struct {
	g      *Graph
	t      *Tree
	parent []uint32 // in the search, by number; compressed on the way
	semi   []uint32
	label  []uint32
	dom    []uint32
	from   []uint32 // predecessors, by number: from[start[i]:start[i+1]]
	start  []uint32
	class  []uint32 // the number at which each class begins
}

// search numbers what is reachable, depth first.
func (d *dominators) search(ctx context.Context, n int) error {
	g, t := d.g, d.t
	for i := range t.Number {
		t.Number[i] = none
	}
	t.Node = append(make([]uint32, 0, n+1), none)
	d.parent = append(make([]uint32, 0, n+1), 0)
	next := make([]uint32, 0, 1024) // of each node on the way, its next pointer
	var way []uint32                // numbers
	visit := func(node, parent uint32) {
		t.Number[node] = uint32(len(t.Node))
		t.Node, d.parent = append(t.Node, node), append(d.parent, parent)
		way, next = append(way, t.Number[node]), append(next, g.First[node])
	}
	for root := g.Objects; root < n; root++ {
		if t.Number[root] != none {
			return ErrGraph
		}
		if k := len(d.class); k < len(g.Later) && uint32(root) >= g.Later[k] {
			d.class = append(d.class, uint32(len(t.Node)))
		}
		visit(uint32(root), 0)
		for steps := 0; len(way) > 0; steps++ {
			top := len(way) - 1
			e := next[top]
			if e == g.First[t.Node[way[top]]+1] {
				way, next = way[:top], next[:top]
				continue
			}
			next[top]++
			to := g.To[e]
			if to >= uint32(g.Objects) {
				return ErrGraph
			}
			if t.Number[to] == none {
				visit(to, way[top])
			}
			if steps%(1<<20) == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return nil
}

// reverse lists who points to each node, later classes to earlier ones left out.
func (d *dominators) reverse() {
	t := d.t
	d.start = make([]uint32, len(t.Node)+1)
	d.pointers(func(_, to uint32) { d.start[to+1]++ })
	for i := range t.Node {
		d.start[i+1] += d.start[i]
	}
	d.from = make([]uint32, d.start[len(t.Node)])
	fill := make([]uint32, len(t.Node))
	copy(fill, d.start)
	d.pointers(func(from, to uint32) {
		d.from[fill[to]] = from
		fill[to]++
	})
}

// pointers passes the pointers that count to fn, by numbers.
func (d *dominators) pointers(fn func(from, to uint32)) {
	g, t := d.g, d.t
	first, next := uint32(0), 0
	for i := uint32(1); i < uint32(len(t.Node)); i++ {
		for next < len(d.class) && i >= d.class[next] {
			first, next = d.class[next], next+1
		}
		node := t.Node[i]
		for _, to := range g.To[g.First[node]:g.First[node+1]] {
			if v := t.Number[to]; v >= first {
				fn(i, v)
			}
		}
	}
}

// semidominators goes backwards through the numbers and joins each node to its
// parent in the forest that label and parent hold.
func (d *dominators) semidominators() {
	n := uint32(len(d.t.Node))
	d.dom = make([]uint32, n)
	copy(d.dom, d.parent) // nearest needs the parents, which are compressed here
	d.semi, d.label = make([]uint32, n), make([]uint32, n)
	for i := range d.label {
		d.label[i], d.semi[i] = uint32(i), uint32(i)
	}
	var way []uint32
	for i := n - 1; i > 0; i-- {
		best := d.dom[i]
		for _, v := range d.from[d.start[i]:d.start[i+1]] {
			if v > i {
				way = d.compress(v, i, way[:0])
				v = d.semi[d.label[v]]
			}
			best = min(best, v)
		}
		d.semi[i] = best
	}
}

// compress shortens the way from v up to what is not joined yet, numbers up to last,
// and leaves in label[v] the node of it with the least semidominator.
func (d *dominators) compress(v, last uint32, way []uint32) []uint32 {
	for d.parent[v] > last {
		way = append(way, v)
		v = d.parent[v]
	}
	for k := len(way) - 1; k >= 0; k-- {
		w := way[k]
		up := d.parent[w]
		if d.semi[d.label[up]] < d.semi[d.label[w]] {
			d.label[w] = d.label[up]
		}
		d.parent[w] = d.parent[up]
	}
	return way
}

// nearest turns parents into dominators: the first one above a node that is not
// below its semidominator.
func (d *dominators) nearest() {
	for i := 1; i < len(d.dom); i++ {
		v := d.dom[i]
		for v > d.semi[i] {
			v = d.dom[v]
		}
		d.dom[i] = v
	}
}

// Retained sums what each node keeps alive, itself included. sizes is by node of
// the graph.
func (t *Tree) Retained(size func(node uint32) uint64) []uint64 {
	sum := make([]uint64, len(t.Node))
	for i := len(t.Node) - 1; i > 0; i-- {
		sum[i] += size(t.Node[i])
		sum[t.Dominator[i]] += sum[i]
	}
	return sum
}
