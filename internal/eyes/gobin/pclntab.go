package gobin

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"sort"
	"sync"
	"sync/atomic"
)

// The function table as Go 1.20 to 1.27 write it (runtime/symtab.go: pcHeader,
// functab).
const (
	pclntabMagic = 0xfffffff1 // abi.Go120PCLnTabMagic

	headerSize = 72 // pcHeader on 64 bits

	maxName = 64 << 10 // longest name read; generic ones reach some KB
)

// table is the function table of one executable, lying in its mapping. All
// offsets in it come from the file: each read checks them.
type table struct {
	names, cus, files, pcs, funcs []byte

	n          int    // functions
	text, end  uint64 // link-time address range of Go's code
	inlineData []byte // from moduledata.gofunc, the base of funcdata offsets
	ids        funcIDs
	quantum    uint32 // pc deltas are in units of this

	mu                   sync.Mutex
	funcNames, fileNames map[uint32]string // names of functions and of files that were asked for, by offset

	shared atomic.Bool // several processes may ask for the same addresses
	lines  lines

	variables foundVariables
	readied   sync.Map // by type: see Shared
}

// openTable finds the function table and the module that it belongs to.
func (b *Binary) openTable(f *elf.File) error {
	l, err := b.Layout()
	if err != nil {
		return err
	}
	m, t, err := b.findModule(f, l)
	if err != nil {
		return err
	}
	// moduledata.text, and not pcHeader.textStart, which is blank since Go 1.26, or
	// the section .text, which begins with C where cgo is linked.
	t.text, t.end = m.text, m.etext
	t.inlineData = b.at(m.gofunc)
	t.ids = l.funcIDs()
	b.module, b.table = m, t
	return nil
}

// parseTable reads the header: magic u32, two zeros, quantum u8, pointer size
// u8, number of functions, number of files, text start, then the offsets of
// names, compilation units, files, pc tables and functions.
func parseTable(data []byte) (*table, error) {
	if len(data) < headerSize || binary.LittleEndian.Uint32(data) != pclntabMagic {
		return nil, fmt.Errorf("%w: unknown header", ErrNoFunctions)
	}
	if data[7] != 8 || data[6] == 0 || data[6] > 8 {
		return nil, fmt.Errorf("%w: pointers of %d bytes", ErrNoFunctions, data[7])
	}
	t := &table{quantum: uint32(data[6])}
	for i, part := range []*[]byte{&t.names, &t.cus, &t.files, &t.pcs, &t.funcs} {
		off := binary.LittleEndian.Uint64(data[32+8*i:])
		if off > uint64(len(data)) {
			return nil, fmt.Errorf("%w: cut", ErrNoFunctions)
		}
		*part = data[off:]
	}
	n := binary.LittleEndian.Uint64(data[8:])
	if n == 0 || n > uint64(len(t.funcs))/8 || 8*n+4 > uint64(len(t.funcs)) {
		return nil, fmt.Errorf("%w: %d functions", ErrNoFunctions, n)
	}
	t.n = int(n)
	return t, nil
}

// find is the function whose code holds the link-time pc.
func (t *table) find(pc uint64) (function, bool) {
	if pc < t.text || pc >= t.end || pc-t.text > 1<<32-1 {
		return function{}, false
	}
	want := uint32(pc - t.text)
	i := sort.Search(t.n, func(i int) bool { return t.entryOff(i) > want }) - 1
	if i < 0 || want >= t.entryOff(i+1) { // entry n is the end of the last function
		return function{}, false
	}
	off := binary.LittleEndian.Uint32(t.funcs[8*i+4:])
	data := tail(t.funcs, uint64(off))
	if len(data) < funcSize {
		return function{}, false
	}
	return function{t: t, entry: t.text + uint64(t.entryOff(i)), data: data}, true
}

// runtimeName is the name of the i-th function if that is in package runtime and
// no wrapper. It allocates nothing: it is asked for every function of a program.
func (t *table) runtimeName(i int) []byte {
	const prefix, longest = "runtime.", 128
	data := tail(t.funcs, uint64(binary.LittleEndian.Uint32(t.funcs[8*i+4:])))
	if len(data) < funcSize || data[40] == t.ids.wrapper {
		return nil
	}
	name := tail(t.names, uint64(binary.LittleEndian.Uint32(data[4:])))
	name = name[:min(len(name), longest)]
	if len(name) < len(prefix) || string(name[:len(prefix)]) != prefix {
		return nil
	}
	end := bytes.IndexByte(name, 0)
	if end < 0 {
		return nil
	}
	return name[:end]
}

func (t *table) entryOff(i int) uint32 { return binary.LittleEndian.Uint32(t.funcs[8*i:]) }

// cstring is the zero-terminated string at off, "" if there is none.
func cstring(b []byte, off uint32) string {
	b = tail(b, uint64(off))
	b = b[:min(len(b), maxName)]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return string(b[:i])
	}
	return ""
}

func tail(b []byte, off uint64) []byte {
	if off >= uint64(len(b)) {
		return nil
	}
	return b[off:]
}

func word(b []byte, off uint64) (uint32, bool) {
	if off+4 > uint64(len(b)) {
		return 0, false
	}
	return binary.LittleEndian.Uint32(b[off:]), true
}
