package goheap

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
)

// leftOut is what is known of objects that were left out: what their pointers lead to, and how
// many there are. The program may run while they are read.
type leftOut struct {
	ways          []uint32   // by id: how many objects that were left out lead there
	to            [][]uint32 // by shape: ids of objects to which some of it lead
	shapes        []uint64   // a bit for each shape that one leads to, maxShapes for each
	old, oldBytes []uint64   // by shape, of all: what the last collection has left
	bytes         uint64     // of all that are allocated
	unread        atomic.Int64
}

// leads says whether some of a shape lead to some of another that were left out.
func (l *leftOut) leads(from, to uint32) bool {
	return l.shapes[from*maxShapes/64+to/64]>>(to%64)&1 != 0
}

// read reads the contents of all spans with pointers once, none of which is kept.
func (l *leftOut) read(ctx context.Context, t *thinner, o *Objects) error {
	n := workers()
	readers := make([]restReader, n)
	var next atomic.Int64
	parallel(n, func(w int) {
		r := &readers[w]
		*r = restReader{l: l, t: t, o: o, known: make(map[uint64]*typeMask),
			ways: make([]uint32, o.Count), to: make([][]uint32, maxShapes), leads: make([]uint64, maxShapes*maxShapes/64),
			old: make([]uint64, maxShapes), oldBytes: make([]uint64, maxShapes)}
		for ctx.Err() == nil {
			from := int(next.Add(spansAtOnce)) - spansAtOnce
			if from >= t.standIn {
				return
			}
			r.spans(from, min(from+spansAtOnce, t.standIn))
		}
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.join(readers)
	if int(l.unread.Load())*10 > t.standIn {
		return errors.New("most of the heap could not be read any more")
	}
	return nil
}

// spansAtOnce is how many spans a thread takes at a time, most of which are of 8 KiB.
const spansAtOnce = 256

// join sums what the threads have found.
func (l *leftOut) join(all []restReader) {
	l.ways, l.shapes, l.old, l.oldBytes = all[0].ways, all[0].leads, all[0].old, all[0].oldBytes
	l.to = make([][]uint32, maxShapes)
	for w := range all {
		r := &all[w]
		for shape, ids := range r.to {
			l.to[shape] = append(l.to[shape], ids...)
		}
		if w == 0 {
			continue
		}
		add(l.ways, r.ways)
		add(l.old, r.old)
		add(l.oldBytes, r.oldBytes)
		for i, b := range r.leads {
			l.shapes[i] |= b
		}
	}
	for shape := range l.to {
		l.to[shape] = distinctIDs(l.to[shape])
	}
}

func distinctIDs(ids []uint32) []uint32 {
	slices.Sort(ids)
	return slices.Compact(ids)
}

func add[N uint32 | uint64](to, from []N) {
	for i, n := range from {
		to[i] += n
	}
}

// restReader is one thread of ours.
type restReader struct {
	l      *leftOut
	t      *thinner
	o      *Objects
	known  map[uint64]*typeMask
	shapes recentShapes
	buf    []byte
	pieces [][2]uint64

	ways          []uint32
	to            [][]uint32
	leads         []uint64
	old, oldBytes []uint64
	recent        [4]uint32 // what the object that is read has led to
	nth           int
}

// spans reads some, as many at once as make a batch.
func (r *restReader) spans(from, end int) {
	all := r.t.c.heap.spans
	for from < end {
		if s := &all[from]; s.ElemSize >= alwaysKept { // what is not kept of these is garbage
			if r.t.allocated[r.t.c.heap.first[from]/64]&1 != 0 && r.t.young[r.t.c.heap.first[from]/64]&1 == 0 {
				r.count(r.shapes.number(r.t, r.t.shape(from, 0)), s.ElemSize)
			}
			from++
			continue
		}
		first, n := from, uint64(0)
		r.pieces = r.pieces[:0]
		for ; from < end && all[from].ElemSize < alwaysKept && (n == 0 || n+all[from].Size() <= 1<<20); from++ {
			r.pieces = append(r.pieces, [2]uint64{all[from].Start, all[from].End})
			n += all[from].Size()
		}
		if uint64(cap(r.buf)) < n {
			r.buf = make([]byte, n)
		}
		b := r.buf[:n]
		if r.t.c.mem.ReadPieces(b, r.pieces) != nil {
			r.l.unread.Add(int64(from - first))
			continue
		}
		for i := first; i < from; i++ {
			r.span(i, b[:all[i].Size()])
			b = b[all[i].Size():]
		}
	}
}

// span goes through the objects of one.
func (r *restReader) span(i int, b []byte) {
	t := r.t
	s, first := &t.c.heap.spans[i], t.c.heap.first[i]
	for w := range (s.NElems + 63) / 64 {
		at := first/64 + w
		for in := t.allocated[at]; in != 0; in &= in - 1 {
			bit := lowest(in)
			k := 64*w + bit
			shape := r.shapes.number(t, t.shape(i, k))
			if t.young[at]>>bit&1 == 0 {
				r.count(shape, s.ElemSize)
			}
			if t.kept[at]>>bit&1 == 0 {
				r.recent, r.nth = [4]uint32{noParent, noParent, noParent, noParent}, 0
				t.each(r.known, i, k, b[k*s.ElemSize:][:s.ElemSize], func(_ uint32, p uint64) { r.pointer(shape, p) })
			}
		}
	}
}

// count counts an object that the last collection has left.
func (r *restReader) count(shape uint16, size uint64) {
	r.old[shape]++
	r.oldBytes[shape] += size
}

// pointer notes one of an object that was left out.
func (r *restReader) pointer(shape uint16, p uint64) {
	t := r.t
	if id, _, _, ok := r.o.find(p); ok {
		if r.recent[0] == id || r.recent[1] == id || r.recent[2] == id || r.recent[3] == id {
			return // the same object leads there, by another field
		}
		r.recent[r.nth%4] = id
		r.nth++
		r.ways[id]++
		if to := &r.to[shape]; len(*to) == 0 || (*to)[len(*to)-1] != id {
			if *to = append(*to, id); len(*to) == cap(*to) && len(*to) > 1<<16 {
				*to = distinctIDs(*to)
			}
		}
		return
	}
	i, place, ok := t.find(p)
	if !ok || t.allocated[place/64]>>(place%64)&1 == 0 {
		return
	}
	to := r.shapes.number(t, t.shape(i, place-t.c.heap.first[i]))
	r.leads[int(shape)*maxShapes/64+int(to)/64] |= 1 << (to % 64)
}
