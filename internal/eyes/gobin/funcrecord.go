package gobin

import "encoding/binary"

// The record of a function as Go 1.20 to 1.27 write it (runtime/runtime2.go:
// _func; runtime/symtabinl.go: inlinedCall; internal/abi/symtab.go: the indexes).
const (
	funcSize   = 44 // _func before its pcdata and funcdata
	inlineSize = 16 // one record of FUNCDATA_InlTree
	noFuncdata = ^uint32(0)

	pcdataInlTreeIndex = 2 // abi.PCDATA_InlTreeIndex
	funcdataInlTree    = 3 // abi.FUNCDATA_InlTree

	flagTopFrame = 1 // abi.FuncFlagTopFrame
	flagSPWrite  = 2 // abi.FuncFlagSPWrite
	flagAssembly = 4 // abi.FuncFlagAsm

	maxPCTable = 1 << 20 // bytes of one pc table; the longest in cmd/compile has 19 KB
)

// function is one physical function: its _func record and what follows it.
type function struct {
	t     *table
	entry uint64
	data  []byte // from _func on
}

// Fields of _func.
func (f function) nameOff() uint32   { return f.word(4) }
func (f function) spTable() uint32   { return f.word(16) }
func (f function) fileTable() uint32 { return f.word(20) }
func (f function) lineTable() uint32 { return f.word(24) }
func (f function) npcdata() uint32   { return f.word(28) }
func (f function) cuOffset() uint32  { return f.word(32) }
func (f function) startLine() int32  { return int32(f.word(36)) }
func (f function) id() uint8         { return f.data[40] }
func (f function) flags() uint8      { return f.data[41] }
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
// (runtime/symtab.go, pcvalue). Each step consumes two bytes, so a hostile table
// ends.
func (f function) value(off uint32, pc uint64) (int32, bool) {
	if off == 0 || uint64(off) >= uint64(len(f.t.pcs)) {
		return -1, false
	}
	p := f.t.pcs[off:]
	p = p[:min(len(p), maxPCTable)]
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

// funcIDs are the numbers of internal/abi.FuncID that decide what a stack shows;
// they change with Go's version.
type funcIDs struct {
	goexit, wrapper              uint8
	gopanic, panicwrap, sigpanic uint8
}

// funcIDs120 are Go 1.20's (runtime/symtab.go: funcID), which its DWARF does not
// have.
var funcIDs120 = funcIDs{goexit: 7, gopanic: 9, panicwrap: 14, sigpanic: 18, wrapper: 21}

func (l *Layout) funcIDs() funcIDs {
	if _, ok := l.Const("internal/abi.FuncID_goexit"); !ok {
		return funcIDs120
	}
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
