package goheap

import (
	"context"
	"fmt"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
)

// Thinned says how the objects of a graph were chosen among all.
type Thinned struct {
	Objects uint64 // all that are allocated
	Kept    uint64

	stands []uint32 // for how many objects each stands
	bytes  []uint64 // of these, by stand-in
	missed []uint32 // by stand-in, how many these are
	shape  []uint16 // whose sum is known
	group  []uint8  // of the first on the way to it that stands for others; Groups: it has none
	like   []uint32 // by stand-in: an object of its shape; noParent: none was kept
	first  uint32   // id of the first stand-in
	thin   *thinner // until the types are found
}

// Groups is by how many random groups the error of a sum is told.
const Groups = 16

// mostScaled is how far the estimate of how many objects a shape has may be from what the last
// collection has left. What is missed of others, most of a list for example, which ends where one of
// its nodes is left out, is its stand-in's: whatever dominates that dominates all of them.
const mostScaled = 1.5

// Thinned is how the objects were chosen, nil if these are all.
func (o *Objects) Thinned() *Thinned { return o.thinned }

// Stands is for how many objects one stands.
func (o *Objects) Stands(id uint32) uint64 {
	if o.thinned == nil {
		return 1
	}
	return uint64(o.thinned.stands[id])
}

// StandIn says whether an object is one.
func (t *Thinned) StandIn(id uint32) bool { return t.isStandIn(id) }

// ShapeOf numbers the shape of an object. So many objects of each have survived the last collection
// as are told; a path's share of them is what was sampled.
func (t *Thinned) ShapeOf(id uint32) uint16 { return t.shape[id] }

// GroupOf is the group of an object, Groups if it was certain to be kept.
func (t *Thinned) GroupOf(id uint32) uint8 { return t.group[id] }

// BytesOf is those of all that an object of a size stands for.
func (o *Objects) BytesOf(id uint32, size uint64) uint64 {
	switch t := o.thinned; {
	case t == nil:
		return size
	case t.isStandIn(id):
		return t.bytes[id-t.first]
	default:
		return size * uint64(t.stands[id])
	}
}

// sizeOfThinned is the bytes of all that a node stands for.
func (o *Objects) sizeOfThinned(node uint32) uint64 {
	if node >= uint32(o.Count) {
		return 0
	}
	return o.BytesOf(node, o.Size(node))
}

// standInAt is the stand-in for the object at an address that was left out.
func (o *Objects) standInAt(p uint64) (id uint32, ok bool) {
	if o.thinned == nil || o.thinned.thin == nil {
		return 0, false
	}
	t := o.thinned.thin
	i, place, ok := t.find(p)
	if !ok || t.allocated[place/64]>>(place%64)&1 == 0 {
		return 0, false
	}
	return o.thinned.first + uint32(t.shapeOf(i, place-t.c.heap.first[i])), true
}

// leaveStandIns has nobody look for their types.
func (ty *typer) leaveStandIns() {
	if ty.o.thinned == nil {
		return
	}
	for id := ty.o.thinned.first; id < ty.o.thinned.first+maxShapes; id++ {
		ty.typed[id/64] |= 1 << (id % 64)
	}
}

// typeStandIns gives them those of objects of their shapes.
func (o *Objects) typeStandIns() {
	if o.thinned == nil {
		return
	}
	for shape, like := range o.thinned.like {
		if like != noParent {
			o.typeOf.set(o.thinned.first+uint32(shape), o.TypeOf(like))
		}
	}
}

// graph is HeapCopy.Graph of what was kept. The process is read once more, all of its pointers:
// what those that were left out lead to.
func (t *thinner) graph(ctx context.Context, variables []gobin.Variable, threads []Thread) (*Objects, error) {
	c := t.c
	t.layOut()
	first := c.heap.first[t.standIn] / 64
	for w := range uint64(maxShapes / 64) {
		t.kept[first+w] = ^uint64(0)
	}
	c.heap.unmarked, c.heap.young = t.kept, t.young
	o, err := numberObjects(c.heap, c.headers)
	if err != nil {
		return nil, fmt.Errorf("the sample's objects: %w", err)
	}
	o.pages[len(o.pages)-1] = nil // nothing points to stand-ins
	o.copy, o.far, o.Types = c, make(map[uint32]uint32), t.masks.types
	o.thinned = &Thinned{Kept: uint64(len(t.order)), first: o.firstOf(t.standIn), thin: t}
	var rest leftOut
	if err := rest.read(ctx, t, o); err != nil {
		return nil, fmt.Errorf("the pointers of what was left out: %w", err)
	}
	sc := scanner{o: o, c: c, types: o.Types, pools: findPools(o, c)}
	sc.scanKept(t, &rest)
	ro := rooter{o: o, c: c, types: o.Types, variables: variables, threads: threads, own: sc.own, ps: sc.ps, pools: sc.pools}
	if err := ro.roots(); err != nil {
		return nil, fmt.Errorf("the sample's roots: %w", err)
	}
	t.weigh(o, &rest)
	o.thinned.thin, t.order = nil, nil
	return o, nil
}

// within is where in the copy of its span an object begins. Those of a sample lie one behind the other.
func (o *Objects) within(s *objectSpan, id uint32, at uint64) int {
	if o.copy.thin != nil {
		return int(id-s.first) * int(s.elemsize)
	}
	return int(at - s.start)
}

// scanKept is scan of what was kept, with the stand-ins behind it.
func (sc *scanner) scanKept(t *thinner, rest *leftOut) {
	o := sc.o
	sc.ownRoots()
	o.First = make([]uint32, 1, o.Count-o.Leaves+1+len(sc.c.goroutines)*2+1<<16)
	for i := range t.standIn {
		s := &o.spans[i]
		id := o.firstOf(i)
		for at := s.place / 64; at < s.place/64+(uint32(s.nelems)+63)/64; at++ {
			for in := o.places[at].bits; in != 0; in &= in - 1 {
				last := uint32(0)
				t.each(t.known, i, uint64(at*64-s.place)+lowest(in), o.contents(id), func(slot uint32, p uint64) {
					if sc.keep(id, slot-last, p) {
						last = slot
					}
				})
				o.First = append(o.First, uint32(len(o.To)))
				id++
			}
		}
	}
	for shape := range uint32(maxShapes) {
		for to := range uint32(len(t.shapes.all)) {
			if rest.leads(shape, to) {
				o.To, o.slot = append(o.To, o.thinned.first+to), append(o.slot, 0)
			}
		}
		for _, to := range rest.to[shape] {
			o.To, o.slot = append(o.To, to), append(o.slot, 0)
		}
		o.First = append(o.First, uint32(len(o.To)))
	}
}

// keep notes a pointer of an object, so many words behind the one before, if it is one.
func (sc *scanner) keep(id, behind uint32, p uint64) bool {
	o := sc.o
	to, k, into, ok := o.find(p)
	switch {
	case ok && k.own && sc.own[to/64]>>(to%64)&1 != 0 && id != sc.ps:
		return false
	case !ok:
		if to, ok = o.standInAt(p); !ok {
			return false
		}
	}
	slot := uint16(min(behind, isBehind))
	if behind >= isBehind {
		o.far[uint32(len(o.To))] = behind
	}
	if !o.thinned.isStandIn(to) && into == k.plain {
		slot |= isPlain
	}
	o.To, o.slot = append(o.To, to), append(o.slot, slot)
	return true
}
