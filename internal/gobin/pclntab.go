package gobin

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sort"
)

// The function table as Go 1.20 to 1.27 write it (runtime/symtab.go: pcHeader,
// functab, _func; internal/abi/symtab.go: the indexes).
const (
	pclntabMagic = 0xfffffff1 // abi.Go120PCLnTabMagic

	headerSize = 72 // pcHeader on 64 bits

	funcSize   = 44 // _func before its pcdata and funcdata
	inlineSize = 16 // one record of FUNCDATA_InlTree
	noFuncdata = ^uint32(0)

	pcdataInlTreeIndex = 2 // abi.PCDATA_InlTreeIndex
	funcdataInlTree    = 3 // abi.FUNCDATA_InlTree

	flagTopFrame = 1 // abi.FuncFlagTopFrame

	maxName = 64 << 10 // longest name read; generic ones reach some KB
)

// funcIDs are the numbers of internal/abi.FuncID that decide what a stack shows;
// they change with Go's version.
type funcIDs struct {
	goexit, wrapper              uint8
	gopanic, panicwrap, sigpanic uint8
}

func (l *Layout) funcIDs() funcIDs {
	id := func(name string) uint8 {
		v, ok := l.Const("internal/abi." + name)
		if !ok {
			return 0xff // no function has it
		}
		return uint8(v)
	}
	return funcIDs{
		goexit: id("FuncID_goexit"), wrapper: id("FuncIDWrapper"),
		gopanic: id("FuncID_gopanic"), panicwrap: id("FuncID_panicwrap"), sigpanic: id("FuncID_sigpanic"),
	}
}

// elides says whether a stack leaves out a frame because it is a wrapper that the
// compiler made for what it called: runtime/traceback.go, elideWrapperCalling.
func (ids funcIDs) elides(frame, callee uint8) bool {
	return frame == ids.wrapper && callee != ids.gopanic && callee != ids.panicwrap && callee != ids.sigpanic
}

// table is the function table of one executable, lying in its mapping. All
// offsets in it come from the file: each read checks them.
type table struct {
	names, cus, files, pcs, funcs []byte

	n          int    // functions
	text, end  uint64 // link-time address range of Go's code
	inlineData []byte // from go:func.*, the base of funcdata offsets
	ids        funcIDs
	quantum    uint32 // pc deltas are in units of this
}

// openTable finds the table by the linker's own marks.
func (b *Binary) openTable() (*table, error) {
	if b.supported != nil {
		return nil, b.supported
	}
	syms := b.symbols
	for _, name := range []string{"runtime.pclntab", "runtime.text", "runtime.etext", "go:func.*"} {
		if _, ok := syms[name]; !ok {
			return nil, fmt.Errorf("%w: no symbol %s", ErrNoFunctions, name)
		}
	}
	t, err := parseTable(b.at(syms["runtime.pclntab"].addr))
	if err != nil {
		return nil, err
	}
	// pcHeader.textStart is blank since Go 1.26; the section .text begins with C
	// where cgo is linked. runtime.text is moduledata.text in all builds.
	t.text, t.end = syms["runtime.text"].addr, syms["runtime.etext"].addr
	t.inlineData = b.at(syms["go:func.*"].addr)
	l, err := b.Layout()
	if err != nil {
		return nil, err
	}
	t.ids = l.funcIDs()
	return t, nil
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

// function is one physical function: its _func record and what follows it.
type function struct {
	t     *table
	entry uint64
	data  []byte // from _func on
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

func (t *table) entryOff(i int) uint32 { return binary.LittleEndian.Uint32(t.funcs[8*i:]) }

// Fields of _func.
func (f function) nameOff() uint32   { return f.word(4) }
func (f function) spTable() uint32   { return f.word(16) }
func (f function) fileTable() uint32 { return f.word(20) }
func (f function) lineTable() uint32 { return f.word(24) }
func (f function) npcdata() uint32   { return f.word(28) }
func (f function) cuOffset() uint32  { return f.word(32) }
func (f function) startLine() int32  { return int32(f.word(36)) }
func (f function) id() uint8         { return f.data[40] }
func (f function) topFrame() bool    { return f.data[41]&flagTopFrame != 0 }
func (f function) nfuncdata() uint8  { return f.data[43] }

func (f function) word(off int) uint32 { return binary.LittleEndian.Uint32(f.data[off:]) }

// pcdata is the offset of the i-th pc table, 0 if the function has none.
func (f function) pcdata(i uint32) uint32 {
	if i >= f.npcdata() {
		return 0
	}
	w, _ := word(f.data, funcSize+4*uint64(i))
	return w
}

// funcdata is the i-th data of the function, nil if it has none.
func (f function) funcdata(i uint8) []byte {
	if i >= f.nfuncdata() {
		return nil
	}
	off, ok := word(f.data, funcSize+4*uint64(f.npcdata())+4*uint64(i))
	if !ok || off == noFuncdata {
		return nil
	}
	return tail(f.t.inlineData, uint64(off))
}

// value looks pc up in a pc table: pairs of zigzag varint (value delta) and
// varint (pc delta), from value -1 at the entry to the first value delta of 0
// (runtime/symtab.go, pcvalue). Each step consumes a byte, so a hostile table
// ends with the section.
func (f function) value(off uint32, pc uint64) (int32, bool) {
	if off == 0 || uint64(off) >= uint64(len(f.t.pcs)) {
		return -1, false
	}
	p := f.t.pcs[off:]
	at, val := f.entry, int32(-1)
	for first := true; ; first = false {
		vd, n := uvarint32(p)
		if n == 0 || (vd == 0 && !first) {
			return -1, false
		}
		pd, m := uvarint32(p[n:])
		if m == 0 {
			return -1, false
		}
		p = p[n+m:]
		val += int32(vd>>1) ^ -int32(vd&1)
		at += uint64(pd * f.t.quantum)
		if pc < at {
			return val, true
		}
	}
}

// uvarint32 reads a varint of at most 5 bytes; n is 0 if there is none.
func uvarint32(p []byte) (v uint32, n int) {
	for i := 0; i < len(p) && i < 5; i++ {
		v |= uint32(p[i]&0x7f) << (7 * i)
		if p[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

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
