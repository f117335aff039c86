package goheap

// minCovered is the smallest object of which it is noted how much of it is in reach:
// of a smaller one so much cannot be out of reach that it is listed.
const minCovered = minWasted

// coverage is how much of an object's bytes the slices and strings that lead to it
// can reach: a short substring keeps the whole text, a slice cut at its head all
// that went before.
type coverage struct {
	lo, hi uint64 // within reach, from the object's start
	len    uint64 // bytes, of the longest slice
	slice  bool
}

// wastes says whether much of an object of a size is out of reach.
func (c *coverage) wastes(size uint64) bool {
	out := size - min(size, c.hi-c.lo)
	return out >= minWasted && out > size/4
}

// cover notes a slice or string of so many elements that leads into an object. Of one
// that is in reach as most are, which no further pointer changes, it notes only that.
func (ty *typer) cover(id uint32, k *spanKind, sl *slot, into, elements uint64) {
	if k.elemsize != 0 && k.elemsize < minCovered || elements > 1<<40 || ty.reached[id/64]>>(id%64)&1 != 0 {
		return
	}
	size := k.elemsize
	if size == 0 {
		size = ty.o.Size(id)
	}
	n := elements * sl.size
	c, ok := ty.covers[id]
	if !ok {
		c = coverage{lo: into, hi: into + n}
	}
	c.lo, c.hi = min(c.lo, into), max(c.hi, into+n)
	c.len = max(c.len, n)
	c.slice = c.slice || sl.kind == slotSlice
	if c.wastes(size) {
		ty.covers[id] = c
		return
	}
	ty.reached[id/64] |= 1 << (id % 64)
	if ok {
		delete(ty.covers, id)
	}
}
