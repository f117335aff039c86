// Package heapgraph says who holds a heap's memory: from the objects and pointers
// that package gomem has read it finds what is reachable, which object keeps how
// much alive, and by which field of which variable or goroutine.
//
// What something retains is what would be garbage without it (its subtree of
// the dominator tree). Objects that are held from several places are retained by
// what these have in common, at last by all roots together, and are counted once.
// What variables lead to is theirs, whichever stack has it in hand too; what goroutines
// lead to is not a pool's, a timer's or a finalizer's.
package heapgraph

import (
	"context"
	"errors"
	"runtime"

	"github.com/highwater-go/highwater/internal/eyes/goheap"
)

// Analysis is a heap and who holds it.
type Analysis struct {
	Objects  *goheap.Objects
	Live     uint64 // objects that are reachable
	LiveSize uint64 // bytes of these
	tree     *Tree
	paths    []path
	pathOf   []uint32 // by number; 0: none
	leafPath []uint32 // by leaf
	retained []uint64 // by number, leaves apart; nil: nobody has asked
	sharers  map[uint32]map[sharer]int
}

// Analyze finds the types of the objects and who holds them, always two things at
// once, so that neither of two processors waits for the other.
func Analyze(ctx context.Context, o *goheap.Objects) (*Analysis, error) {
	d := newDominators(&Graph{Objects: o.Count, Leaves: o.Leaves, First: o.First, To: o.To, Later: o.Later, Framed: o.Framed, Edge: o.Edge})
	a := &Analysis{Objects: o, tree: d.t}
	p := newPather(a)
	if err := both(ctx, d.search, o.FindTypes); err != nil {
		return nil, err
	}
	runtime.GC() // the copy of the heap goes before more tables come
	if err := both(ctx, d.solve, d.gather); err != nil {
		return nil, err
	}
	err := both(ctx, func(ctx context.Context) error {
		if err := p.nodes(ctx); err != nil {
			return err
		}
		if d.deepest >= minChain {
			var err error
			if p.depth, err = d.g.depths(ctx); err != nil {
				return err
			}
		}
		return d.leaves(ctx) // what the other has left
	}, d.leaves)
	if err != nil {
		return nil, err
	}
	p.counts = make([]path, len(p.paths.own))
	if err := both(ctx, p.leaves, p.count); err != nil {
		return nil, err
	}
	p.sum()
	return a, ctx.Err()
}

// both does two things at once. If one fails the other is told to end.
func both(ctx context.Context, a, b func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	first := func(f func(context.Context) error) error {
		err := f(ctx)
		if err != nil {
			cancel()
		}
		return err
	}
	done := make(chan error)
	go func() { done <- first(b) }()
	errA, errB := first(a), <-done
	return errors.Join(errA, errB)
}

// table is a large table, of zeros.
func table(n int) []uint32 { return goheap.InLargePages(make([]uint32, n)) }

// path is a way into the heap that objects have in common: of a list of a million
// nodes there is one.
type path struct {
	parent  uint32
	label   int32
	typ     goheap.TypeRef
	objects uint64 // that lie on it
	bytes   uint64
	held    uint64 // objects that it retains
	retains uint64 // bytes
	young   uint64 // of these, allocated since the last collection
	carried uint64 // bytes of those that lie on it, whose type is known of themselves
	sample  uint32 // an object that lies on it
	nearest uint32 // of these, how many pointers the nearest to a root is away from it
	longest uint32 // and the farthest
	spills  bool   // some of what its objects hold lies on a path above
}
