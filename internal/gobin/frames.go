package gobin

import (
	"encoding/binary"
	"strings"
)

// Frame is one call in source terms.
type Frame struct {
	Func      string // as runtime.Frame.Function has it: type arguments are "[...]"
	File      string // as the compiler recorded it
	Line      int
	StartLine int    // of the function
	Entry     uint64 // link-time address of the physical function's first instruction
	Inlined   bool   // into the next frame
}

// Hostile inline trees may lead in circles. The compiler's own go some 50 deep.
const maxInline = 512

// Frames appends the calls at a link-time pc to dst, innermost first: the
// functions inlined there, then the one that holds the code. The pc is an
// instruction's; for a return address pass one less. Nothing is appended for a
// pc outside Go's code (C, the vdso) or where Supported refuses.
//
// Frames are what runtime.Callers and runtime.CallersFrames give for the
// physical pc, compiler-made wrappers included.
func (b *Binary) Frames(dst []Frame, pc uint64) []Frame {
	b.walk(pc, func(f function, c call) bool {
		dst = append(dst, b.frame(f, c))
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
// returns false.
func (b *Binary) walk(pc uint64, visit func(function, call) bool) {
	defer panicOnFault()()
	var err error
	defer guard(&err) // of a file cut short nothing more is known
	t, err := b.table()
	if err != nil {
		return
	}
	f, ok := t.find(pc)
	if !ok {
		return
	}
	tree := f.funcdata(funcdataInlTree)
	for range maxInline {
		c, parent := f.callAt(tree, pc)
		if !visit(f, c) || !c.inlined {
			return
		}
		pc = f.entry + uint64(parent)
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
	rec := tail(tree, uint64(max(i, 0))*inlineSize)
	if !ok || i < 0 || len(rec) < inlineSize {
		return c, 0
	}
	c.funcID = rec[0]
	c.name = binary.LittleEndian.Uint32(rec[4:])
	c.startLine = int32(binary.LittleEndian.Uint32(rec[12:]))
	c.inlined = true
	return c, binary.LittleEndian.Uint32(rec[8:])
}

func (b *Binary) frame(f function, c call) Frame {
	fr := Frame{
		Func:      b.name(f.t, c.name),
		StartLine: int(c.startLine),
		Entry:     f.entry,
		Inlined:   c.inlined,
		File:      "?", // as runtime.funcline1 says it
	}
	file, ok1 := f.value(f.fileTable(), c.pc)
	line, ok2 := f.value(f.lineTable(), c.pc)
	if ok1 && ok2 && file >= 0 && line >= 0 {
		fr.File, fr.Line = b.fileName(f, uint32(file)), int(line)
	}
	return fr
}

// name is the function's name as runtime.funcNameForPrint has it.
func (b *Binary) name(t *table, off uint32) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, ok := b.names[off]
	if !ok {
		s = printName(cstring(t.names, off))
		b.names[off] = s
	}
	return s
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

func (b *Binary) fileName(f function, n uint32) string {
	off, ok := word(f.t.cus, 4*(uint64(f.cuOffset())+uint64(n)))
	if !ok || off == ^uint32(0) {
		return "?"
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s, ok := b.files[off]
	if !ok {
		s = cstring(f.t.files, off)
		b.files[off] = s
	}
	return s
}
