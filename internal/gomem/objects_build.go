package gomem

import (
	"context"
	"fmt"

	"github.com/highwater-go/highwater/internal/gobin"
	"github.com/highwater-go/highwater/internal/sample"
)

// Graph finds every object of the copy, what points to what, and the types. The
// copy is of no use afterwards.
func (h *HeapCopy) Graph(ctx context.Context, variables []gobin.Variable, threads []Thread) (*Objects, error) {
	c := h.c
	h.c = nil
	o, err := numberObjects(c.heap)
	if err != nil {
		return nil, fmt.Errorf("the heap's objects: %w", err)
	}
	o.copy, o.headers, o.covers = c, c.headers, make(map[uint32]Coverage)
	if o.Types, err = newTypes(c); err != nil {
		return nil, err
	}
	sc := scanner{o: o, c: c, types: o.Types, masks: make(map[uint64]*typeMask)}
	if err := sc.scan(ctx); err != nil {
		return nil, fmt.Errorf("the heap's pointers: %w", err)
	}
	o.ownRoots(c)
	ro := rooter{o: o, c: c, types: o.Types, variables: variables, threads: threads}
	if err := ro.roots(); err != nil {
		return nil, fmt.Errorf("the heap's roots: %w", err)
	}
	ty := typer{o: o, c: c, types: o.Types}
	if err := ty.run(ctx); err != nil {
		return nil, err
	}
	o.collect()
	o.copy = nil
	c.data, c.regions = nil, nil
	return o, nil
}

// VariableRanges are where the program's variables lie, as link-time addresses.
func (h *HeapCopy) VariableRanges() (all [][2]uint64) {
	for i := range h.c.modules[:min(1, len(h.c.modules))] {
		for _, v := range h.c.modules[i].variables {
			all = append(all, [2]uint64{v.start - h.c.r.bias, v.end - h.c.r.bias})
		}
	}
	return all
}

// Edge is what stands between a node and what its e-th pointer leads to, as a part
// of a path: a field, "[]", a stack's frame.
func (o *Objects) Edge(node, e uint32) int32 {
	if node < uint32(o.Count) {
		return o.objectEdge(node, e)
	}
	r := &o.Roots[node-uint32(o.Count)]
	switch {
	case r.Kind == RootGoroutine:
		return int32(o.Slot[e])
	case r.typ != 0:
		if off := uint64(o.Slot[e]) * 8; off < o.Types.all[r.typ].size {
			return o.Types.slotAt(r.typ, off).label
		}
	}
	return 0
}

// objectEdge is a field of an object, behind "[]" where it holds several values.
func (o *Objects) objectEdge(node, e uint32) int32 {
	t := o.Types
	ref := o.TypeOf[node]
	if ref == 0 {
		return t.label(".?")
	}
	s := o.spans[o.spanOf(node)]
	off, ok := within(uint64(o.Slot[e])*8, s.header(o.headers)+uint64(o.shift[node]), t.all[ref.index()].size)
	if !ok {
		return t.label(".?")
	}
	label := t.slotAt(ref.index(), off).label
	if ref.array() && t.all[ref.index()].role == roleValue {
		return t.inArray(label)
	}
	return label
}

// inArray is the label behind "[]".
func (t *Types) inArray(label int32) int32 {
	for int(label) >= len(t.arrayed) {
		t.arrayed = append(t.arrayed, -1)
	}
	if t.arrayed[label] < 0 {
		t.arrayed[label] = t.label("[]" + t.labels[label])
	}
	return t.arrayed[label]
}

func (o *Objects) spanOf(id uint32) int {
	i := int(o.bySpan[id/64])
	for o.endOf(i) <= id {
		i++
	}
	return i
}

// Bucket is the bucket of the heap profile at an address. Profile must have been
// called.
func (r *Runtime) Bucket(addr uint64) (b sample.Bucket, ok bool) {
	i, ok := r.profile.index(addr)
	if !ok {
		return b, false
	}
	return r.profile.buckets[i], true
}
