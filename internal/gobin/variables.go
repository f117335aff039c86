package gobin

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
)

// Variable is a package-level variable.
type Variable struct {
	Name       string // "main.cache"
	Addr, Size uint64 // link-time
	Type       uint64 // where its type's descriptor lies behind moduledata.types; 0: not known
	Pointer    bool   // Type is not its own, which the program does without, but what it points to
	Interface  string // of an interface without a descriptor "iface", or "eface" if it has no methods
}

// maxVariables bounds the list; Kubernetes' API server has 200,000.
const maxVariables = 1 << 22

// attrRuntimeType is what Go's compiler notes at a type's entry: where its
// descriptor lies behind runtime.types (cmd/internal/dwarf, DW_AT_go_runtime_type).
const attrRuntimeType = dwarf.Attr(0x2904)

// Variables are those with a name within one of the ranges [2]{start, end} of
// link-time addresses, by address; their types where the file has DWARF. A stripped
// program has none.
func (b *Binary) Variables(ranges [][2]uint64) (all []Variable, err error) {
	defer reportFault(debug.SetPanicOnFault(true), &err)
	defer b.Release()
	for rest := b.symtab; len(rest) >= elf.Sym64Size && len(all) < maxVariables; rest = rest[elf.Sym64Size:] {
		if v, ok := b.variable(rest, ranges); ok {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(a, b Variable) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(b.Size, a.Size))
	})
	all = slices.CompactFunc(all, func(a, b Variable) bool { return a.Addr == b.Addr })
	if len(all) == 0 {
		return nil, nil
	}
	types, err := b.variableTypes()
	for i := range all {
		t := types[all[i].Name]
		all[i].Type, all[i].Interface, all[i].Pointer = t.place, t.iface, t.pointer
	}
	return all, err
}

// variable reads one Elf64_Sym; see wanted.
func (b *Binary) variable(sym []byte, ranges [][2]uint64) (v Variable, ok bool) {
	v.Addr, v.Size = binary.LittleEndian.Uint64(sym[8:]), binary.LittleEndian.Uint64(sym[16:])
	off := binary.LittleEndian.Uint32(sym)
	if elf.ST_TYPE(sym[4]) != elf.STT_OBJECT || v.Size == 0 || uint64(off) >= uint64(len(b.strtab)) {
		return v, false
	}
	for _, r := range ranges {
		if v.Addr >= r[0] && v.Addr < r[1] {
			v.Name = cstring(b.strtab, off)
			return v, v.Name != ""
		}
	}
	return v, false
}

// variableType is what DWARF says of a type.
type variableType struct {
	place   uint64
	iface   string
	pointer bool // place is what it points to
}

// entrySections are what entries consist of.
var entrySections = []string{"abbrev", "addr", "info", "line_str", "str", "str_offsets", "types"}

// variableTypes are the types of variables by name.
func (b *Binary) variableTypes() (types map[string]variableType, err error) {
	defer catch(&err)
	f, err := elf.NewFile(b.file)
	if err != nil {
		return nil, err
	}
	if f.Section(".debug_info") == nil && f.Section(".zdebug_info") == nil {
		return nil, nil
	}
	for _, s := range f.Sections {
		if _, part, ok := strings.Cut(s.Name, "debug_"); ok && !slices.Contains(entrySections, part) {
			s.Name = "" // is not inflated: places of lines and values are the larger part
		}
	}
	d, err := f.DWARF()
	if err != nil {
		return nil, fmt.Errorf("DWARF: %w", err)
	}
	w := dwarfWalk{of: make(map[dwarf.Offset]variableType), named: make(map[dwarf.Offset]dwarf.Offset),
		pointers: make(map[dwarf.Offset]dwarf.Offset), byName: make(map[string]dwarf.Offset)}
	for r := d.Reader(); ; {
		e, err := r.Next()
		if err != nil || e == nil {
			return w.types(), err
		}
		if w.entry(e); e.Tag == dwarf.TagSubprogram {
			r.SkipChildren()
		}
	}
}

// dwarfWalk collects variables and types on one way through the DWARF.
type dwarfWalk struct {
	of       map[dwarf.Offset]variableType
	named    map[dwarf.Offset]dwarf.Offset // what a typedef stands for
	pointers map[dwarf.Offset]dwarf.Offset // what a type points to
	byName   map[string]dwarf.Offset       // types of variables
}

func (w *dwarfWalk) entry(e *dwarf.Entry) {
	name, _ := e.Val(dwarf.AttrName).(string)
	typ, hasType := e.Val(dwarf.AttrType).(dwarf.Offset)
	switch e.Tag {
	case dwarf.TagVariable:
		if hasType && name != "" && len(w.byName) < maxVariables {
			w.byName[name] = typ
		}
		return
	case dwarf.TagTypedef:
		if hasType {
			w.named[e.Offset] = typ
		}
	case dwarf.TagPointerType:
		if hasType {
			w.pointers[e.Offset] = typ
		}
	}
	t := variableType{place: address(e.Val(attrRuntimeType))}
	if name == "runtime.iface" || name == "runtime.eface" {
		t.iface = name[len("runtime."):]
	}
	if t != (variableType{}) {
		w.of[e.Offset] = t
	}
}

func (w *dwarfWalk) types() map[string]variableType {
	types := make(map[string]variableType, len(w.byName))
	for name, typ := range w.byName {
		t := w.typeAt(typ)
		if to, ok := w.pointers[typ]; ok && t == (variableType{}) {
			if t = w.typeAt(to); t.place != 0 {
				t.pointer = true
			}
		}
		types[name] = t
	}
	return types
}

// typeAt is what the entry at an offset says, or what it is another name for.
func (w *dwarfWalk) typeAt(typ dwarf.Offset) variableType {
	t := w.of[typ]
	for n := 0; t.place == 0 && t.iface == "" && n < 8; n++ {
		typ = w.named[typ]
		t = w.of[typ]
	}
	return t
}

// address reads an attribute whose form has changed.
func address(v any) uint64 {
	switch v := v.(type) {
	case uint64:
		return v
	case int64:
		return uint64(v)
	}
	return 0
}
