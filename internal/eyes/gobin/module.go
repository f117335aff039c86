package gobin

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"iter"
)

// module is what runtime.firstmoduledata says of the executable; all addresses are
// link-time ones.
type module struct {
	addr, pclntab uint64
	text, etext   uint64 // Go's code
	gofunc        uint64 // the base of funcdata offsets
}

// findModule finds the function table and the moduledata that points to it. Each
// may be named by a symbol or a section; without either it is looked for in what
// the file loads. A table counts only if a moduledata agrees with it, so that
// other Go programs, embedded as data, are not mistaken for this one.
func (b *Binary) findModule(f *elf.File, l *Layout) (*module, *table, error) {
	err := fmt.Errorf("%w: there is none that this version of Go writes (garble and other obfuscators hide it)", ErrNoFunctions)
	for pclntab := range atMost(maxTries, b.pclntabs(f)) {
		var t *table
		if t, err = parseTable(b.at(pclntab)); err != nil {
			continue
		}
		for addr := range atMost(maxTries, b.moduledatas(f, pclntab)) {
			if m, ok := b.readModule(addr, pclntab, l); ok {
				return m, t, nil
			}
		}
		err = fmt.Errorf("%w: no moduledata belongs to it", ErrNoFunctions)
	}
	return nil, nil, err
}

// Hostile files may be full of what looks like a table.
const maxTries = 16

func atMost(n int, all iter.Seq[uint64]) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		left := n
		for v := range all {
			if left == 0 || !yield(v) {
				return
			}
			left--
		}
	}
}

// pclntabs are the addresses where the function table may be.
func (b *Binary) pclntabs(f *elf.File) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		if addr, ok := b.symbols["runtime.pclntab"]; ok && !yield(addr) {
			return
		}
		for _, s := range f.Sections {
			// The second is what PIE had up to Go 1.25.
			if (s.Name == ".gopclntab" || s.Name == ".data.rel.ro.gopclntab") && !yield(s.Addr) {
				return
			}
		}
		// Magic, two zeros, and behind them the quantum and the pointers' size.
		start := append(binary.LittleEndian.AppendUint32(nil, pclntabMagic), 0, 0)
		for addr, data := range b.search(start, 8) {
			if len(data) >= headerSize && data[7] == 8 && !yield(addr) {
				return
			}
		}
	}
}

// moduledatas are the addresses where the moduledata of a function table may be;
// its first word points to that.
func (b *Binary) moduledatas(f *elf.File, pclntab uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		if addr, ok := b.symbols["runtime.firstmoduledata"]; ok && !yield(addr) {
			return
		}
		if s := f.Section(".go.module"); s != nil && !yield(s.Addr) { // since Go 1.26
			return
		}
		var found []uint64
		b.eachPointer(func(addr, value uint64) bool {
			if value == pclntab {
				found = append(found, addr)
			}
			return len(found) < maxTries
		})
		for _, addr := range found {
			if !yield(addr) {
				return
			}
		}
		for addr := range b.search(binary.LittleEndian.AppendUint64(nil, pclntab), 8) {
			if !yield(addr) {
				return
			}
		}
	}
}

// readModule reads the moduledata at addr; ok is false if that cannot be one.
func (b *Binary) readModule(addr, pclntab uint64, l *Layout) (m *module, ok bool) {
	size, ok := l.Size("runtime.moduledata")
	if !ok {
		return nil, false
	}
	data := b.loaded(addr, size)
	word := func(field string) uint64 {
		off, known := l.Offset("runtime.moduledata", field)
		if !known || off+8 > uint64(len(data)) {
			ok = false
			return 0
		}
		return binary.LittleEndian.Uint64(data[off:])
	}
	m = &module{addr: addr, pclntab: pclntab, text: word("text"), etext: word("etext"), gofunc: word("gofunc")}
	if word("pcHeader") != pclntab || word("minpc") < m.text || m.text >= m.etext || word("maxpc") > m.etext+16 {
		return nil, false
	}
	return m, ok && b.at(m.text) != nil
}
