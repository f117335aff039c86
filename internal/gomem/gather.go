package gomem

import (
	"cmp"
	"slices"
)

// gather reads a fixed set of variables with as few reads as possible and
// without allocating: those that lie near each other share one.
type gather struct {
	vars   []span
	reads  []window
	pieces [][2]uint64 // the same, as memory.readPieces takes them
	buf    []byte
}

// window is one read: n bytes at addr, into the buffer from at on.
type window struct{ addr, n, at uint64 }

// span is one variable asked for.
type span struct{ addr, n uint64 }

// add asks for n bytes at addr.
func (g *gather) add(addr, n uint64) { g.vars = append(g.vars, span{addr, n}) }

// plan joins what was asked for into windows. Call it once, after the last add.
func (g *gather) plan() {
	vars := slices.Clone(g.vars)
	slices.SortFunc(vars, func(a, b span) int { return cmp.Compare(a.addr, b.addr) })
	var total uint64
	for _, v := range vars {
		if k := len(g.reads) - 1; k >= 0 && v.addr <= g.reads[k].addr+g.reads[k].n+windowGap {
			w := &g.reads[k]
			end := max(w.addr+w.n, v.addr+v.n)
			total += end - (w.addr + w.n)
			w.n = end - w.addr
			continue
		}
		g.reads = append(g.reads, window{v.addr, v.n, total})
		total += v.n
	}
	for _, w := range g.reads {
		g.pieces = append(g.pieces, [2]uint64{w.addr, w.addr + w.n})
	}
	g.buf = make([]byte, total)
}

// read refreshes every variable.
func (g *gather) read(m memory) error {
	if len(g.reads) == 0 {
		return nil
	}
	// A little first: it fails if the process is another one by now.
	if err := m.read(g.reads[0].addr, g.buf[:min(4, g.reads[0].n)]); err != nil {
		return err
	}
	return m.readPieces(g.buf, g.pieces)
}

// at is where in buf the variable at addr lies, after plan.
func (g *gather) at(addr uint64) uint64 {
	for _, w := range g.reads {
		if addr >= w.addr && addr < w.addr+w.n {
			return w.at + addr - w.addr
		}
	}
	panic("gomem: at of a variable that was not added")
}
