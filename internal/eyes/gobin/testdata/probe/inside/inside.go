// Package inside asks the runtime what gobin computes from the file. It reaches
// functions that Go keeps to itself: link with -ldflags=-checklinkname=0.
package inside

import (
	"runtime"
	"unsafe"
)

// funcInfo is runtime.funcInfo.
type funcInfo struct {
	fn    *[11]uint32 // runtime._func: 44 bytes
	datap unsafe.Pointer
}

//go:linkname findfunc runtime.findfunc
func findfunc(pc uintptr) funcInfo

//go:linkname expand runtime/pprof.runtime_expandFinalInlineFrame
func expand(stk []uintptr) []uintptr

//go:linkname startLine runtime/pprof.runtime_FrameStartLine
func startLine(f *runtime.Frame) int

// Range is where Go's code lies.
func Range() (text, etext uintptr) { return getText(), getEtext() }

//go:linkname textMark runtime.text
var textMark byte

//go:linkname etextMark runtime.etext
var etextMark byte

func getText() uintptr  { return uintptr(unsafe.Pointer(&textMark)) }
func getEtext() uintptr { return uintptr(unsafe.Pointer(&etextMark)) }

// Call is one logical frame.
type Call struct {
	Func, Symbol, File string
	Line, StartLine    int
	Entry              uintptr
}

// Last says whether pc is the last byte of its function. No call is there: its
// return address would lie in the next function.
func Last(pc uintptr) bool { return findfunc(pc) != findfunc(pc+1) }

// At is what the runtime knows of pc: its logical frames, and the physical
// function's stack pointer delta, funcID and flags. ok is false between functions.
func At(pc uintptr) (calls []Call, spDelta int32, id, flag uint8, ok bool) {
	f := findfunc(pc)
	if f.fn == nil {
		return nil, 0, 0, 0, false
	}
	spDelta = spDeltaAt(f, pc)
	frames := runtime.CallersFrames(expand([]uintptr{pc + 1}))
	for {
		fr, more := frames.Next()
		calls = append(calls, Call{fr.Function, symbolName(&fr), fr.File, fr.Line, startLine(&fr), fr.Entry})
		if !more {
			break
		}
	}
	return calls, spDelta, uint8(f.fn[10]), uint8(f.fn[10] >> 8), true
}
