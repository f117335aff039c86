// Package goheap reads the objects of another process's Go heap, or of a core file's:
// what the program can still reach, and a copy of all of it as a graph with types.
//
// Where the heap's spans, the goroutines' stacks and the program's variables lie package
// gomem knows. What holds what package heapgraph finds in the graph. It knows nothing
// of what the runtime counts: a heap profile's buckets are what LiveObjects is given.
package goheap

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

// FeatureLive is what Heap reads.
const FeatureLive gomem.Feature = "live objects"

// Heap reads the objects of one process's heap. Its methods are not safe for concurrent
// use, nor beside those of its Runtime.
type Heap struct {
	r      *gomem.Runtime
	why    error
	marker marker
}

// Buckets are those of a heap profile, in the order of their numbers.
type Buckets interface {
	// Follow reads which buckets there are by now, and says how many.
	Follow() (n int, err error)
	// IndexOf is the number of the bucket whose descriptor lies at an address.
	IndexOf(addr uint64) (i int, ok bool)
}

// New finds the roots of r's heap. Why says whether they could be found.
func New(r *gomem.Runtime) *Heap {
	h := &Heap{r: r}
	find, err := r.Resolve()
	if err == nil {
		err = h.marker.attach(r, find)
	}
	if err != nil {
		h.why = fmt.Errorf("%s: %w", FeatureLive, err)
	}
	return h
}

// Why says why the objects cannot be read, nil if they can. The methods return the same error.
func (h *Heap) Why() error { return h.why }
