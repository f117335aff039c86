package gomem

import "fmt"

// FeatureLive is what Heap reads.
const FeatureLive Feature = "live objects"

// Heap reads the objects of one process's heap. Its methods are not safe for concurrent
// use, nor beside those of its Runtime.
type Heap struct {
	r      *Runtime
	why    error
	marker marker
}

// Buckets are those of a heap profile, as package gostats follows it.
type Buckets interface {
	// Follow reads which buckets there are by now, and says how many.
	Follow() (n int, err error)
	// IndexOf is the number of the bucket whose descriptor lies at an address.
	IndexOf(addr uint64) (i int, ok bool)
}

// NewHeap finds the roots of r's heap. Why says whether they could be found.
func NewHeap(r *Runtime) *Heap {
	h := &Heap{r: r}
	find, err := r.resolve()
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
