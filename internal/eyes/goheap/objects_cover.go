package goheap

import "github.com/highwater-go/highwater/internal/eyes/gomem"

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
	if sl.kind == slotSlice && sl.size >= 8 && elements > 0 && (k.elemsize == 0 || k.elemsize >= minHeaded) {
		ty.heads.note(id, into/sl.size)
	}
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

// minHeaded is the smallest array of which it is noted where the slices in it begin.
const minHeaded = 1 << 10

// heads is how many elements of an array come before the first that a slice has: a queue from whose front
// elements were taken, as queue = queue[1:] does, begins so. Arrays of bytes are left out, as texts are cut everywhere.
type heads struct {
	before map[uint32]uint64 // more than 0
	whole  []uint64          // a bit an object: a slice has its first element
}

func (h *heads) note(id uint32, before uint64) {
	if h.whole[id/64]>>(id%64)&1 != 0 {
		return
	}
	if before == 0 {
		h.whole[id/64] |= 1 << (id % 64)
		delete(h.before, id)
		return
	}
	if least, ok := h.before[id]; !ok && len(h.before) < maxListed || before < least {
		h.before[id] = before
	}
}

// headIn notes where a slice begins whose place has no type, by the words from its pointer into the array to on: the
// pointer, a length, and a capacity that is what the array has from there on, less what a size class leaves unused.
func (ty *typer) headIn(to uint32, b []byte) {
	o := ty.o
	if len(b) < 24 {
		return
	}
	id, k, into, ok := o.find(gomem.Word(b, 0))
	elem := uint64(ty.types.all[o.TypeOf(to).index()].size)
	if !ok || id != to || into < k.header || elem < 8 || k.elemsize != 0 && k.elemsize < minHeaded {
		return
	}
	size := k.elemsize
	if size == 0 {
		size = o.Size(to)
	}
	left := (size - into) / elem
	if length, room := gomem.Word(b, 8), gomem.Word(b, 16); length > 0 && length <= room && room <= left && (left-room)*elem <= size/8 {
		ty.heads.note(to, (into-k.header)/elem)
	}
}

// isArray says whether an object is known to be an array of values.
func (ty *typer) isArray(id uint32) bool {
	return id < uint32(ty.o.Count) && ty.isTyped(id) && ty.types.IsArray(ty.o.TypeOf(id))
}
