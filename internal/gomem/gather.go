package gomem

import (
	"cmp"
	"math"
	"slices"
)

// gather reads a fixed set of variables with as few reads as possible and
// without allocating: those that lie near each other share one.
type gather struct {
	vars  []span
	reads windows
	buf   []byte
}

// span is one variable asked for.
type span struct{ addr, n uint64 }

// add asks for n bytes at addr.
func (g *gather) add(addr, n uint64) { g.vars = append(g.vars, span{addr, n}) }

// plan joins what was asked for into windows. Call it once, after the last add.
func (g *gather) plan() {
	vars := slices.Clone(g.vars)
	slices.SortFunc(vars, func(a, b span) int { return cmp.Compare(a.addr, b.addr) })
	for _, v := range vars {
		g.reads.join(v.addr, v.n, math.MaxInt)
	}
	g.buf = make([]byte, g.reads.size)
}

// read refreshes every variable.
func (g *gather) read(m memory) error {
	if len(g.vars) == 0 {
		return nil
	}
	// A little first: it fails if the process is another one by now.
	first := g.reads.pieces[0]
	if err := m.read(first[0], g.buf[:min(4, first[1]-first[0])]); err != nil {
		return err
	}
	return m.readPieces(g.buf, g.reads.pieces)
}

// at is where in buf the variable at addr lies, after plan.
func (g *gather) at(addr uint64) uint64 {
	before := uint64(0)
	for _, w := range g.reads.pieces {
		if addr >= w[0] && addr < w[1] {
			return before + addr - w[0]
		}
		before += w[1] - w[0]
	}
	panic("gomem: at of a variable that was not added")
}
