package gostats

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

// gather reads a fixed set of variables with as few reads as possible and
// without allocating: those that lie near each other share one.
type gather struct {
	vars  []span // until plan
	reads gomem.Windows
	lent  *[]byte // while it is used: from read to done
	buf   []byte  // of lent
}

// gathered are buffers for those that read just now: a watcher of many programs would
// keep one for each.
var gathered = sync.Pool{New: func() any { return new([]byte) }}

// borrow is a buffer of n bytes, and what gives it back.
func borrow(n int) *[]byte {
	b := gathered.Get().(*[]byte)
	*b = slices.Grow((*b)[:0], n)[:n]
	return b
}

// span is one variable asked for.
type span struct{ addr, n uint64 }

// add asks for n bytes at addr.
func (g *gather) add(addr, n uint64) { g.vars = append(g.vars, span{addr, n}) }

// plan joins what was asked for into windows. Call it once, after the last add.
func (g *gather) plan() {
	vars := g.vars
	g.vars = nil
	slices.SortFunc(vars, func(a, b span) int { return cmp.Compare(a.addr, b.addr) })
	for _, v := range vars {
		g.reads.Join(v.addr, v.n, math.MaxInt)
	}
	g.reads.Pieces = slices.Clip(g.reads.Pieces)
}

// read reads every variable. Where it gives no error, done has to be called once they are
// not needed any more; a buffer that a read failed on is left, as one that hangs may write
// into it later.
func (g *gather) read(m gomem.Memory) error {
	if len(g.reads.Pieces) == 0 {
		return nil
	}
	// A little first: it fails if the process is another one by now.
	first, lent := g.reads.Pieces[0], borrow(g.reads.Size)
	if err := m.Read(first[0], (*lent)[:min(4, first[1]-first[0])]); err != nil {
		return err
	}
	if err := m.ReadPieces(*lent, g.reads.Pieces); err != nil {
		return err
	}
	g.lent, g.buf = lent, *lent
	return nil
}

// done gives the buffer back.
func (g *gather) done() {
	if g.lent != nil {
		gathered.Put(g.lent)
		g.lent, g.buf = nil, nil
	}
}

// at is where in buf the variable at addr lies, after plan.
func (g *gather) at(addr uint64) uint64 {
	before := uint64(0)
	for _, w := range g.reads.Pieces {
		if addr >= w[0] && addr < w[1] {
			return before + addr - w[0]
		}
		before += w[1] - w[0]
	}
	panic("gomem: at of a variable that was not added")
}

// fieldReader reads the same field of several structs at once, without allocating
// when it has done so before.
type fieldReader struct {
	pieces [][2]uint64
	buf    []byte
}

// read is the fields, one behind another, valid until the next call. field.addr is
// an offset.
func (f *fieldReader) read(m gomem.Memory, structs []uint64, field span) ([]byte, error) {
	f.pieces = f.pieces[:0]
	for _, at := range structs {
		f.pieces = append(f.pieces, [2]uint64{at + field.addr, at + field.addr + field.n})
	}
	n := len(structs) * int(field.n)
	f.buf = slices.Grow(f.buf[:0], n)[:n]
	return f.buf, m.ReadPieces(f.buf, f.pieces)
}
