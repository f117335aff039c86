package gobin

import (
	"encoding/binary"
	"runtime/debug"
)

// Where a function says which words of its frames are alive (internal/abi/symtab.go
// and runtime/stkframe.go, getStackMap): the same from Go 1.20 to 1.27.
const (
	pcdataStackMapIndex = 1 // abi.PCDATA_StackMapIndex

	funcdataArgsMaps     = 0 // abi.FUNCDATA_ArgsPointerMaps
	funcdataLocalsMaps   = 1 // abi.FUNCDATA_LocalsPointerMaps
	funcdataStackObjects = 2 // abi.FUNCDATA_StackObjects

	stackObjectSize   = 16 // runtime.stackObjectRecord
	maxStackMapWords  = 1 << 20
	maxStackObjects   = 1 << 16
	stackMapDataAfter = 8 // runtime.stackmap: n, nbit, then the bits
)

// StackMap says which words of a function's frame are pointers that are alive where
// the function goes on after a call.
type StackMap struct {
	Locals  WordMask // of the words below the frame's end: the last one is the highest
	Args    WordMask // of the words from the first argument on
	Objects []StackObject

	NoLocals bool // the function does not say of its locals: assembly
	NoArgs   bool // nor of its arguments
	ArgsSize uint32
}

// WordMask has a bit for each word.
type WordMask struct {
	Words int
	bits  []byte
}

// Has says whether the bit of word i is set.
func (m WordMask) Has(i int) bool { return m.bits[i/8]>>(i%8)&1 != 0 }

// StackObject is a variable in a frame that pointers may lead to. It is alive, all of
// it, as long as one does.
type StackObject struct {
	Offset int32 // from the first argument, or if negative from the end of the locals
	Size   uint32
}

// StackMap is the function's map where it goes on at a link-time pc: a return address,
// or its entry. ok is false if the pc is none of these.
func (fn Func) StackMap(pc uint64) (m StackMap, ok bool) {
	if fn.f.t == nil {
		return m, false
	}
	defer ignoreFault(debug.SetPanicOnFault(true))
	index := int32(-1)
	if pc != fn.Entry {
		index, _ = fn.f.value(fn.f.pcdata(pcdataStackMapIndex), pc-1)
	}
	if index < -1 {
		return m, false
	}
	n := uint32(max(index, 0)) // -1: as the frame begins
	var known [2]bool
	m.Locals, known[0], ok = wordMask(fn.f.funcdata(funcdataLocalsMaps), n)
	if !ok {
		return m, false
	}
	size := int32(fn.f.word(8)) // _func.args
	if size > 0 {
		if m.Args, known[1], ok = wordMask(fn.f.funcdata(funcdataArgsMaps), n); !ok {
			return m, false
		}
		m.ArgsSize = uint32(size)
	}
	m.NoLocals, m.NoArgs = !known[0], size != 0 && !known[1]
	m.Objects = stackObjects(fn.f.funcdata(funcdataStackObjects))
	return m, true
}

// wordMask reads the n-th mask of a runtime.stackmap; ok is false if it has fewer.
func wordMask(data []byte, n uint32) (m WordMask, known, ok bool) {
	if len(data) < stackMapDataAfter {
		return m, false, true
	}
	count, words := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
	if words == 0 {
		return m, count > 0, true
	}
	if n >= count || words > maxStackMapWords {
		return m, false, false
	}
	size := uint64(words+7) / 8
	bits := tail(data, stackMapDataAfter+uint64(n)*size)
	if uint64(len(bits)) < size {
		return m, false, false
	}
	return WordMask{Words: int(words), bits: append([]byte(nil), bits[:size]...)}, true, true
}

// stackObjects reads a count and so many runtime.stackObjectRecords: offset, size, and
// what of it are pointers, which is left out.
func stackObjects(data []byte) (all []StackObject) {
	if len(data) < 8 {
		return nil
	}
	n := binary.LittleEndian.Uint64(data)
	if n > maxStackObjects || n > uint64(len(data)-8)/stackObjectSize {
		return nil
	}
	for b := data[8:]; n > 0; n, b = n-1, b[stackObjectSize:] {
		all = append(all, StackObject{Offset: int32(binary.LittleEndian.Uint32(b)), Size: binary.LittleEndian.Uint32(b[4:])})
	}
	return all
}
