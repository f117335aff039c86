package heapgraph

import (
	"context"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/goheap"
)

// Dominators finds the dominator of every reachable node: the algorithm of Georgiadis
// and Tarjan (Finding Dominators in Practice, 2006, SEMI-NCA), which takes time
// in proportion to the pointers for heaps as they are. It is spared what needs no
// such search: nodes that only one pointer leads to, and leaves, whose dominator is
// what the dominators of those that point to them have in common.
//
// Only the search goes through the heap as it is linked, from one cache miss to the
// next. What else reads all pointers does so in the order of addresses. What was seen
// is asked of bitmaps, which are near, so that large tables are only written to.
func Dominators(ctx context.Context, g *Graph) (*Tree, error) {
	d := newDominators(g)
	for _, step := range []func(context.Context) error{d.search, d.solve, d.gather, d.leaves} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return d.t, nil
}

// dominators is one search for them. All tables but those of the graph are by
// number.
type dominators struct {
	g      *Graph
	t      *Tree
	inner  uint32   // nodes of the graph from here to Objects are leaves
	count  uint32   // of the numbers that are given
	parent []uint32 // in the search; compressed on the way
	seen   bitmap   // places of nodes that have numbers
	class  []uint32 // the number at which each later class begins
	met    []join   // pointers of the search to nodes that have numbers, not joins yet
	joins  joins
	moved  []moved // by number, from the last on

	deepest  int      // no node is more pointers away from the roots
	away     []uint32 // how many each is at most, by number; nil: none is many
	up       climber  // in the tree
	ofLeaves *leafSearch
}

func newDominators(g *Graph) *dominators {
	return &dominators{g: g, t: &Tree{g: g}, inner: uint32(g.Objects - g.Leaves)}
}

// classOf is the number at which the class of a node begins.
func (d *dominators) classOf(number uint32) (first uint32) {
	for _, c := range d.class {
		if number < c {
			break
		}
		first = c
	}
	return first
}

// search numbers what is reachable, depth first, leaves apart.
func (d *dominators) search(ctx context.Context) error {
	g, t := d.g, d.t
	n := len(g.First) // 0 stands for all roots
	if g.Leaves > g.Objects || g.Objects > g.nodes() {
		return ErrGraph
	}
	t.number = nones(n - 1)
	d.seen = newBitmap(n)
	// Of these, only what is used becomes memory.
	d.parent, t.By, t.Node, d.count = table(n), table(n), table(n), 1
	t.By[0], t.Node[0] = none, none
	d.met, d.joins = make([]join, 0, metAtOnce), joins{ranged: newRanged[join](n)}
	for root := g.Objects; root < g.nodes(); root++ {
		if k := len(d.class); k < len(g.Later) && uint32(root) >= g.Later[k] {
			d.class = append(d.class, d.count)
		}
		if err := d.descend(ctx, uint32(root)); err != nil {
			return err
		}
	}
	d.seen = nil
	d.parent, t.By, t.Node = d.parent[:d.count], t.By[:d.count], t.Node[:d.count]
	return nil
}

// descend numbers what a root leads to and nothing before it. Pointers to what has a
// number already join the branches of the search. The way back is that of the parents,
// behind the pointer by which each led on.
func (d *dominators) descend(ctx context.Context, root uint32) error {
	g, t := d.g, d.t
	first, depth := d.classOf(d.count), 1
	_, framed := slices.BinarySearch(g.Framed, root)
	at := g.place(root)
	now, e := d.visit(root, at, 0, none), g.First[at]
	for steps := 1; ; steps++ {
		next := none
		for end := g.First[at+1]; e < end && next == none; e++ {
			switch to := g.To[e]; {
			case to >= uint32(g.Objects):
				return ErrGraph
			case to >= d.inner: // a leaf
			case !d.seen.has(to):
				next = to
			default:
				if d.met = append(d.met, join{to, now}); len(d.met) == cap(d.met) {
					d.join(first)
				}
			}
		}
		switch {
		case next != none:
			if framed && depth == 1 {
				t.starts = append(t.starts, start{d.count, e - 1})
			}
			now, at = d.visit(next, next, now, e-1), next
			e = g.First[at]
			depth++
			d.deepest = max(d.deepest, depth)
		case depth == 1:
			d.join(first)
			return ctx.Err()
		default:
			e, now = t.By[now]+1, d.parent[now]
			at = g.place(t.Node[now])
			depth--
		}
		if steps%(1<<20) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// join notes the pointers that were met, unless they lead to an earlier class. Many at once
// wait less for memory than each by itself.
func (d *dominators) join(first uint32) {
	for _, m := range d.met {
		if v := d.t.number[m.to]; v >= first {
			d.joins.add(v, join{v, m.from})
		}
	}
	d.met = d.met[:0]
}

// visit numbers a node, which has its place in First at at, and to which a parent
// leads by a pointer.
func (d *dominators) visit(node, at, parent, by uint32) (number uint32) {
	number = d.count
	d.count++
	d.t.number[at] = number
	d.seen.set(at)
	d.parent[number], d.t.By[number], d.t.Node[number] = parent, by, node
	return number
}

// solve finds the dominators of what the search has found, but for leaves.
func (d *dominators) solve(ctx context.Context) error {
	d.t.Dominator = append(table(len(d.parent))[:0], d.parent...) // parents are compressed here
	if d.deepest >= minChain {
		d.away = d.onTheWay()
	}
	if err := d.semidominators(ctx); err != nil {
		return err
	}
	if d.away != nil {
		d.deepest = d.farthest()
	}
	d.parent, d.joins, d.away = nil, joins{}, nil
	d.nearest()
	d.up.dom = d.t.Dominator
	return ctx.Err()
}

// moved is a node whose semidominator is not its parent.
type moved struct{ node, semi uint32 }

// semidominators goes backwards through the numbers and joins each node to its
// parent in the forest that parent holds, with the least semidominator from a node up to
// where its way was compressed in low. Of nodes without joins it is their parent.
func (d *dominators) semidominators(ctx context.Context) error {
	low := append(table(len(d.parent))[:0], d.parent...)
	var way []uint32
	for k := len(d.joins.last) - 1; k >= 0; k-- {
		d.joins.ordered(k, func(i uint32, from []uint32) {
			if d.away != nil && d.away[i] >= minChain/2 { // below, little is won
				d.nearer(i, from)
			}
			best := low[i]
			for _, v := range from {
				if v > i {
					way = d.compress(low, v, i, way[:0])
					v = low[v]
				}
				best = min(best, v)
			}
			if best != low[i] {
				low[i] = best
				d.moved = append(d.moved, moved{i, best})
			}
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// compress shortens the way from v up to what is not joined yet, numbers up to last.
func (d *dominators) compress(low []uint32, v, last uint32, way []uint32) []uint32 {
	for d.parent[v] > last {
		way = append(way, v)
		v = d.parent[v]
	}
	for k := len(way) - 1; k >= 0; k-- {
		w := way[k]
		up := d.parent[w]
		low[w] = min(low[w], low[up])
		d.parent[w] = d.parent[up]
	}
	return way
}

// nearest turns parents into dominators: the first one above a node that is not
// below its semidominator. Where that is not the parent, the pointer is another, too.
func (d *dominators) nearest() {
	t := d.t
	over := newBitmap(len(t.Node)) // the dominators of what is not their child
	for k := len(d.moved) - 1; k >= 0; k-- {
		i, semi := d.moved[k].node, d.moved[k].semi
		v := t.Dominator[i]
		for v > semi {
			v = t.Dominator[v]
		}
		t.Dominator[i], t.By[i] = v, none
		over.set(v)
	}
	d.moved = nil
	for at, i := range t.number {
		if i != none && over.has(i) {
			d.findBy(uint32(at), i)
		}
	}
}

// findBy notes by which pointers a node leads to those that it dominates.
func (d *dominators) findBy(at, i uint32) {
	g, t := d.g, d.t
	for e := g.First[at]; e < g.First[at+1]; e++ {
		if g.To[e] < d.inner {
			if v := t.number[g.To[e]]; t.Dominator[v] == i && t.By[v] == none {
				t.By[v] = e
			}
		}
	}
}

// metAtOnce is how many pointers are looked up at once.
const metAtOnce = 256

// join is a pointer that does not belong to the tree of the search.
type join struct{ to, from uint32 }

// joins are put in order range by range.
type joins struct {
	ranged[join]
	start []uint32 // of each node's joins, in from
	from  []uint32
}

// ordered passes the joins of the k-th range to fn, once for each node that has some,
// the last node first, and lets go of them.
func (l *joins) ordered(k int, fn func(to uint32, from []uint32)) {
	n := 0
	if l.start == nil {
		l.start = make([]uint32, rangeLen+1)
	}
	clear(l.start)
	blocks := l.take(k)
	for _, block := range blocks {
		n += len(block)
		for _, j := range block {
			l.start[j.to%rangeLen]++
		}
	}
	for i, sum := 0, uint32(0); i <= rangeLen; i++ {
		sum += l.start[i]
		l.start[i] = sum // where its joins end, until they are put there
	}
	if cap(l.from) < n {
		l.from = make([]uint32, n)
	}
	l.from = l.from[:n]
	for _, block := range blocks {
		for _, j := range block {
			at := &l.start[j.to%rangeLen]
			*at--
			l.from[*at] = j.from
		}
	}
	for i := rangeLen - 1; i >= 0; i-- {
		if from := l.from[l.start[i]:l.start[i+1]]; len(from) > 0 {
			fn(uint32(k*rangeLen+i), from)
		}
	}
}

// bitmap is a set of nodes, leaves or pointers.
type bitmap []uint64

func newBitmap(n int) bitmap { return goheap.InLargePages(make(bitmap, n/64+1)) }

func (b bitmap) has(i uint32) bool { return b[i/64]>>(i%64)&1 != 0 }

func (b bitmap) set(i uint32) { b[i/64] |= 1 << (i % 64) }

// nones is a table without a node.
func nones(n int) []uint32 {
	all := table(n)
	for i := range all {
		all[i] = none
	}
	return all
}
