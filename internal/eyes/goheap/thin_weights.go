package goheap

import (
	"math"
	"math/bits"
)

// weigh says for how many objects each stands. An object was kept with its own chance, once one
// that leads to it was: with each that does, there is another way. The sums of shapes are then
// made what they are known to be: the last collection has left so many objects of each.
func (t *thinner) weigh(o *Objects, rest *leftOut) {
	ids := make([]uint32, len(t.order))
	for i := range t.order {
		at := t.order[i].place
		w := &o.places[at/64]
		ids[i] = w.rank + uint32(bits.OnesCount64(w.bits&(1<<(at%64)-1)))
	}
	weights := t.weights(o, rest, ids)
	scale := t.scales(o, rest, ids, weights)
	th := o.thinned
	th.stands, th.group, th.shape = make([]uint32, o.Count), make([]uint8, o.Count), make([]uint16, o.Count)
	for i := range t.order {
		w := weights[i] * scale[t.order[i].shape]
		whole := math.Floor(w)
		chosen := scramble(uint64(t.order[i].place) ^ ^t.key)
		if w-whole > float64(chosen>>11)/(1<<53) { // so that sums are right
			whole++
		}
		th.stands[ids[i]] = uint32(min(whole, math.MaxUint32))
		th.shape[ids[i]] = t.order[i].shape
		th.group[ids[i]] = t.groupOf(i, ids, weights, th.group, chosen)
	}
	copy(th.stands[th.first:], th.missed)
	for shape := range uint32(maxShapes) {
		th.group[th.first+shape], th.shape[th.first+shape] = Groups, uint16(shape)
	}
	for i := range t.c.heap.spans {
		if i != t.standIn {
			s := &t.c.heap.spans[i]
			n := t.count(i, t.allocated)
			th.Objects += n
			rest.bytes += n * s.ElemSize
		}
	}
	o.Bytes = rest.bytes
}

// groupOf is that of what led to an object, if that stands for others, and else one of its own.
func (t *thinner) groupOf(i int, ids []uint32, weights []float64, group []uint8, chosen uint64) uint8 {
	if up := t.order[i].parent; up != noParent && weights[up] > 1 {
		return group[ids[up]]
	}
	if weights[i] == 1 {
		return Groups
	}
	return uint8(chosen % Groups)
}

// weights is one through the chance of each to be kept.
func (t *thinner) weights(o *Objects, rest *leftOut, ids []uint32) []float64 {
	at := make([]uint32, o.Count) // in order
	for i, id := range ids {
		at[id] = uint32(i)
	}
	best := make([]float64, len(ids)) // the least weight of what leads there
	for i := range best {
		best[i] = math.Inf(1)
	}
	weights := make([]float64, len(ids))
	for k := range o.Roots {
		for e, end := o.Pointers(uint32(o.Count + k)); e < end; e++ {
			if to := o.To[e]; !o.thinned.isStandIn(to) {
				best[at[to]] = 1
			}
		}
	}
	ways := o.countWays(rest.ways, ids)
	for range 4 {
		for i, id := range ids {
			own := math.Ldexp(1, int(t.order[i].halved))
			w := best[i]
			if math.IsInf(w, 1) {
				w = 1
				if up := t.order[i].parent; up != noParent {
					w = max(weights[up], 1)
				}
			}
			n := float64(max(ways[id], 1))
			weights[i] = own
			if w > 1 {
				weights[i] = own / -math.Expm1(n*math.Log1p(-1/w))
			}
			for e, end := o.Pointers(id); e < end; e++ {
				if to := o.To[e]; !o.thinned.isStandIn(to) {
					best[at[to]] = min(best[at[to]], weights[i])
				}
			}
		}
	}
	return weights
}

func (t *Thinned) isStandIn(id uint32) bool { return id-t.first < maxShapes }

// countWays adds to the objects that lead to each those that were kept.
func (o *Objects) countWays(ways, ids []uint32) []uint32 {
	last := make([]uint32, o.Count) // 1 + the object that was counted last as a way
	for _, id := range ids {
		for e, end := o.Pointers(id); e < end; e++ {
			if to := o.To[e]; last[to] != id+1 {
				ways[to]++
				last[to] = id + 1
			}
		}
	}
	return ways
}

// scales is by how much the objects of each shape have to be more, so that those that were there
// before the last collection are as many as that has left.
func (t *thinner) scales(o *Objects, rest *leftOut, ids []uint32, weights []float64) []float64 {
	for i := range t.c.heap.spans {
		if s := &t.c.heap.spans[i]; s.NoScan && i != t.standIn {
			n := t.count(i, t.allocated) - t.count(i, t.young)
			shape := t.shapeOf(i, 0)
			rest.old[shape] += n
			rest.oldBytes[shape] += n * s.ElemSize
		}
	}
	sum, scale := make([]float64, maxShapes), make([]float64, maxShapes)
	several := make([]bool, maxShapes) // some stand for others
	th := o.thinned
	th.like, th.bytes, th.missed = make([]uint32, maxShapes), make([]uint64, maxShapes), make([]uint32, maxShapes)
	for shape := range th.like {
		th.like[shape] = noParent
	}
	for i, id := range ids {
		shape := t.order[i].shape
		several[shape] = several[shape] || weights[i] > 1
		th.like[shape] = id
		if !o.Young(id) {
			sum[shape] += weights[i]
		}
	}
	for shape := range scale {
		scale[shape] = 1
		switch n := float64(rest.old[shape]); {
		case n > sum[shape]*mostScaled:
			th.leave(shape, n-sum[shape], float64(rest.oldBytes[shape])/n)
		case several[shape] && n > 0:
			scale[shape] = n / sum[shape]
		}
	}
	return scale
}

// leave notes objects that their stand-in stands for.
func (t *Thinned) leave(shape int, missed, size float64) {
	t.missed[shape], t.bytes[shape] = uint32(min(missed, math.MaxUint32)), uint64(missed*size)
}

// count is how many places of a span are in a bitmap.
func (t *thinner) count(i int, of []uint64) (n uint64) {
	s := &t.c.heap.spans[i]
	for _, w := range of[t.c.heap.first[i]/64:][:(s.NElems+63)/64] {
		n += uint64(bits.OnesCount64(w))
	}
	return n
}
