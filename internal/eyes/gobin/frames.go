package gobin

import (
	"encoding/binary"
	"runtime/debug"
	"strings"
)

// Frame is one call in source terms.
type Frame struct {
	Func      string // as runtime.Frame.Function has it: type arguments are "[...]"
	Symbol    string // as the linker and runtime/pprof name it; differs from Func in generic functions only
	File      string // as the compiler recorded it, "?" if it did not
	Line      int
	StartLine int    // of the function
	Entry     uint64 // link-time address of the physical function's first instruction
	Inlined   bool   // into the next frame
	// Wrapper means that the compiler made it to call a method or closure. Stacks leave it out, unless it is the
	// innermost frame or called a function that panics.
	Wrapper bool
}

// Hostile inline trees may lead in circles. The compiler's own go some 50 deep.
const maxInline = 512

// Frames appends the calls at a link-time pc to dst, innermost first: the
// functions inlined there, then the one that holds the code. The pc is an
// instruction's; for a return address pass one less. Nothing is appended for a
// pc outside Go's code (C, the vdso) or where Supported refuses.
//
// The frames are those of runtime.CallersFrames for a stack with this one
// physical pc. The pcs that runtime.Callers gives, and heap profiles hold, are
// logical already; they are for Locations.
func (b *Binary) Frames(dst []Frame, pc uint64) []Frame {
	b.walk(pc, func(f function, c call) bool {
		dst = append(dst, f.frame(c))
		return true
	})
	return dst
}

// call is one logical frame at a pc: runtime/symtabinl.go's inlineFrame.
type call struct {
	pc        uint64 // whose file and line are the frame's
	name      uint32
	startLine int32
	funcID    uint8
	inlined   bool
}

// walk calls visit for each logical frame at pc, innermost first, until it
// returns false. Wrappers around an inlined function are left out.
func (b *Binary) walk(pc uint64, visit func(function, call) bool) {
	defer ignoreFault(debug.SetPanicOnFault(true))
	f, ok := b.find(pc)
	if !ok {
		return
	}
	tree, callee := f.funcdata(funcdataInlTree), f.t.ids.gopanic // elides nothing
	for range maxInline {
		c, parent := f.callAt(tree, pc)
		if !f.t.ids.elides(c.funcID, callee) && !visit(f, c) || !c.inlined {
			return
		}
		pc, callee = f.entry+uint64(parent), c.funcID
	}
}

// callAt is the innermost logical frame at pc and, if that is inlined, the
// offset in f of the instruction that stands for its call.
func (f function) callAt(tree []byte, pc uint64) (c call, parent uint32) {
	c = call{pc: pc, name: f.nameOff(), startLine: f.startLine(), funcID: f.id()}
	if tree == nil {
		return c, 0
	}
	i, ok := f.value(f.pcdata(pcdataInlTreeIndex), pc)
	if !ok || i < 0 {
		return c, 0
	}
	rec := tail(tree, uint64(i)*inlineSize)
	if len(rec) < inlineSize {
		return c, 0
	}
	c.funcID = rec[0]
	c.name = binary.LittleEndian.Uint32(rec[4:])
	c.startLine = int32(binary.LittleEndian.Uint32(rec[12:]))
	c.inlined = true
	return c, binary.LittleEndian.Uint32(rec[8:])
}

func (f function) frame(c call) Frame {
	fr := Frame{
		Symbol:    f.t.symbolName(c.name),
		File:      "?", // as runtime.funcline1 says it
		StartLine: int(c.startLine),
		Entry:     f.entry,
		Inlined:   c.inlined,
		Wrapper:   c.funcID == f.t.ids.wrapper,
	}
	fr.Func = printName(fr.Symbol)
	file, ok1 := f.value(f.fileTable(), c.pc)
	line, ok2 := f.value(f.lineTable(), c.pc)
	if ok1 && ok2 && file >= 0 && line >= 0 {
		fr.File, fr.Line = f.fileName(uint32(file)), int(line)
	}
	return fr
}

// printName blanks type arguments: runtime/symtab.go, funcNameForPrint.
func printName(s string) string {
	i := strings.IndexByte(s, '[')
	j := strings.LastIndexByte(s, ']')
	if i < 0 || j <= i {
		return s
	}
	return s[:i] + "[...]" + s[j+1:]
}

// symbolName is the name at an offset of the name table; offset 0 is no name, as
// in runtime.moduledata.funcName. Names and files are copied once: frames share
// them, and they outlive the mapping.
func (t *table) symbolName(off uint32) string {
	if off == 0 {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return intern(&t.funcNames, t.names, off)
}

func (f function) fileName(n uint32) string {
	off, ok := word(f.t.cus, 4*(uint64(f.cuOffset())+uint64(n)))
	if !ok || off == ^uint32(0) {
		return "?"
	}
	f.t.mu.Lock()
	defer f.t.mu.Unlock()
	return intern(&f.t.fileNames, f.t.files, off)
}

// intern is the string at an offset of data, the same one each time.
func intern(known *map[uint32]string, data []byte, off uint32) string {
	s, ok := (*known)[off]
	if !ok {
		if *known == nil {
			*known = make(map[uint32]string)
		}
		s = cstring(data, off)
		(*known)[off] = s
	}
	return s
}
