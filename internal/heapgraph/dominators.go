package heapgraph

import (
	"context"
	"errors"
)

// Graph is nodes and what each points to: node i to To[First[i]:First[i+1]]. The
// nodes from Objects on are roots, which nothing points to. The last objects, Leaves
// of them, point to nothing and have no place in First: a root's is the less by them.
//
// Roots of a later class, which begin at the nodes of Later, do not count for what
// an earlier class leads to: what a variable holds is the variable's, though some
// stack, on which dead words lie too, has it in hand at the moment.
type Graph struct {
	Objects int
	Leaves  int
	First   []uint32
	To      []uint32
	Later   []uint32
}

// nodes is how many there are, roots included.
func (g *Graph) nodes() int { return len(g.First) - 1 + g.Leaves }

// place is where in First a node that is no leaf has its place.
func (g *Graph) place(node uint32) uint32 {
	if node >= uint32(g.Objects) {
		return node - uint32(g.Leaves)
	}
	return node
}

// isLeaf says whether a node points to nothing by its number.
func (g *Graph) isLeaf(node uint32) bool {
	return node-uint32(g.Objects-g.Leaves) < uint32(g.Leaves)
}

// pointers is where in To those of a node begin and end.
func (g *Graph) pointers(node uint32) (first, end uint32) {
	if g.isLeaf(node) {
		return 0, 0
	}
	at := g.place(node)
	return g.First[at], g.First[at+1]
}

// none is no node.
const none = ^uint32(0)

// Tree is the dominator tree of a graph: a node's dominator is the nearest one
// through which every way from the roots leads, so that the node would be garbage
// without it.
//
// Nodes but the leaves are numbered anew, in an order in which a dominator comes
// before what it dominates; 0 stands for all roots together.
type Tree struct {
	Node      []uint32 // of the graph; Node[0] is none
	Dominator []uint32 // a number; of 0 it is 0

	LeafDominator []uint32 // by leaf, counted from the first; none: it is not reachable

	number []uint32 // of each node of the graph but the leaves; none: it is not reachable
	g      *Graph
}

// Number is a node's, none if it is not reachable or a leaf.
func (t *Tree) Number(node uint32) uint32 {
	if t.g.isLeaf(node) {
		return none
	}
	return t.number[t.g.place(node)]
}

// dominator is the number of a node's dominator, none if the node is not reachable.
func (t *Tree) dominator(node uint32) uint32 {
	if leaf := node - uint32(t.g.Objects-t.g.Leaves); leaf < uint32(t.g.Leaves) {
		return t.LeafDominator[leaf]
	}
	if i := t.Number(node); i != none {
		return t.Dominator[i]
	}
	return none
}

// ErrGraph says that a graph is none.
var ErrGraph = errors.New("a pointer leads to no node")

// Dominators finds the dominator of every reachable node: the algorithm of Georgiadis
// and Tarjan (Finding Dominators in Practice, 2006, SEMI-NCA), which takes time
// in proportion to the pointers for heaps as they are. It is spared what needs no
// such search: nodes that only one pointer leads to, and leaves, whose dominator is
// what the dominators of those that point to them have in common.
func Dominators(ctx context.Context, g *Graph) (*Tree, error) {
	d := newDominators(g)
	if err := d.search(ctx); err != nil {
		return nil, err
	}
	if err := d.solve(ctx); err != nil {
		return nil, err
	}
	return d.t, nil
}

// nones is a table without a node.
func nones(n int) []uint32 {
	all := table(n)
	for i := range all {
		all[i] = none
	}
	return all
}

// dominators is one search for them. All tables but those of the graph are by
// number.
type dominators struct {
	g      *Graph
	t      *Tree
	inner  uint32   // nodes of the graph from here to Objects are leaves
	parent []uint32 // in the search; compressed on the way
	way    []uint32 // of the nodes from a root to where the search is, the next pointer
	joins  joins    // pointers to nodes that were found before
	from   []uint32 // origins of joins, in the order of what they lead to
	class  []uint32 // the number at which each class begins
	start  []uint32 // of each node's in from
	semi   []uint32
	label  []uint32
}

// join is a pointer that does not belong to the tree of the search.
type join struct{ to, from uint32 }

// joins is a list that may be long: it is not moved as it grows.
type joins struct {
	blocks [][]join
	n      int
}

const joinBlock = 1 << 17

func (l *joins) add(j join) {
	if l.n%joinBlock == 0 {
		l.blocks = append(l.blocks, make([]join, 0, joinBlock))
	}
	last := &l.blocks[len(l.blocks)-1]
	*last = append(*last, j)
	l.n++
}

func newDominators(g *Graph) *dominators {
	return &dominators{g: g, t: &Tree{g: g}, inner: uint32(g.Objects - g.Leaves)}
}

// search numbers what is reachable, depth first, leaves apart.
func (d *dominators) search(ctx context.Context) error {
	g, t := d.g, d.t
	n := len(g.First) // 0 stands for all roots
	if g.Leaves > g.Objects || g.Objects > g.nodes() {
		return ErrGraph
	}
	t.number = nones(n - 1)
	// Of these, only what is used becomes memory.
	t.Node, d.parent, d.way = append(table(n)[:0], none), append(table(n)[:0], 0), table(n)[:0]
	for root := g.Objects; root < g.nodes(); root++ {
		if k := len(d.class); k < len(g.Later) && uint32(root) >= g.Later[k] {
			d.class = append(d.class, uint32(len(t.Node)))
		}
		if err := d.descend(ctx, uint32(root)); err != nil {
			return err
		}
	}
	return nil
}

// descend numbers what a root leads to and nothing before it.
func (d *dominators) descend(ctx context.Context, root uint32) error {
	g, t := d.g, d.t
	first := uint32(0)
	if k := len(d.class); k > 0 {
		first = d.class[k-1]
	}
	at := g.place(root)
	now := d.visit(root, at, 0)
	for steps := 1; now != 0; steps++ {
		top := len(d.way) - 1
		e, end := d.way[top], g.First[at+1]
		next := none
		for ; e < end && next == none; e++ {
			switch to := g.To[e]; {
			case to >= uint32(g.Objects):
				return ErrGraph
			case to >= d.inner: // a leaf
			case t.number[to] == none:
				next = to
			default:
				if v := t.number[to]; v >= first && d.parent[v] != now {
					d.joins.add(join{v, now})
				}
			}
		}
		if d.way[top] = e; next != none {
			now, at = d.visit(next, next, now), next
		} else {
			d.way = d.way[:top]
			if now = d.parent[now]; now != 0 {
				at = g.place(t.Node[now])
			}
		}
		if steps%(1<<20) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// visit numbers a node, which has its place in First at at.
func (d *dominators) visit(node, at, parent uint32) (number uint32) {
	t := d.t
	number = uint32(len(t.Node))
	t.number[at] = number
	t.Node, d.parent = append(t.Node, node), append(d.parent, parent)
	d.way = append(d.way, d.g.First[at])
	return number
}

// solve finds the dominators of what the search has found.
func (d *dominators) solve(ctx context.Context) error {
	d.order()
	if err := d.semidominators(ctx); err != nil {
		return err
	}
	d.nearest()
	d.leaves()
	return ctx.Err()
}

// order puts the joins in the order of what they lead to.
func (d *dominators) order() {
	n := len(d.t.Node)
	d.start = table(n + 1)
	for _, block := range d.joins.blocks {
		for i := range block {
			d.start[block[i].to+1]++
		}
	}
	for i := range n {
		d.start[i+1] += d.start[i]
	}
	d.from = table(d.joins.n)
	for _, block := range d.joins.blocks {
		for _, j := range block {
			d.from[d.start[j.to]] = j.from
			d.start[j.to]++
		}
	}
	copy(d.start[1:], d.start[:n])
	d.start[0], d.joins, d.way = 0, joins{}, nil
}

// semidominators goes backwards through the numbers and joins each node to its
// parent in the forest that label and parent hold. Nodes without joins need no more
// than their parent.
func (d *dominators) semidominators(ctx context.Context) error {
	n := len(d.t.Node)
	d.t.Dominator = append(table(n)[:0], d.parent...) // parents are compressed here
	d.semi, d.label = append(table(n)[:0], d.parent...), table(n)
	for i := range d.label {
		d.label[i] = uint32(i)
	}
	var way []uint32
	for i := uint32(n - 1); i > 0; i-- {
		best := d.semi[i]
		for _, v := range d.from[d.start[i]:d.start[i+1]] {
			if v > i {
				way = d.compress(v, i, way[:0])
				v = d.semi[d.label[v]]
			}
			best = min(best, v)
		}
		d.semi[i] = best
		if i%(1<<20) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	d.from, d.start, d.parent = nil, nil, nil
	return nil
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
	dom := d.t.Dominator
	for i := 1; i < len(dom); i++ {
		v := dom[i]
		for v > d.semi[i] {
			v = dom[v]
		}
		dom[i] = v
	}
}

// leaves finds the dominators of leaves: what all that point to one have in common,
// of the first class that does.
func (d *dominators) leaves() {
	g, up, of := d.g, climber{dom: d.t.Dominator, depth: d.semi, far: d.label}, nones(d.g.Leaves)
	first, later := uint32(0), d.class
	for i := uint32(1); i < uint32(len(d.t.Node)); i++ {
		for len(later) > 0 && i >= later[0] {
			first, later = later[0], later[1:]
		}
		for e, end := g.pointers(d.t.Node[i]); e < end; e++ {
			leaf := g.To[e] - d.inner
			if leaf >= uint32(len(of)) {
				continue
			}
			switch v := of[leaf]; {
			case v == none:
				of[leaf] = i
			case v >= first && v != i && v != 0:
				of[leaf] = up.common(v, i)
			}
		}
	}
	d.t.LeafDominator, d.semi, d.label = of, nil, nil
}

// climber finds what two nodes' dominators have in common. Few steps are taken one
// by one. For many, each node knows one more node above it, at a distance that makes
// the ways of skew-binary numbers (Myers, An Applicative Random-Access Stack, 1983),
// so that their number grows with the logarithm of the depth.
type climber struct {
	dom, depth, far []uint32 // the last two are of no use before ready
	ready           bool
}

// fewSteps is as deep as most of a heap lies below what its objects share.
const fewSteps = 24

// common is the nearest node above or at both: what has the greater number is not
// above the other.
func (c *climber) common(a, b uint32) uint32 {
	for range fewSteps {
		switch {
		case a > b:
			a = c.dom[a]
		case a < b:
			b = c.dom[b]
		default:
			return a
		}
	}
	return c.farCommon(a, b)
}

func (c *climber) farCommon(a, b uint32) uint32 {
	c.prepare()
	for c.depth[a] > c.depth[b] {
		a = c.up(a, c.depth[b])
	}
	for c.depth[b] > c.depth[a] {
		b = c.up(b, c.depth[a])
	}
	for a != b {
		if c.far[a] == c.far[b] {
			a, b = c.dom[a], c.dom[b]
		} else {
			a, b = c.far[a], c.far[b]
		}
	}
	return a
}

// prepare fills in depths and far nodes.
func (c *climber) prepare() {
	if c.ready {
		return
	}
	c.ready = true
	c.depth[0], c.far[0] = 0, 0
	for i := 1; i < len(c.dom); i++ {
		up := c.dom[i]
		c.depth[i], c.far[i] = c.depth[up]+1, up
		if over := c.far[up]; c.depth[up]-c.depth[over] == c.depth[over]-c.depth[c.far[over]] {
			c.far[i] = c.far[over]
		}
	}
}

// up is a step towards the node above v at a depth.
func (c *climber) up(v, depth uint32) uint32 {
	if far := c.far[v]; c.depth[far] >= depth {
		return far
	}
	return c.dom[v]
}

// Retained sums what each node but the leaves keeps alive, itself included, by
// number. size is by node of the graph.
func (t *Tree) Retained(size func(node uint32) uint64) []uint64 {
	sum := make([]uint64, len(t.Node))
	for leaf, dom := range t.LeafDominator {
		if dom != none {
			sum[dom] += size(uint32(t.g.Objects - t.g.Leaves + leaf))
		}
	}
	for i := len(sum) - 1; i > 0; i-- {
		sum[i] += size(t.Node[i])
		sum[t.Dominator[i]] += sum[i]
	}
	return sum
}
