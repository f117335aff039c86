package gobin

import (
	"bytes"
	"encoding/binary"
	"runtime/debug"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Code is the machine code of a function of package runtime, "runtime.asmcgocall", and the
// link-time address where it begins. ok is false if the program has none of that name, or
// several.
func (b *Binary) Code(name string) (pc uint64, code []byte, ok bool) {
	if b.table == nil {
		return 0, nil, false
	}
	defer ignoreFault(debug.SetPanicOnFault(true))
	found := b.functionsNamed(func(n []byte) bool { return string(n) == name })[name]
	if len(found) != 1 {
		return 0, nil, false
	}
	return found[0].PC, bytes.Clone(found[0].Bytes), true
}

// Entry is the link-time address where the function of a name begins, as the linker has it. ok is false if the program has
// none of that name, or several.
func (b *Binary) Entry(symbol string) (pc uint64, ok bool) {
	i, ok := b.indexOf(symbol)
	if !ok {
		return 0, false
	}
	return b.table.text + uint64(b.table.entryOff(i)), true
}

// indexOf is the number of a function among those of the table.
func (b *Binary) indexOf(symbol string) (index int, ok bool) {
	if b.table == nil {
		return 0, false
	}
	defer ignoreFault(debug.SetPanicOnFault(true))
	t := b.table
	for i := range t.n {
		if i%(1<<14) == 0 {
			b.Release() // of a large program's table
		}
		data := tail(t.funcs, uint64(binary.LittleEndian.Uint32(t.funcs[8*i+4:])))
		if len(data) < funcSize || data[40] == t.ids.wrapper {
			continue
		}
		name := tail(t.names, uint64(binary.LittleEndian.Uint32(data[4:])))
		if len(name) <= len(symbol) || name[len(symbol)] != 0 || string(name[:len(symbol)]) != symbol {
			continue
		}
		if ok {
			return 0, false
		}
		index, ok = i, true
	}
	return index, ok
}

// Calls puts a stack into source terms, inlined calls in it. All of it are return
// addresses but the first where exact says that it is an instruction's own.
func (s *Symbolizer) Calls(stack []uint64, exact bool) (where []sample.Location) {
	for i, pc := range stack {
		if i > 0 || !exact {
			pc--
		}
		where = append(where, s.location(pc))
	}
	return where
}
