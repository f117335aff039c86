package heapgraph

import "errors"

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
	// Framed are the roots, ascending, whose pointers come frame by frame of a stack, that which returns last first.
	Framed []uint32

	// Edge is what is noted of a pointer To[e] to a leaf, never none; nil: e itself.
	Edge func(e uint32) int32
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

func (g *Graph) edge(e uint32) uint32 {
	if g.Edge == nil {
		return e
	}
	return uint32(g.Edge(e))
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
	By        []uint32 // the first pointer by which that leads there; none: it does not itself

	Leaves []Leaf // counted from the first

	number []uint32 // of each node of the graph but the leaves; none: it is not reachable
	starts []start
	g      *Graph
}

// start is where the search went on from a framed root, by a pointer: up to the next start or root, nodes are reached by
// that pointer and by none before it.
type start struct{ number, by uint32 }

// Leaf is what dominates a leaf, and how that leads to it.
type Leaf struct {
	Dominator uint32 // a number; none: it is not reachable
	By        uint32 // Graph.Edge of the first pointer by which that leads there; none: it does not itself
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
		return t.Leaves[leaf].Dominator
	}
	if i := t.Number(node); i != none {
		return t.Dominator[i]
	}
	return none
}

// ErrGraph says that a graph is none.
var ErrGraph = errors.New("a pointer leads to no node")

// Retained sums what each node but the leaves keeps alive, itself included, by
// number. size is by node of the graph.
func (t *Tree) Retained(size func(node uint32) uint64) []uint64 {
	sum := make([]uint64, len(t.Node))
	for leaf := range t.Leaves {
		if dom := t.Leaves[leaf].Dominator; dom != none {
			sum[dom] += size(uint32(t.g.Objects - t.g.Leaves + leaf))
		}
	}
	for i := len(sum) - 1; i > 0; i-- {
		sum[i] += size(t.Node[i])
		sum[t.Dominator[i]] += sum[i]
	}
	return sum
}
