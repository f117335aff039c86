package gobin

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/highwater-go/highwater/internal/files/elffile"
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

// maxTypes bounds the types of each kind that are noted of a program's DWARF.
const maxTypes = 1 << 20

// attrRuntimeType is what Go's compiler notes at a type's entry: where its
// descriptor lies behind runtime.types (cmd/internal/dwarf, DW_AT_go_runtime_type).
const attrRuntimeType = dwarf.Attr(0x2904)

// Variables are those with a name within one of the ranges [2]{start, end} of
// link-time addresses, by address; their types where the file has DWARF. A stripped
// program has none. Of processes of one build the list is made once, and not to be changed.
func (b *Binary) Variables(ranges [][2]uint64) ([]Variable, error) {
	if b.table == nil {
		return b.findVariables(ranges)
	}
	v := &b.table.variables
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.read || !slices.Equal(v.ranges, ranges) {
		v.read, v.ranges = true, slices.Clone(ranges)
		v.all, v.err = b.findVariables(ranges)
	}
	return v.all, v.err
}

// foundVariables is what Variables found.
type foundVariables struct {
	mu     sync.Mutex
	read   bool
	ranges [][2]uint64
	all    []Variable
	err    error
}

func (b *Binary) findVariables(ranges [][2]uint64) (all []Variable, err error) {
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

// variableTypes are the types of variables by name.
func (b *Binary) variableTypes() (map[string]variableType, error) {
	w, err := b.walkEntries()
	if err != nil {
		return nil, fmt.Errorf("DWARF: %w", err)
	}
	return w.types(), nil
}

func (b *Binary) walkEntries() (*dwarfWalk, error) {
	r, err := b.entries()
	if err != nil {
		return nil, err
	}
	w := newDwarfWalk()
	return w, r.walk(w)
}

// entries is the program's DWARF; without any it has no entries.
func (b *Binary) entries() (r *entries, err error) {
	defer catch(&err)
	f, err := elffile.New(b.file)
	if err != nil {
		return nil, err
	}
	section := func(name string) []byte {
		s := f.Section(".debug_" + name)
		if s == nil {
			s = f.Section(".zdebug_" + name)
		}
		if s == nil || err != nil {
			return nil
		}
		var data []byte
		data, err = sectionData(s)
		return data
	}
	r = &entries{abbrev: section("abbrev"), info: section("info"), str: section("str"), lineStr: section("line_str"),
		strOffsets: section("str_offsets"), addr: section("addr")}
	return r, err
}

// What a section of DWARF may unpack to: Kubernetes' API server has 70 MiB of entries,
// and the linker makes of four bytes one. Of a few bytes more may come, to a mebibyte.
const (
	maxSection  = 512 << 20
	maxUnpacked = 32
)

// sectionData is a section's content, unpacked.
func sectionData(s *elf.Section) ([]byte, error) {
	if s.Size > maxSection || s.Size > max(1<<20, maxUnpacked*s.FileSize) {
		return nil, fmt.Errorf("the section %s of %d bytes is said to unpack to %d: more than any linker writes, it is not read", s.Name, s.FileSize, s.Size)
	}
	return s.Data()
}

// walk notes all entries.
func (r *entries) walk(w *dwarfWalk) (err error) {
	defer catch(&err)
	return r.each(w.entry)
}

// dwarfWalk collects variables and types, which it knows by the offsets of their
// entries.
type dwarfWalk struct {
	of       map[uint64]variableType
	named    map[uint64]uint64 // what a typedef stands for
	pointers map[uint64]uint64 // what a type points to
	byName   map[string]uint64 // types of variables
}

func newDwarfWalk() *dwarfWalk {
	return &dwarfWalk{of: make(map[uint64]variableType), named: make(map[uint64]uint64),
		pointers: make(map[uint64]uint64), byName: make(map[string]uint64)}
}

func (w *dwarfWalk) entry(e *entry) {
	switch e.tag {
	case dwarf.TagVariable:
		if e.typ != 0 && len(e.name) > 0 && len(w.byName) < maxVariables {
			w.byName[string(e.name)] = e.typ
		}
		return
	case dwarf.TagTypedef:
		if e.typ != 0 && len(w.named) < maxTypes {
			w.named[e.offset] = e.typ
		}
	case dwarf.TagPointerType:
		if e.typ != 0 && len(w.pointers) < maxTypes {
			w.pointers[e.offset] = e.typ
		}
	}
	t := variableType{place: e.runtime}
	if name := string(e.name); name == "runtime.iface" || name == "runtime.eface" {
		t.iface = name[len("runtime."):]
	}
	if t != (variableType{}) && len(w.of) < maxTypes {
		w.of[e.offset] = t
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
func (w *dwarfWalk) typeAt(typ uint64) variableType {
	t := w.of[typ]
	for n := 0; t.place == 0 && t.iface == "" && n < 8; n++ {
		typ = w.named[typ]
		t = w.of[typ]
	}
	return t
}
