package gobin

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
)

// Module is a part of a program that it loaded while it ran, such as a plugin, as
// its memory has it: the slices and addresses of a runtime.moduledata.
type Module struct {
	Text, End uint64 // its code, less the bias of the executable
	Header    []byte // the start of its pclntab: 8 bytes
	Functions int    // entries of ftab, which begins Table
	Inline    []byte // from moduledata.gofunc on

	Names, Units, Files, PCs, Table []byte // funcnametab, cutab, filetab, pctab, pclntable
}

// maxModules bounds what a program may add.
const maxModules = 1 << 10

// addedModules may grow while others read.
type addedModules struct{ list atomic.Pointer[[]*table] }

func (a *addedModules) tables() []*table {
	if a == nil {
		return nil
	}
	if p := a.list.Load(); p != nil {
		return *p
	}
	return nil
}

// AddModule makes a module's functions known to all methods that ask for functions,
// at addresses that the executable does not use. The slices are kept. It must not be
// called twice at once; adding a module again changes nothing.
func (b *Binary) AddModule(m Module) error {
	if b.table == nil {
		return b.supported
	}
	if m.Text >= m.End || m.Text < b.table.end && b.table.text < m.End {
		return fmt.Errorf("%w: a module with code at [%#x, %#x)", ErrNoFunctions, m.Text, m.End)
	}
	if len(m.Header) < 8 || binary.LittleEndian.Uint32(m.Header) != pclntabMagic || m.Header[6] != byte(b.table.quantum) || m.Header[7] != 8 {
		return fmt.Errorf("%w: a module with an unknown header", ErrNoFunctions)
	}
	n := m.Functions - 1 // the last entry is the end of the last function
	if n < 1 || 8*uint64(n)+4 > uint64(len(m.Table)) {
		return fmt.Errorf("%w: a module of %d functions", ErrNoFunctions, n)
	}
	if b.added == nil {
		b.added = &addedModules{}
	}
	old := b.added.tables()
	for _, t := range old {
		if t.text == m.Text {
			return nil
		}
	}
	if len(old) == maxModules {
		return fmt.Errorf("more than %d modules", maxModules)
	}
	all := append(old[:len(old):len(old)], &table{
		names: m.Names, cus: m.Units, files: m.Files, pcs: m.PCs, funcs: m.Table, n: n,
		text: m.Text, end: m.End, inlineData: m.Inline, ids: b.table.ids, quantum: b.table.quantum,
	})
	b.added.list.Store(&all)
	return nil
}

// find is the function whose code holds the link-time pc.
func (b *Binary) find(pc uint64) (function, bool) {
	if b.table == nil {
		return function{}, false
	}
	if f, ok := b.table.find(pc); ok {
		return f, true
	}
	for _, t := range b.added.tables() {
		if f, ok := t.find(pc); ok {
			return f, true
		}
	}
	return function{}, false
}
