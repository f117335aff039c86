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
	Leaves  int // the last so many objects point to nothing; 0: it is not known
	First   []uint32
	To      []uint32
	Later   []uint32
}

// none is no node.
const none = ^uint32(0)

// Tree is the dominator tree of a graph: a node's dominator is the nearest one
// through which every way from the roots leads, so that the node would be garbage
// without it. Nodes are numbered anew, in an order in which a dominator comes before
// what it dominates; 0 stands for all roots together. The leaves come last.
type Tree struct {
	Node      []uint32 // of the graph; Node[0] is none
	Number    []uint32 // of each node of the graph; none: it is not reachable
	Dominator []uint32 // by number; of 0 it is 0
	Inner     int      // number of the first leaf
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
	if err := d.run(ctx); err != nil {
		return nil, err
	}
	return d.t, nil
}

// dominators is one search for them. All tables but the last two are by number.
type dominators struct {
	g      *Graph
	t      *Tree
	inner  uint32   // nodes of the graph from here to Objects are leaves
	parent []uint32 // in the search; compressed on the way
	semi   []uint32
	label  []uint32
	dom    []uint32
	class  []uint32 // the number at which each class begins
	joins  []join   // pointers to nodes that were found before
	start  []uint32 // of each node's in joins, once they are in order
}

// join is a pointer that does not belong to the tree of the search.
type join struct{ to, from uint32 }

func newDominators(g *Graph) *dominators {
	return &dominators{g: g, t: &Tree{}, inner: uint32(g.Objects - g.Leaves)}
}

func (d *dominators) run(ctx context.Context) error {
	for _, step := range []func(context.Context) error{d.search, d.semidominators, d.leaves} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// search numbers what is reachable, depth first, leaves apart.
func (d *dominators) search(ctx context.Context) error {
	g, t := d.g, d.t
	n := len(g.First) - 1
	if g.Objects > n || g.Leaves > g.Objects {
		return ErrGraph
	}
	t.Number = table(n)
	for i := range t.Number {
		t.Number[i] = none
	}
	t.Node = append(table(n - g.Leaves + 1)[:0], none)
	d.parent = append(table(n - g.Leaves + 1)[:0], 0)
	for root := g.Objects; root < n; root++ {
		if k := len(d.class); k < len(g.Later) && uint32(root) >= g.Later[k] {
			d.class = append(d.class, uint32(len(t.Node)))
		}
		if err := d.descend(ctx, uint32(root)); err != nil {
			return err
		}
	}
	return nil
}

// step is a node on the way from a root, and its next pointer.
type step struct{ number, next, end uint32 }

// descend numbers what a root leads to and nothing before it.
func (d *dominators) descend(ctx context.Context, root uint32) error {
	g, t := d.g, d.t
	objects, first := uint32(g.Objects), d.firstOfClass(uint32(len(t.Node)))
	way := make([]step, 0, 1024)
	visit := func(node, parent uint32) {
		t.Number[node] = uint32(len(t.Node))
		way = append(way, step{uint32(len(t.Node)), g.First[node], g.First[node+1]})
		t.Node, d.parent = append(t.Node, node), append(d.parent, parent)
	}
	visit(root, 0)
	for steps := 1; len(way) > 0; steps++ {
		top := &way[len(way)-1]
		if top.next == top.end {
			way = way[:len(way)-1]
			continue
		}
		to := g.To[top.next]
		top.next++
		if to >= d.inner {
			if to >= objects {
				return ErrGraph
			}
			continue
		}
		if v := t.Number[to]; v == none {
			visit(to, top.number)
		} else if v >= first {
			d.joins = append(d.joins, join{v, top.number})
		}
		if steps%(1<<20) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// firstOfClass is the number at which the class of a number begins.
func (d *dominators) firstOfClass(number uint32) uint32 {
	for k := len(d.class) - 1; k >= 0; k-- {
		if number >= d.class[k] {
			return d.class[k]
		}
	}
	return 0
}

// semidominators goes backwards through the numbers and joins each node to its
// parent in the forest that label and parent hold. Nodes without joins need no more
// than their parent.
func (d *dominators) semidominators(ctx context.Context) error {
	d.order()
	n := uint32(len(d.t.Node))
	d.dom = append(table(int(n))[:0], d.parent...) // parents are compressed here
	d.semi, d.label = append(table(int(n))[:0], d.parent...), table(int(n))
	for i := range d.label {
		d.label[i] = uint32(i)
	}
	var way []uint32
	end := uint32(len(d.joins))
	for i := n - 1; i > 0; i-- {
		best := d.semi[i]
		for ; end > d.start[i]; end-- {
			v := d.joins[end-1].from
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
	d.joins, d.start = nil, nil
	d.nearest()
	return nil
}

// order sorts the joins by what they lead to.
func (d *dominators) order() {
	n := len(d.t.Node)
	d.start = table(n + 1)
	for _, j := range d.joins {
		d.start[j.to+1]++
	}
	for i := range n {
		d.start[i+1] += d.start[i]
	}
	sorted := make([]join, len(d.joins))
	for _, j := range d.joins {
		sorted[d.start[j.to]] = j
		d.start[j.to]++
	}
	copy(d.start[1:], d.start[:n])
	d.start[0], d.joins = 0, sorted
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

// leaves numbers them behind all others and finds their dominators.
func (d *dominators) leaves(ctx context.Context) error {
	g, t := d.g, d.t
	t.Inner, t.Dominator = len(t.Node), d.dom
	if g.Leaves == 0 {
		return nil
	}
	up := d.climber()
	of := t.Number[d.inner:g.Objects] // their dominators, for now
	first := uint32(0)
	for i := uint32(1); i < uint32(t.Inner); i++ {
		first = max(first, d.firstOfClass(i))
		node := t.Node[i]
		for _, to := range g.To[g.First[node]:g.First[node+1]] {
			if to < d.inner {
				continue
			}
			if v := of[to-d.inner]; v == none {
				of[to-d.inner] = i
			} else if v >= first && v != i && v != 0 {
				of[to-d.inner] = up.common(v, i)
			}
		}
		if i%(1<<20) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	t.number(d.inner, of)
	return nil
}

// number gives the leaves that have a dominator their numbers.
func (t *Tree) number(inner uint32, of []uint32) {
	n := t.Inner
	for _, dom := range of {
		if dom != none {
			n++
		}
	}
	t.Node = append(table(n)[:0], t.Node...)
	t.Dominator = append(table(n)[:0], t.Dominator...)
	for k, dom := range of {
		if dom == none {
			continue
		}
		of[k] = uint32(len(t.Node)) // which is their Number
		t.Node, t.Dominator = append(t.Node, inner+uint32(k)), append(t.Dominator, dom)
	}
}

// climber finds what two nodes' dominators have in common, in a number of steps that
// grows with the logarithm of their depth: each knows one more node above it, at a
// distance that makes the ways of skew-binary numbers (Myers, An Applicative
// Random-Access Stack, 1983).
type climber struct{ dom, depth, far []uint32 }

// climber takes over tables that are of no more use.
func (d *dominators) climber() climber {
	c := climber{dom: d.dom, depth: d.semi, far: d.label}
	d.semi, d.label, d.parent = nil, nil, nil
	c.depth[0], c.far[0] = 0, 0
	for i := 1; i < len(c.dom); i++ {
		up := c.dom[i]
		c.depth[i], c.far[i] = c.depth[up]+1, up
		if over := c.far[up]; c.depth[up]-c.depth[over] == c.depth[over]-c.depth[c.far[over]] {
			c.far[i] = c.far[over]
		}
	}
	return c
}

// common is the nearest node above or at both.
func (c *climber) common(a, b uint32) uint32 {
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

// up is a step towards the node above v at a depth.
func (c *climber) up(v, depth uint32) uint32 {
	if far := c.far[v]; c.depth[far] >= depth {
		return far
	}
	return c.dom[v]
}

// Retained sums what each node but the leaves keeps alive, itself included. size is
// by node of the graph, leaves included.
func (t *Tree) Retained(size func(node uint32) uint64) []uint64 {
	sum := make([]uint64, t.Inner)
	for i := t.Inner; i < len(t.Node); i++ {
		sum[t.Dominator[i]] += size(t.Node[i])
	}
	for i := t.Inner - 1; i > 0; i-- {
		sum[i] += size(t.Node[i])
		sum[t.Dominator[i]] += sum[i]
	}
	return sum
}
