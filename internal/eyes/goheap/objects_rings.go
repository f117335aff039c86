package goheap

// minRing is the smallest number of elements by which an array is known to be a queue's.
const minRing = 64

// ring is which elements of an array lead somewhere, in one pass over its pointers. Those of a queue that clears what is taken from its
// front lie side by side, and begin behind the start of the array, or go on from its end to its start.
type ring struct {
	n           uint64 // elements that lead somewhere
	first, last uint64 // of those
	gaps        int    // between them
	gap         uint64 // elements in the last gap
	gapEnd      uint64 // the first behind it
}

// note takes in an element that leads somewhere, in ascending order; one that leads to several places may come more than once.
func (r *ring) note(element uint64) {
	switch {
	case r.n == 0:
		r.first = element
	case element == r.last:
		return
	case element != r.last+1:
		r.gaps++
		r.gap, r.gapEnd = element-r.last-1, element
	}
	r.n++
	r.last = element
}

// head is how many elements come before the first in the queue, in an array with room for so many: they were taken from it since it
// came to the array, or since its first element last lay at the start. 0: the array is not known to be a queue's.
func (r *ring) head(room uint64) uint64 {
	switch {
	case r.n < minRing:
	case r.gaps == 0:
		return r.first
	case r.gaps == 1 && r.first == 0 && r.last >= room-room/8-1 && r.gap*64 >= r.n: // what is free lies in its middle
		return r.gapEnd
	}
	return 0
}

// room is how many values an array of so many bytes has room for.
func (in *holding) room(size uint64) uint64 {
	return max(size/8-min(size/8, in.before), 1) / max(1, in.size)
}
