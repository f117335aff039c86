package goheap

import (
	"context"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

// maxCached bounds the span contents that a mark keeps, 64 MiB.
const maxCached = 64 << 20

// area is n bytes of a process's memory.
type area struct{ addr, n uint64 }

// marking is one mark. Work is queued by span, not by object: all objects of a
// span that were reached meanwhile are scanned in one reading of it.
type marking struct {
	heap *heapMap
	mem  gomem.Memory
	ctx  context.Context
	buf  []byte
	skip []area // addresses that hold no pointers, whatever they look like

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
	m.bytes += s.ElemSize
	if s.ElemSize > pageOfKernel {
		m.large += s.ElemSize
	}
	if s.NoScan {
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
		if p := gomem.Word(b, 0); p != 0 {
			m.point(p)
		}
	}
}

// scanAround is scan without the words of s.
func (m *marking) scanAround(addr uint64, b []byte, s area) {
	for i := uint64(0); i+8 <= uint64(len(b)); i += 8 {
		if a := addr + i; a < s.addr || a >= s.addr+s.n {
			m.point(gomem.Word(b, i))
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
	if s.End-s.Start > gomem.WindowSize || s.ElemSize > gomem.WindowSize {
		return m.scanLarge(i)
	}
	content, err := m.cache.span(i)
	if err != nil {
		return err
	}
	m.each(i, func(k uint64) error {
		m.scan(s.Start+k*s.ElemSize, content[k*s.ElemSize:][:s.ElemSize])
		return nil
	})
	return nil
}

// scanLarge scans the pending objects of a span that is not kept.
func (m *marking) scanLarge(i int) error {
	s := &m.heap.spans[i]
	return m.each(i, func(k uint64) error {
		return m.words(s.Start+k*s.ElemSize, s.Start+(k+1)*s.ElemSize)
	})
}

// each calls fn for the pending objects of a span, also for those that fn adds.
func (m *marking) each(i int, fn func(k uint64) error) error {
	first := m.heap.first[i]
	words := m.pending[first/64:][:(m.heap.spans[i].NElems+63)/64]
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
	mem     gomem.Memory
	heap    *heapMap
	spans   [][]byte // by span; nil: not kept
	groups  []spanGroup
	size    uint64
	dropped bool
	pieces  [][2]uint64
}

// spanGroup is spans that were read by one call, into one piece of our memory.
type spanGroup struct {
	content []byte
	spans   []int32
}

// groupSize is how much is read at once: of spans of 8 KiB each, reading one at a time took most of a mark.
const groupSize = 256 << 10

// span is the contents of span i, valid until the next call.
func (c *spanCache) span(i int) ([]byte, error) {
	if c.spans == nil {
		c.spans = make([][]byte, len(c.heap.spans))
	}
	if b := c.spans[i]; b != nil {
		return b, nil
	}
	var g spanGroup
	for c.size > maxCached {
		g = c.drop()
	}
	c.plan(&g, i)
	if c.read(&g) != nil { // something of it is not there
		c.only(&g, i)
		if err := c.read(&g); err != nil {
			return nil, err
		}
	}
	at := uint64(0)
	for _, k := range g.spans {
		n := c.heap.spans[k].Size()
		c.spans[k] = g.content[at : at+n : at+n]
		at += n
	}
	c.groups = append(c.groups, g)
	c.size += at
	return c.spans[i], nil
}

// plan has a span read with those that follow it, unless not all of them can be kept: then each
// might be read many times.
func (c *spanCache) plan(g *spanGroup, i int) {
	c.only(g, i)
	if c.dropped {
		return
	}
	size := c.heap.spans[i].Size()
	for k := i + 1; k < len(c.heap.spans); k++ {
		s := &c.heap.spans[k]
		if size += s.Size(); s.NoScan || size > groupSize || s.Size() > gomem.WindowSize || c.spans[k] != nil {
			return
		}
		g.spans = append(g.spans, int32(k))
		if last := &c.pieces[len(c.pieces)-1]; last[1] == s.Start {
			last[1] = s.End
		} else {
			c.pieces = append(c.pieces, [2]uint64{s.Start, s.End})
		}
	}
}

// only has one span read.
func (c *spanCache) only(g *spanGroup, i int) {
	g.spans = append(g.spans[:0], int32(i))
	c.pieces = append(c.pieces[:0], [2]uint64{c.heap.spans[i].Start, c.heap.spans[i].End})
}

// read reads what is planned.
func (c *spanCache) read(g *spanGroup) error {
	n := 0
	for _, p := range c.pieces {
		n += int(p[1] - p[0])
	}
	g.content = slices.Grow(g.content[:0], n)[:n]
	if len(c.pieces) == 1 {
		return c.mem.Read(c.pieces[0][0], g.content)
	}
	return c.mem.ReadPieces(g.content, c.pieces)
}

// drop forgets the spans that were read first and returns their memory.
func (c *spanCache) drop() spanGroup {
	oldest := c.groups[0]
	c.groups = c.groups[1:]
	for _, k := range oldest.spans {
		c.size -= uint64(len(c.spans[k]))
		c.spans[k] = nil
	}
	c.dropped = true
	return oldest
}
