package gomem

import (
	"context"
	"slices"
)

// maxCached bounds the span contents that a mark keeps, 64 MiB.
const maxCached = 64 << 20

// marking is one mark. Work is queued by span, not by object: all objects of a
// span that were reached meanwhile are scanned in one reading of it.
type marking struct {
	heap *heapMap
	mem  memory
	ctx  context.Context
	buf  []byte
	skip []span // addresses that hold no pointers, whatever they look like

	pending []uint64 // objects that were reached and are yet to be scanned
	queued  []bool   // by span
	queue   []int32

	cache   spanCache
	objects uint64
	bytes   uint64
	large   uint64 // of them, in objects larger than a page
}

// point marks the object that p points into, if there is one.
func (m *marking) point(p uint64) {
	if p < 1<<16 || p >= 1<<48 {
		return
	}
	i, object, ok := m.heap.find(p)
	if !ok || !m.heap.take(object) {
		return
	}
	s := &m.heap.spans[i]
	m.objects++
	m.bytes += s.elemsize
	if s.elemsize > pageOfKernel {
		m.large += s.elemsize
	}
	if s.noscan {
		return
	}
	if m.pending == nil {
		m.pending = make([]uint64, len(m.heap.unmarked))
		m.queued = make([]bool, len(m.heap.spans))
	}
	m.pending[object/64] |= 1 << (object % 64)
	if !m.queued[i] {
		m.queued[i] = true
		m.queue = append(m.queue, int32(i))
	}
}

// scan marks what the words of b, which lie at addr, point to.
func (m *marking) scan(addr uint64, b []byte) {
	for _, s := range m.skip {
		if s.addr < addr+uint64(len(b)) && addr < s.addr+s.n {
			m.scanAround(addr, b, s)
			return
		}
	}
	for ; len(b) >= 8; b = b[8:] {
		if p := word(b, 0); p != 0 {
			m.point(p)
		}
	}
}

// scanAround is scan without the words of s.
func (m *marking) scanAround(addr uint64, b []byte, s span) {
	for i := uint64(0); i+8 <= uint64(len(b)); i += 8 {
		if a := addr + i; a < s.addr || a >= s.addr+s.n {
			m.point(word(b, i))
		}
	}
}

// drain scans until nothing is left.
func (m *marking) drain() error {
	for n := 0; len(m.queue) > 0; n++ {
		i := m.queue[0]
		if m.queue = m.queue[1:]; n%64 == 0 && m.ctx.Err() != nil {
			return m.ctx.Err()
		}
		m.queued[i] = false
		if err := m.scanSpan(int(i)); err != nil {
			return err
		}
	}
	return nil
}

// scanSpan scans the pending objects of a span.
func (m *marking) scanSpan(i int) error {
	s := &m.heap.spans[i]
	if s.end-s.start > windowSize || s.elemsize > windowSize {
		return m.scanLarge(i)
	}
	content, err := m.cache.span(i, s)
	if err != nil {
		return err
	}
	m.each(i, func(k uint64) error {
		m.scan(s.start+k*s.elemsize, content[k*s.elemsize:][:s.elemsize])
		return nil
	})
	return nil
}

// scanLarge scans the pending objects of a span that is not kept.
func (m *marking) scanLarge(i int) error {
	s := &m.heap.spans[i]
	return m.each(i, func(k uint64) error {
		return m.words(s.start+k*s.elemsize, s.start+(k+1)*s.elemsize)
	})
}

// each calls fn for the pending objects of a span, also for those that fn adds.
func (m *marking) each(i int, fn func(k uint64) error) error {
	first := m.heap.first[i]
	words := m.pending[first/64:][:(m.heap.spans[i].nelems+63)/64]
	for w := range words {
		for words[w] != 0 {
			bit := lowest(words[w])
			words[w] &^= 1 << bit
			if err := fn(uint64(w)*64 + bit); err != nil {
				return err
			}
		}
	}
	return nil
}

// spanCache keeps the contents of spans that were read, the first of them
// until there are too many.
type spanCache struct {
	mem   memory
	spans map[int][]byte
	order []int
	size  uint64
}

// span is the contents of span i, valid until the next call.
func (c *spanCache) span(i int, s *mspan) ([]byte, error) {
	if b, ok := c.spans[i]; ok {
		return b, nil
	}
	if c.spans == nil {
		c.spans = make(map[int][]byte)
	}
	var b []byte
	for c.size > maxCached {
		b = c.drop()
	}
	n := int(s.end - s.start)
	b = slices.Grow(b[:0], n)[:n]
	if err := c.mem.read(s.start, b); err != nil {
		return nil, err
	}
	c.spans[i] = b
	c.order = append(c.order, i)
	c.size += uint64(len(b))
	return b, nil
}

// drop forgets the oldest span and returns its memory.
func (c *spanCache) drop() []byte {
	oldest := c.order[0]
	c.order = c.order[1:]
	b := c.spans[oldest]
	c.size -= uint64(len(b))
	delete(c.spans, oldest)
	return b
}
