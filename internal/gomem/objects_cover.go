package gomem

// minCovered is the smallest object of which it is noted how much of it is in
// reach.
const minCovered = 1 << 10

// Coverage is how much of an object's bytes the slices and strings that lead to it
// can reach: a short substring keeps the whole text, a slice cut at its head all
// that went before.
type Coverage struct {
	Object   uint32
	Lo, Hi   uint64 // within reach, from the object's start
	Len, Cap uint64 // bytes, of the longest slice
	Slice    bool
}

// cover notes a slice or string, the words w[1] and w[2], that leads to an object
// whose content begins at start.
func (ty *typer) cover(id uint32, sl slot, w [3]uint64, start uint64) {
	if w[1] < start || w[2] > 1<<40 {
		return
	}
	n := w[2] * sl.size
	lo := w[1] - start
	c, ok := ty.o.covers[id]
	if !ok {
		c = Coverage{Object: id, Lo: lo, Hi: lo + n}
	}
	c.Lo, c.Hi = min(c.Lo, lo), max(c.Hi, lo+n)
	c.Len = max(c.Len, n)
	c.Slice = c.Slice || sl.kind == slotSlice
	ty.o.covers[id] = c
}
