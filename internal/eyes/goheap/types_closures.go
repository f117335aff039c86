package goheap

import (
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// captures is the struct that a closure's object is: its code, and what it captured. The
// compiler allocates it by a descriptor, `struct { F uintptr; X0 *main.store }`, whose
// address the function that makes the closure has in its code, before that of the
// closure's own (cmd/compile/internal/typecheck, ClosureType and MethodValueType). 0: not
// found.
func (t *Types) captures(pc uint64) int32 {
	if t.closureTypes == nil {
		t.closureTypes = t.findClosures()
	}
	return t.at(t.closureTypes[pc])
}

// findClosures pairs the structs of closures with their functions, by run-time addresses.
// A function of which there are two structs is left out.
func (t *Types) findClosures() map[uint64]uint64 {
	bias := t.c.bias
	wanted := make([]uint64, 0, len(t.index().closures))
	is := make(map[uint64]bool)
	for _, a := range t.index().closures {
		wanted = append(wanted, a-bias)
		is[a-bias] = true
	}
	found := make(map[uint64]uint64)
	// Without any, what closures captured has no type.
	_ = t.bin.References(wanted, func(targets []uint64) {
		last := uint64(0)
		for _, a := range targets {
			if is[a] {
				last = a
				continue
			}
			if last == 0 {
				continue
			}
			f, ok := t.bin.FuncAt(a)
			if !ok || f.Entry != a {
				continue
			}
			if was, known := found[a+bias]; known && was != last+bias {
				found[a+bias] = 0
			} else {
				found[a+bias] = last + bias
			}
			last = 0
		}
	})
	return found
}

// capturedSlot is a word of a closure.
func (t *Types) capturedSlot(typ int32, off uint64) slot {
	const label = " (captured)"
	c := t.all[typ].elem
	if c == 0 || off < 8 || off >= t.all[c].size {
		return slot{label: t.label(label)}
	}
	var path []string
	s := t.field(c, off, &path, 0)
	s.label = t.label(label)
	return s
}

// Closure is where the function of a closure begins, of a method value the method; ok false for another type.
func (t *Types) Closure(r TypeRef) (at sample.Frame, ok bool) {
	g := &t.all[r.index()]
	if g.role != roleClosure {
		return at, false
	}
	pc := g.addr - t.c.bias
	fn, ok := t.bin.FuncAt(pc)
	if !ok {
		return at, false
	}
	if method, isValue := strings.CutSuffix(fn.Name(), "-fm"); isValue {
		return t.method(fn, method)
	}
	return t.begins(pc, fn.Name())
}

// method is where a method begins that a method value calls, or has inlined.
func (t *Types) method(value gobin.Func, name string) (at sample.Frame, ok bool) {
	if pc, ok := t.bin.Entry(name); ok {
		return t.begins(pc, name)
	}
	for pc := value.Entry; ; pc++ {
		if fn, ok := t.bin.FuncAt(pc); !ok || fn.Entry != value.Entry {
			return at, false
		}
		if at, ok = t.begins(pc, name); ok {
			return at, true
		}
	}
}

// begins is where a function begins whose code, inlined or not, lies at a link-time pc.
func (t *Types) begins(pc uint64, name string) (at sample.Frame, ok bool) {
	for _, f := range t.bin.Frames(nil, pc) {
		if f.Func == name || f.Symbol == name {
			return sample.Frame{Func: f.Symbol, File: f.File, Line: f.StartLine, StartLine: f.StartLine}, true
		}
	}
	return at, false
}
