package gomem

import (
	"cmp"
	"slices"
)

// stackBegins reads what parked goroutines use of their stacks, many at once: the
// stacks of goroutines that were made one after the other lie beside each other, and a
// read of each takes longer than what is read.
type stackBegins struct {
	mem   Memory
	buf   []byte   // WindowSize
	order []int32  // of the goroutines, by stack pointer
	bytes []byte   // of all
	begin [][]byte // of goroutine i from its stack pointer on, nil: not read
}

// EachBegin passes each goroutine to fn with what was read of its stack, from its stack pointer on, by few reads for
// many: nil where it lies alone or was not read. Begin is valid during
// the call only; buf is memory to read into.
func EachBegin(m Memory, buf []byte, all []Goroutine, fn func(g *Goroutine, begin []byte) error) error {
	begins := stackBegins{mem: m, buf: buf}
	for part := range slices.Chunk(all, batchSize) {
		begins.read(part)
		for i := range part {
			if err := fn(&part[i], begins.begin[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// beginOf is how much of a stack that is, in bytes.
func beginOf(g *Goroutine) uint64 { return min(stackPiece, g.Hi-g.SP) }

// read fills begin. What lies alone, or cannot be read, is left to others.
func (s *stackBegins) read(part []Goroutine) {
	s.order, s.bytes = s.order[:0], s.bytes[:0]
	s.begin = slices.Grow(s.begin[:0], len(part))[:len(part)]
	clear(s.begin)
	for i := range part {
		if part[i].Stands() {
			s.order = append(s.order, int32(i))
		}
	}
	slices.SortFunc(s.order, func(a, b int32) int { return cmp.Compare(part[a].SP, part[b].SP) })
	for left := s.order; len(left) > 0; {
		n := s.window(part, left)
		left = left[n:]
	}
}

// window reads the first of these that lie in one window, and says how many they are.
func (s *stackBegins) window(part []Goroutine, order []int32) int {
	first := part[order[0]].SP
	n, end := 1, first+beginOf(&part[order[0]])
	for ; n < len(order); n++ {
		g := &part[order[n]]
		if g.SP > end+windowGap || g.SP+beginOf(g)-first > uint64(len(s.buf)) {
			break
		}
		end = max(end, g.SP+beginOf(g))
	}
	window := s.buf[:end-first]
	if n == 1 || s.mem.Read(first, window) != nil {
		return n
	}
	for _, i := range order[:n] {
		g, from := &part[i], len(s.bytes)
		s.bytes = append(s.bytes, window[g.SP-first:][:beginOf(g)]...)
		s.begin[i] = s.bytes[from:len(s.bytes):len(s.bytes)]
	}
	return n
}
