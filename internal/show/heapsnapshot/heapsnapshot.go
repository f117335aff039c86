// Package heapsnapshot writes who holds a heap as a .heapsnapshot file, the form in
// which V8 writes JavaScript's heaps, so that the Memory panel of Chromium's
// developer tools and others open it: objects by type with what each retains, the
// pointers of each and those to it, the dominators' tree.
//
// A Go program's objects are "object" nodes called by their type, its variables,
// goroutines and finalizers "native" ones below the root. Pointers are named by the
// field. Contents are not in it. What such a file is has no specification: V8's
// src/profiler/heap-snapshot-generator.cc writes it, and DevTools'
// heap_snapshot_worker reads it.
package heapsnapshot

import (
	"cmp"

	"github.com/highwater-go/highwater/internal/words/sorting"
)

// Graph is a heap's nodes and edges as the file has them. The first node is the root;
// all others must be reachable from it.
type Graph struct {
	nodes   []node
	edges   []edge
	strings []string
	known   map[string]uint32
	taken   map[uint32]bool // ids
}

// Kind is what a node stands for.
type Kind uint8

// The kinds, by their place in nodeTypes.
const (
	Object Kind = 3
	Place  Kind = 8 // a variable, a goroutine: "native"
	Root   Kind = 9 // "synthetic"
)

type node struct {
	kind     Kind
	name, id uint32
	size     uint32
}

// Edges' types, by their place in edgeTypes.
const (
	elementEdge  = 1
	propertyEdge = 2
	weakEdge     = 6
)

type edge struct {
	from, to uint32
	kind     uint8
	name     uint32 // or index
}

const (
	mostSize = 1<<32 - 1 // of a node: readers keep 32 bits
	mostHeap = 1 << 44   // 16 TiB; a foreign file may say anything
)

// Add adds a node and gives its number. What is larger than 4 GiB becomes several. An
// id tells the same object in two snapshots; of 0, or one that is in use, there is a
// new one.
func (g *Graph) Add(kind Kind, name string, id uint32, size uint64) (number int) {
	number, size = len(g.nodes), min(size, mostHeap)
	g.nodes = append(g.nodes, node{kind: kind, name: g.intern(name), id: g.free(id), size: uint32(min(size, mostSize))})
	for at := number; size > mostSize; at = len(g.nodes) - 1 {
		size -= mostSize
		g.nodes = append(g.nodes, node{kind: kind, name: g.intern("(the rest of it)"), id: g.free(0), size: uint32(min(size, mostSize))})
		g.Point(at, len(g.nodes)-1, "(the rest of it)", false)
	}
	return number
}

// free is an id that no other node has. Those of addresses are even.
func (g *Graph) free(id uint32) uint32 {
	if g.taken == nil {
		g.taken = make(map[uint32]bool)
	}
	if id == 0 || g.taken[id] {
		for id = uint32(2*len(g.nodes) + 1); g.taken[id]; id += 2 {
		}
	}
	g.taken[id] = true
	return id
}

// Point adds an edge by name; a weak one holds nothing.
func (g *Graph) Point(from, to int, name string, weak bool) {
	e := edge{from: uint32(from), to: uint32(to), kind: propertyEdge, name: g.intern(name)}
	if weak {
		e.kind = weakEdge
	}
	g.edges = append(g.edges, e)
}

// Index adds an edge by number.
func (g *Graph) Index(from, to, index int) {
	g.edges = append(g.edges, edge{from: uint32(from), to: uint32(to), kind: elementEdge, name: uint32(index)})
}

// Size is how many bytes of ours a graph of so many nodes and edges takes at most, while
// their lists grow; names apart, of which there are few.
func Size(nodes, edges int) uint64 {
	const perNode, perEdge = 96, 40
	return perNode*uint64(nodes) + perEdge*uint64(edges)
}

func (g *Graph) intern(s string) uint32 {
	i, ok := g.known[s]
	if !ok {
		if g.known == nil {
			g.known = make(map[string]uint32)
		}
		i = uint32(len(g.strings))
		g.strings, g.known[s] = append(g.strings, s), i
	}
	return i
}

// order puts the edges in the order of their nodes, as the file has them.
func (g *Graph) order() {
	sorting.Stable(g.edges, func(a, b edge) int { return cmp.Compare(a.from, b.from) })
}
