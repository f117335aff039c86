package gomem

import "slices"

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
func (mk *marker) roots(r *Runtime, m *marking) ([]sampled, error) {
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
func (mk *marker) skipWriteBuffers(r *Runtime, m *marking) {
	ptr, n, _, err := m.mem.slice(mk.allp, 8, maxPs)
	if err != nil {
		return
	}
	ps, _ := m.mem.words(nil, ptr, n, m.buf)
	for _, p := range ps {
		m.skip = append(m.skip, area{p + mk.writeBuf.addr, mk.writeBuf.n})
	}
}

// globals marks from the variables of the program and its plugins.
func (mk *marker) globals(r *Runtime, m *marking) error {
	modules, err := r.modules.list(m.mem)
	if err != nil {
		return err
	}
	for _, module := range modules {
		images, err := r.modules.variablesOf(m.mem, module)
		if err != nil {
			return err
		}
		for _, v := range images {
			if err := m.masked(v.start, v.end, v.mask); err != nil {
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
		if err := m.mem.read(start, m.buf[:n]); err != nil {
			return err
		}
		if err := m.mem.read(mask, bits); err != nil {
			return err
		}
		for i := range n / 8 {
			if bits[i/8]>>(i%8)&1 != 0 {
				m.point(word(m.buf, 8*i))
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
func (mk *marker) stacks(r *Runtime, m *marking) error {
	all, err := r.readGoroutines()
	if err != nil {
		return err
	}
	var precise *stackReader
	if len(all) <= mostPrecise {
		precise = newStackReader(r, m.mem, new(StackFrames))
		precise.label = func(uint64) uint32 { return 0 }
		precise.point = func(_ uint32, p uint64) { m.point(p) }
	}
	err = eachBegin(m.mem, m.buf, all, func(g *goroutine, begin []byte) error { return mk.stack(m, g, begin, precise) })
	if err != nil {
		return err
	}
	return m.ctx.Err()
}

// stack marks from one goroutine's stack, of which begin is read already. precise is nil
// where all words count.
func (mk *marker) stack(m *marking, g *goroutine, begin []byte, precise *stackReader) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	if g.lo > g.hi || g.hi-g.lo > maxStack {
		return nil
	}
	if precise != nil && g.stands() && g.hi-g.sp <= maxPrecise {
		b := begin
		if n := g.hi - g.sp; uint64(len(b)) < n {
			precise.buf = slices.Grow(precise.buf[:0], int(n))[:n]
			b = precise.buf
			if m.mem.read(g.sp, b) != nil {
				b = nil
			}
		}
		if precise.live(g, b, nil) {
			return nil
		}
	}
	if g.stands() && uint64(len(begin)) == g.hi-g.sp {
		m.scan(g.sp, begin)
		return nil
	}
	from := g.sp
	if g.status == statusRunning || from < g.lo || from > g.hi {
		from = g.lo
	}
	return m.words(from&^7, g.hi)
}

// words marks from every word of [start, end), of which what cannot be read is
// left out.
func (m *marking) words(start, end uint64) error {
	for start < end {
		n := min(end-start, uint64(len(m.buf)))
		if m.mem.read(start, m.buf[:n]) != nil {
			return m.ctx.Err()
		}
		m.scan(start, m.buf[:n])
		start += n
	}
	return m.ctx.Err()
}

// finalizerQueue marks from finalizers that wait to be run.
func (mk *marker) finalizerQueue(m *marking) error {
	block, err := m.mem.u64(mk.finBlocks)
	for n := 0; err == nil && block != 0 && n < maxFinBlocks; n++ {
		if err = m.words(block, block+finBlockSize); err == nil {
			block, err = m.mem.u64(block) // alllink
		}
	}
	return err
}

// specials walks the special records of all objects. It collects the heap
// profile's and marks from the others. What an object with a finalizer points
// to lives, the object itself does not for that (runtime/mgcmark.go,
// markrootSpans).
func (mk *marker) specials(m *marking) (found []sampled, err error) {
	near := newCursor(m.mem)
	var b [specialTail]byte
	total := 0
	for i := range m.heap.spans {
		s := &m.heap.spans[i]
		for at := s.specials; at != 0; at = word(b[:], mk.specialNext) {
			if total++; total > maxSpecials {
				return nil, errHeapTooLarge
			}
			if err := near.read(at, b[:]); err != nil {
				return nil, err
			}
			object := s.start + mk.specialOff.of(b[:])
			switch uint64(b[mk.specialKind]) {
			case mk.profileKind:
				found = append(found, sampled{object, word(b[:], mk.bucket)})
				continue
			case mk.finalizer:
				if object < s.end && !s.noscan && s.elemsize > 0 {
					if err := m.words(object&^7, min(object+s.elemsize, s.end)); err != nil {
						return nil, err
					}
				}
			}
			for off := mk.bucket; off < specialTail; off += 8 {
				m.point(word(b[:], off))
			}
		}
		if i%1024 == 0 && m.ctx.Err() != nil {
			return nil, m.ctx.Err()
		}
	}
	return found, nil
}
