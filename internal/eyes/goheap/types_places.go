package goheap

import (
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

// Place is one struct on the way to a pointer, and the field of it that leads on.
type Place struct {
	Struct  string // its type, "store.Cache[int]"; "": it has no name
	Package string // its import path
	Field   string // with the parts of structs without a name: "stats.byUser"
	Type    string // of the field
}

// Part is what an object is to whoever wrote the program.
type Part uint8

// The parts.
const (
	PartValue   Part = iota // a value of a type of the program
	PartMap                 // a map
	PartChannel             // a channel
	PartInside              // what the runtime keeps behind a map
	PartClosure             // a function and what it captured
)

// PartOf is what objects of a type are.
func (t *Types) PartOf(r TypeRef) Part {
	switch t.all[r.index()].role {
	case roleMap:
		return PartMap
	case roleChan:
		return PartChannel
	case roleDir, roleTable, roleGroups, roleExtra, roleOverflow:
		return PartInside
	case roleClosure:
		return PartClosure
	}
	return PartValue
}

// IsArray says whether objects of a type are the arrays of slices.
func (t *Types) IsArray(r TypeRef) bool {
	return r.array() && t.all[r.index()].role == roleValue
}

// OfInterfaces says whether objects of a type are arrays of interfaces, whose values have
// different types.
func (t *Types) OfInterfaces(r TypeRef) bool {
	return t.IsArray(r) && t.all[r.index()].kind == kindInterface
}

// PlacesOf are the structs, outermost first, in an object of a type that a label of its
// pointers stands for (Objects.Edge). What is not in a struct has no place.
func (t *Types) PlacesOf(r TypeRef, label int32) []Place {
	if r == 0 {
		return nil
	}
	for k, s := range t.slotsOf(r.index()) {
		if s.kind != slotUnknown && (s.label == label || r.array() && s.arrayed == label) {
			return t.places(r.index(), uint64(8*k))
		}
	}
	return nil
}

// places descends to the word at off as field does.
func (t *Types) places(typ int32, off uint64) (all []Place) {
	for range maxNested {
		g := &t.all[typ]
		switch {
		case g.kind == kindStruct && (g.role == roleValue || g.role == roleGroups):
			i := slices.IndexFunc(g.fields, func(f goField) bool { return f.offset <= off && off < f.offset+t.all[f.typ].size })
			if i < 0 {
				return all
			}
			f := &g.fields[i]
			name := Place{Struct: g.name, Package: g.pkg, Field: f.name, Type: t.all[f.typ].name}
			if last := len(all) - 1; !g.named() && last >= 0 {
				all[last].Field, all[last].Type = all[last].Field+"."+f.name, name.Type
			} else if g.named() {
				all = append(all, name)
			}
			typ, off = f.typ, off-f.offset
		case g.kind == kindArray && g.elem > 0 && t.all[g.elem].size > 0:
			typ, off = g.elem, off%t.all[g.elem].size
		default:
			return all
		}
	}
	return all
}

// named says whether a type has a name in the source.
func (g *goType) named() bool { return g.tflag&tflagNamed != 0 }

// Package is the import path of the package that a type with a name is of.
func (t *Types) Package(r TypeRef) string { return t.all[r.index()].pkg }

// IsNamed says whether a type has a name in the source.
func (t *Types) IsNamed(r TypeRef) bool { return r != 0 && t.all[r.index()].named() }

// RootType is a variable's type, 0 if it is not known.
func (r *Root) RootType() TypeRef { return refOf(r.typ, false) }

// readPackage reads the package of a type with a name, which its uncommon part tells
// (internal/abi/type.go: Uncommon, and UncommonType.PkgPath). It lies behind the struct
// of the kind.
func (t *Types) readPackage(g *goType, behind uint64) string {
	var b [4]byte
	if g.tflag&tflagUncommon == 0 || t.load(g.addr+behind, b[:]) != nil {
		return ""
	}
	off := gomem.Half(b[:], 0)
	if off == 0 {
		return ""
	}
	for i := range t.c.modules {
		if m := &t.c.modules[i]; g.addr >= m.types && g.addr < m.typesEnd {
			return strings.TrimSuffix(t.name(m.types+uint64(off)), "\x00")
		}
	}
	return ""
}

// Flags of abi.Type.TFlag (internal/abi/type.go).
const (
	tflagUncommon = 1 << 0
	tflagNamed    = 1 << 2
)

// structSize is that of an abi.StructType: a Type, the package's name, the fields.
const structSize = typeSize + 8 + 24

// PackageKind says whose code a package is, nearest first.
type PackageKind uint8

// The kinds.
const (
	PackageOwn PackageKind = iota
	PackageDependency
	PackageStandard
)

// OwnerOf says whose the package is that the name of a function or variable begins with.
func (t *Types) OwnerOf(name string) PackageKind {
	switch t.bin.Owner(name).Kind {
	case gobin.OwnModule:
		return PackageOwn
	case gobin.Dependency:
		return PackageDependency
	}
	return PackageStandard
}
