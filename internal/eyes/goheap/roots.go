package goheap

import (
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

const (
	// finBlockSize is runtime/mfinal.go's; since Go 1.25 finBlock.
	finBlockSize = 4 << 10
	// specialTail is how much of a special record is looked through for
	// pointers; the largest has 64 bytes.
	specialTail = 64
	maxSpecials = 1 << 26
	// maxFinBlocks bounds the list of those blocks: 1 GiB.
	maxFinBlocks = 1 << 18
)

// sampled is one object of the heap profile.
type sampled struct{ object, bucket uint64 }

// roots marks what the roots point to and returns the sampled objects, which
// the walk over special records finds on the way.
func (mk *marker) roots(r *gomem.Runtime, m *marking) ([]sampled, error) {
	mk.skipWriteBuffers(r, m)
	if err := mk.globals(r, m); err != nil {
		return nil, err
	}
	if err := mk.stacks(r, m); err != nil {
		return nil, err
	}
	if err := mk.finalizerQueue(m); err != nil {
		return nil, err
	}
	return mk.specials(m)
}

// skipWriteBuffers keeps the mark from what the Ps' write barrier buffers were
// left with by the last collection.
func (mk *marker) skipWriteBuffers(r *gomem.Runtime, m *marking) {
	ptr, n, _, err := m.mem.Slice(mk.allp, 8, gomem.MaxPs)
	if err != nil {
		return
	}
	ps, _ := m.mem.Words(nil, ptr, n, m.buf)
	for _, p := range ps {
		m.skip = append(m.skip, area{p + mk.writeBuf.addr, mk.writeBuf.n})
	}
}

// globals marks from the variables of the program and its plugins.
func (mk *marker) globals(r *gomem.Runtime, m *marking) error {
	modules, err := r.Modules().List(m.mem)
	if err != nil {
		return err
	}
	for _, module := range modules {
		images, err := r.Modules().VariablesOf(m.mem, module)
		if err != nil {
			return err
		}
		for _, v := range images {
			if err := m.masked(v.Start, v.End, v.Mask); err != nil {
				return err
			}
		}
	}
	return nil
}

// masked marks from the words that a pointer mask names, a bit each
// (runtime.bitvector).
func (m *marking) masked(start, end, mask uint64) error {
	bits := make([]byte, len(m.buf)/64)
	for start < end {
		n := min(end-start, uint64(len(m.buf)))
		bits := bits[:(n/8+7)/8]
		if err := m.mem.Read(start, m.buf[:n]); err != nil {
			return err
		}
		if err := m.mem.Read(mask, bits); err != nil {
			return err
		}
		for i := range n / 8 {
			if bits[i/8]>>(i%8)&1 != 0 {
				m.point(gomem.Word(m.buf, 8*i))
			}
		}
		start, mask = start+n, mask+uint64(len(bits))
	}
	return m.ctx.Err()
}

// maxPrecise bounds the stacks that are read by the compiler's maps, as they are read
// in one piece. Of deeper ones, an endless recursion's, all words count.
const maxPrecise = 16 << 20

// mostPrecise bounds the goroutines of which that is done: with 165,000 the mark did not
// end within the two seconds that a dying process has. Of more, all words of all stacks
// count.
const mostPrecise = 5000

// stacks marks from every goroutine's stack: from what is alive of it, and from all of
// it where that cannot be told.
func (mk *marker) stacks(r *gomem.Runtime, m *marking) error {
	all, err := r.ReadGoroutines()
	if err != nil {
		return err
	}
	var precise *gomem.StackReader
	if len(all) <= mostPrecise {
		precise = gomem.NewStackReader(r, m.mem, new(gomem.StackFrames))
		precise.Label = func(uint64) uint32 { return 0 }
		precise.Point = func(_ uint32, p uint64) { m.point(p) }
	}
	err = gomem.EachBegin(m.mem, m.buf, all, func(g *gomem.Goroutine, begin []byte) error { return mk.stack(m, g, begin, precise) })
	if err != nil {
		return err
	}
	return m.ctx.Err()
}

// stack marks from one goroutine's stack, of which begin is read already. precise is nil
// where all words count.
func (mk *marker) stack(m *marking, g *gomem.Goroutine, begin []byte, precise *gomem.StackReader) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	if g.Lo > g.Hi || g.Hi-g.Lo > maxStack {
		return nil
	}
	if precise != nil && g.Stands() && g.Hi-g.SP <= maxPrecise {
		b := begin
		if n := g.Hi - g.SP; uint64(len(b)) < n {
			precise.Buf = slices.Grow(precise.Buf[:0], int(n))[:n]
			b = precise.Buf
			if m.mem.Read(g.SP, b) != nil {
				b = nil
			}
		}
		if precise.Live(g, b, nil) {
			return nil
		}
	}
	if g.Stands() && uint64(len(begin)) == g.Hi-g.SP {
		m.scan(g.SP, begin)
		return nil
	}
	from := g.SP
	if g.Status == gomem.StatusRunning || from < g.Lo || from > g.Hi {
		from = g.Lo
	}
	return m.words(from&^7, g.Hi)
}

// words marks from every word of [start, end), of which what cannot be read is
// left out.
func (m *marking) words(start, end uint64) error {
	for start < end {
		n := min(end-start, uint64(len(m.buf)))
		if m.mem.Read(start, m.buf[:n]) != nil {
			return m.ctx.Err()
		}
		m.scan(start, m.buf[:n])
		start += n
	}
	return m.ctx.Err()
}

// finalizerQueue marks from finalizers that wait to be run.
func (mk *marker) finalizerQueue(m *marking) error {
	block, err := m.mem.U64(mk.finBlocks)
	for n := 0; err == nil && block != 0 && n < maxFinBlocks; n++ {
		if err = m.words(block, block+finBlockSize); err == nil {
			block, err = m.mem.U64(block) // alllink
		}
	}
	return err
}

// specials walks the special records of all objects. It collects the heap
// profile's and marks from the others. What an object with a finalizer points
// to lives, the object itself does not for that (runtime/mgcmark.go,
// markrootSpans).
func (mk *marker) specials(m *marking) (found []sampled, err error) {
	near := gomem.NewCursor(m.mem)
	var b [specialTail]byte
	total := 0
	for i := range m.heap.spans {
		s := &m.heap.spans[i]
		for at := s.Specials; at != 0; at = gomem.Word(b[:], mk.specialNext) {
			if total++; total > maxSpecials {
				return nil, errHeapTooLarge
			}
			if err := near.Read(at, b[:]); err != nil {
				return nil, err
			}
			object := s.Start + mk.specialOff.Of(b[:])
			switch uint64(b[mk.specialKind]) {
			case mk.profileKind:
				found = append(found, sampled{object, gomem.Word(b[:], mk.bucket)})
				continue
			case mk.finalizer:
				if object < s.End && !s.NoScan && s.ElemSize > 0 {
					if err := m.words(object&^7, min(object+s.ElemSize, s.End)); err != nil {
						return nil, err
					}
				}
			}
			for off := mk.bucket; off < specialTail; off += 8 {
				m.point(gomem.Word(b[:], off))
			}
		}
		if i%1024 == 0 && m.ctx.Err() != nil {
			return nil, m.ctx.Err()
		}
	}
	return found, nil
}
