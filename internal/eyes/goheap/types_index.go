package goheap

import (
	"math/bits"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

// typeIndex finds the types that a program has by what they are called, and structs by a
// field: a stripped program says of few places what type is there, but it has the
// descriptors of all that it allocates.
type typeIndex struct {
	byName   map[string]uint64    // address of the descriptor; 0: several have the name
	byField  map[fieldAt][]uint64 // structs with a name that have such a field
	closures []uint64             // structs of a function and what it captured
}

// fieldAt is a type at an offset within a struct.
type fieldAt struct{ typ, off uint64 }

// maxTypeSection bounds what is searched for types; Kubernetes' API server has 20 MiB.
const maxTypeSection = 128 << 20

// index reads the types of the program's modules, once.
func (t *Types) index() *typeIndex {
	if t.known != nil {
		return t.known
	}
	t.known = &typeIndex{byName: make(map[string]uint64), byField: make(map[fieldAt][]uint64)}
	for i := range t.c.modules {
		m := &t.c.modules[i]
		if m.typesEnd <= m.types || m.typesEnd-m.types > maxTypeSection {
			continue
		}
		s := typeSection{at: m.types, b: make([]byte, m.typesEnd-m.types)}
		if t.c.readOutside(s.at, s.b) == nil {
			s.enter(t.known)
		}
	}
	return t.known
}

// typeSection is where the linker put all types of a module, with what belongs to them.
type typeSection struct {
	at uint64
	b  []byte
}

// enter finds the descriptors by their form: each lies at a multiple of 8.
func (s *typeSection) enter(x *typeIndex) {
	for off := uint64(0); off+typeSize <= uint64(len(s.b)); off += 8 {
		kind, ok := s.isType(off)
		if !ok {
			continue
		}
		name, ok := s.nameOf(off)
		if !ok {
			continue
		}
		if was, known := x.byName[name]; known && was != s.at+off {
			x.byName[name] = 0
		} else {
			x.byName[name] = s.at + off
		}
		if kind != kindStruct {
			continue
		}
		switch first, _ := s.field(off, 0); {
		case strings.HasPrefix(name, "struct { F uintptr; "):
			x.closures = append(x.closures, s.at+off)
		case s.b[off+20]&tflagNamed != 0 && first.typ != 0:
			s.enterFields(x, s.at+off, off, 0, 0)
		}
	}
}

// isType says whether the bytes at off can be an abi.Type.
func (s *typeSection) isType(off uint64) (kind uint8, ok bool) {
	b := s.b[off : off+typeSize]
	size, ptr := gomem.Word(b, 0), gomem.Word(b, 8)
	kind = b[23] & kindMask
	switch {
	case kind == 0 || kind > kindUnsafe || ptr > size || ptr%8 != 0 || size > 1<<40:
		return 0, false
	case b[21] == 0 || b[21] > 64 || bits.OnesCount8(b[21]) != 1 || b[22] == 0 || b[22] > 64:
		return 0, false
	case kind == kindPointer && size != 8, kind == kindMap && size != 8, kind == kindChan && size != 8:
		return 0, false
	}
	return kind, true
}

// nameOf is what a type at off is called.
func (s *typeSection) nameOf(off uint64) (string, bool) {
	at := uint64(gomem.Half(s.b[off:], 40))
	name, ok := s.text(at)
	if !ok {
		return "", false
	}
	if s.b[off+20]&(1<<1) != 0 { // TFlagExtraStar
		if !strings.HasPrefix(name, "*") {
			return "", false
		}
		name = name[1:]
	}
	return name, true
}

// text is an abi.Name's; see Types.name.
func (s *typeSection) text(at uint64) (string, bool) {
	if at == 0 || at+3 > uint64(len(s.b)) || s.b[at] > 15 {
		return "", false
	}
	n, used := uint64(s.b[at+1]), uint64(2)
	if n >= 0x80 {
		n, used = n&0x7f|uint64(s.b[at+2])<<7, 3
	}
	if n == 0 || n > 1<<14 || at+used+n > uint64(len(s.b)) {
		return "", false
	}
	name := s.b[at+used : at+used+n]
	for _, c := range name {
		if c < ' ' {
			return "", false
		}
	}
	return string(name), true
}

// field is a struct's i-th: its type and offset; ok is false behind the last.
func (s *typeSection) field(off, i uint64) (f fieldAt, ok bool) {
	if off+structSize > uint64(len(s.b)) {
		return f, false
	}
	list, n := gomem.Word(s.b, off+typeSize+8)-s.at, gomem.Word(s.b, off+typeSize+16)
	if n > maxFields || i >= n || list > uint64(len(s.b)) || list+24*n > uint64(len(s.b)) {
		return f, false
	}
	return fieldAt{gomem.Word(s.b, list+24*i+8), gomem.Word(s.b, list+24*i+16)}, true
}

// maxIndexed is the size up to which a struct is found by its fields.
const maxIndexed = 4 << 10

// enterFields enters a struct by the fields that lead to other objects, those of structs in
// it too.
func (s *typeSection) enterFields(x *typeIndex, of, off, base uint64, depth int) {
	if gomem.Word(s.b, off) > maxIndexed || depth > 4 {
		return
	}
	for i := uint64(0); ; i++ {
		f, ok := s.field(off, i)
		if !ok {
			return
		}
		s.enterField(x, of, fieldAt{f.typ, base + f.off}, depth)
	}
}

// mostElements is how many elements of an array in a struct are entered.
const mostElements = 64

// enterField enters one field, or what it consists of.
func (s *typeSection) enterField(x *typeIndex, of uint64, f fieldAt, depth int) {
	at := f.typ - s.at
	if at+typeSize+24 > uint64(len(s.b)) || depth > 4 {
		return
	}
	switch s.b[at+23] & kindMask {
	case kindStruct:
		if name, _ := s.nameOf(at); strings.HasPrefix(name, "atomic.Pointer[") {
			key := fieldAt{f.typ, f.off + gomem.Word(s.b, at) - 8}
			x.byField[key] = append(x.byField[key], of)
			return
		}
		s.enterFields(x, of, at, f.off, depth+1)
	case kindArray:
		elem, n := gomem.Word(s.b, at+typeSize), gomem.Word(s.b, at+typeSize+16)
		if n == 0 || n > mostElements {
			return
		}
		for i := range n {
			s.enterField(x, of, fieldAt{elem, f.off + i*(gomem.Word(s.b, at)/n)}, depth+1)
		}
	case kindMap, kindChan, kindPointer, kindSlice:
		x.byField[f] = append(x.byField[f], of)
	}
}
