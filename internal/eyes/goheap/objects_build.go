package goheap

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"runtime/debug"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Graph finds every object of the copy and what points to what. The types of the
// objects are found by FindTypes, which lets go of the copy. It ends with ErrTooLarge
// where there are more pointers than the limit has room for.
func (h *HeapCopy) Graph(ctx context.Context, variables []gobin.Variable, threads []Thread) (*Objects, error) {
	c := h.c
	h.c = nil
	if c.thin != nil {
		return c.thin.graph(ctx, variables, threads)
	}
	c.heap.number()
	c.heap.young, c.heap.sweepgen = make([]uint64, len(c.heap.unmarked)), c.sweepgen
	if err := c.readAllocated(); err != nil {
		return nil, fmt.Errorf("the heap's objects: %w", err)
	}
	freed := make(chan bool)
	go func() {
		debug.FreeOSMemory() // what it took to come so far: large tables follow
		close(freed)
	}()
	o, err := numberObjects(c.heap, c.headers)
	<-freed
	if err != nil {
		return nil, fmt.Errorf("the heap's objects: %w", err)
	}
	o.copy, o.far = c, make(map[uint32]uint32)
	if o.Types, err = newTypes(c); err != nil {
		return nil, err
	}
	sc := scanner{o: o, c: c, types: o.Types, pools: findPools(o, c)}
	if err := sc.scan(ctx); err != nil {
		return nil, fmt.Errorf("the heap's pointers: %w", err)
	}
	ro := rooter{o: o, c: c, types: o.Types, variables: variables, threads: threads, own: sc.own, ps: sc.ps, pools: sc.pools}
	if err := ro.roots(); err != nil {
		return nil, fmt.Errorf("the heap's roots: %w", err)
	}
	return o, nil
}

// readBits reads which objects of a span are allocated. Stand-ins have no bits.
func (c *heapCopy) readBits(addr uint64, p []byte) error {
	if addr == noBits && c.thin != nil {
		clear(p)
		return nil
	}
	return c.readOutside(addr, p)
}

// Bytes of the tables of an analysis, here and in package heapgraph, at the two moments at
// which there are most: while types are found beside the search, and while the dominators
// are found, when the copy is gone.
const (
	searchPointer, solvePointer = 14, 18 // of a pointer: To, slot, and a join or, to a leaf, a place on a list
	searchInner, solveInner     = 23, 40 // of an object with pointers: First, number, parent, By, Node, type; dominators, path
	searchLeaf, solveLeaf       = 3, 15  // of one without: its type; Leaf, path
)

// takes is what the copy and the analysis take together at most, given so many pointers.
func (o *Objects) takes(pointers int) sample.Bytes {
	inner, leaves := o.Count-o.Leaves, o.Leaves
	search := len(o.copy.data) + len(o.copy.rest) + searchPointer*pointers + searchInner*inner + searchLeaf*leaves
	solve := solvePointer*pointers + solveInner*inner + solveLeaf*leaves
	return sample.Bytes(max(search, solve))
}

// readAllocated finds which objects are allocated, by several threads.
func (c *heapCopy) readAllocated() error {
	n := workers()
	errs := make([]error, n)
	parallel(n, func(w int) {
		all := len(c.heap.spans)
		errs[w] = c.heap.readAllocated(all*w/n, all*(w+1)/n, c.readBits)
	})
	return errors.Join(errs...)
}

// FindTypes finds the objects' types and the collections among them, and lets go of
// the copy. It may run while others read the pointers.
func (o *Objects) FindTypes(ctx context.Context) error {
	ty := typer{o: o, c: o.copy, types: o.Types}
	if err := ty.run(ctx); err != nil {
		return fmt.Errorf("the objects' types: %w", err)
	}
	o.typeStandIns()
	ty.collections()
	o.copy.release()
	o.copy = nil
	return nil
}

// Carried says whether an object's type is known of itself: by its malloc header or span,
// by an interface's value or a function's code. Others follow from the type of a place that
// points there, which package unsafe can make wrong. FindTypes must have been called.
func (o *Objects) Carried(id uint32) bool { return o.carried[id/64]>>(id%64)&1 != 0 }

// EachCarried calls fn for each object from an id on of which Carried is true.
func (o *Objects) EachCarried(from uint32, fn func(id uint32)) {
	for w := from / 64; int(w) < len(o.carried); w++ {
		for rest := o.carried[w]; rest != 0; rest &= rest - 1 {
			if id := 64*w + uint32(bits.TrailingZeros64(rest)); id >= from {
				fn(id)
			}
		}
	}
}

// VariableRanges are where the program's variables lie, as link-time addresses.
func (h *Heap) VariableRanges() (all [][2]uint64, err error) {
	if h.why != nil {
		return nil, h.why
	}
	c := h.newCopy(0)
	if err := c.attachModules(); err != nil {
		return nil, err
	}
	if err := c.readModules(); err != nil {
		return nil, err
	}
	for i := range c.modules[:min(1, len(c.modules))] {
		for _, v := range c.modules[i].variables {
			all = append(all, [2]uint64{v.Start - c.bias, v.End - c.bias})
		}
	}
	return all, nil
}

// Edge is what stands between a node and what a pointer of it, To[e], leads to, as a
// part of a path: a field, "[]", a stack's frame. The types must have been found.
func (o *Objects) Edge(e uint32) int32 { return int32(o.slotOf(e)) }

func (o *Objects) spanOf(id uint32) int {
	i := int(o.bySpan[id/64])
	for o.endOf(i) <= id {
		i++
	}
	return i
}
