package goheap

import (
	"slices"
	"strings"
)

// slotKind is what a pointer's place says of what it points to.
type slotKind uint8

const (
	slotUnknown   slotKind = iota
	slotPointer            // one value of elem, or several where several is set
	slotSlice              // a slice's array
	slotString             // a string's bytes
	slotInterface          // the data word: elem is told by the word before, an itab
	slotEmpty              // the same, by a type
	slotFunc               // a closure
)

// slot is one word of a type.
type slot struct {
	kind    slotKind
	elem    int32
	label   int32
	arrayed int32  // label where the object holds several values of the type
	size    uint64 // bytes of an element, of slices
}

// slotsOf is what the words of a type are, nil of one that has no size or is too
// large for a table.
func (t *Types) slotsOf(typ int32) []slot {
	size := t.all[typ].size
	if t.all[typ].slots == nil && size > 0 && size <= maxSlots*8 {
		slots := make([]slot, (size+7)/8)
		for k := range slots {
			slots[k] = t.labelled(typ, uint64(8*k))
		}
		t.all[typ].slots = slots
	}
	return t.all[typ].slots
}

// slotAt is what the word at off, below the type's size, is.
func (t *Types) slotAt(typ int32, off uint64) slot {
	if slots := t.slotsOf(typ); slots != nil {
		return slots[off/8]
	}
	return t.labelled(typ, off)
}

// labelled is resolve, with both labels.
func (t *Types) labelled(typ int32, off uint64) slot {
	s := t.resolve(typ, off)
	s.arrayed = t.label("[]" + t.labels[s.label])
	return s
}

// resolve finds the field at off and its path.
func (t *Types) resolve(typ int32, off uint64) slot {
	switch t.all[typ].role {
	case roleMap:
		return t.mapHeader(typ, off)
	case roleDir:
		return slot{kind: slotPointer, elem: t.as(t.all[typ].addr, roleTable)}
	case roleTable:
		if off == 16 { // maps.table.groups.data
			return slot{kind: slotSlice, elem: t.all[typ].elem}
		}
		return slot{}
	case roleExtra: // runtime/map.go of Go 1.23, mapextra: overflow, oldoverflow, nextOverflow
		if off < 16 {
			return slot{kind: slotPointer, elem: t.as(t.all[typ].addr, roleOverflow)}
		}
		return slot{}
	case roleOverflow:
		return slot{kind: slotSlice, elem: t.pointerTo(t.all[typ].elem)}
	case roleChan:
		if off == 16 { // runtime.hchan.buf
			return slot{kind: slotSlice, elem: t.all[typ].elem, label: t.label("")}
		}
		return slot{}
	case roleGroups:
		return t.groupSlot(typ, off)
	case roleClosure:
		return t.capturedSlot(typ, off)
	case roleRuntime:
		return t.runtimeSlot(typ, off)
	}
	var path []string
	s := t.field(typ, off, &path, 0)
	s.label = t.label(strings.Join(path, ""))
	return s
}

// mapHeader is a word of a map's header: internal/runtime/maps.Map since Go 1.24,
// runtime.hmap before.
func (t *Types) mapHeader(typ int32, off uint64) slot {
	g := &t.all[typ]
	switch {
	case t.swiss && off == 16:
		// Without a directory it is one group; the header says which, its word is read
		// where the object is at hand.
		return slot{kind: slotSlice, elem: t.as(g.addr, roleDir)}
	case !t.swiss && (off == 16 || off == 24):
		return slot{kind: slotSlice, elem: g.elem}
	case !t.swiss && off == 40:
		return slot{kind: slotPointer, elem: t.as(g.addr, roleExtra)}
	}
	return slot{}
}

// groupSlot is a word of a map's group of slots, or bucket.
func (t *Types) groupSlot(typ int32, off uint64) slot {
	var path []string
	s := t.field(typ, off, &path, 0)
	text := strings.Join(path, "")
	for _, p := range []struct{ long, short string }{
		{".slots[].key", "[key]"}, {".slots[].elem", "[]"}, // since Go 1.24
		{".keys[]", "[key]"}, {".elems[]", "[]"}, // Go 1.23, and with GOEXPERIMENT=mapsplitgroup
	} {
		if rest, ok := strings.CutPrefix(text, p.long); ok {
			text = p.short + rest
			break
		}
	}
	if text == ".overflow" {
		text, s = "", slot{kind: slotPointer, elem: typ}
	}
	s.label = t.label(text)
	return s
}

// pointerTo is a type that stands for pointers to elem.
func (t *Types) pointerTo(elem int32) int32 {
	key := typeKey{uint64(elem), roleOverflow + 64}
	if i, ok := t.byKey[key]; ok {
		return i
	}
	i := int32(len(t.all))
	t.byKey[key] = i
	t.all = append(t.all, goType{typeKey: typeKey{key.addr, roleValue}, kind: kindPointer, size: 8, elem: elem, name: "overflow list"})
	return i
}

// field descends to the word at off and appends its path.
func (t *Types) field(typ int32, off uint64, path *[]string, depth int) slot {
	g := &t.all[typ]
	if depth > maxNested {
		return slot{}
	}
	switch g.kind {
	case kindStruct:
		i, ok := slices.BinarySearchFunc(g.fields, off, func(f goField, off uint64) int {
			switch end := f.offset + t.all[f.typ].size; {
			case end <= off:
				return -1
			case f.offset > off:
				return 1
			}
			return 0
		})
		if !ok {
			return slot{}
		}
		f := g.fields[i]
		*path = append(*path, "."+f.name)
		if s, ok := t.unsafeSlot(g, &f); ok {
			return s
		}
		return t.field(f.typ, off-f.offset, path, depth+1)
	case kindArray:
		if g.elem == 0 || t.all[g.elem].size == 0 {
			return slot{}
		}
		*path = append(*path, "[]")
		return t.field(g.elem, off%t.all[g.elem].size, path, depth+1)
	}
	return t.leaf(g, off)
}

// leaf is a word of a value that is no struct or array.
func (t *Types) leaf(g *goType, off uint64) slot {
	switch {
	case g.kind == kindPointer:
		return slot{kind: slotPointer, elem: g.elem}
	case g.kind == kindSlice && off == 0:
		s := slot{kind: slotSlice, elem: g.elem}
		if g.elem > 0 {
			s.size = t.all[g.elem].size
		}
		return s
	case g.kind == kindString && off == 0:
		return slot{kind: slotString, elem: t.as(0, roleString), size: 1}
	case g.kind == kindMap:
		return slot{kind: slotPointer, elem: t.as(g.addr, roleMap)}
	case g.kind == kindChan:
		return slot{kind: slotPointer, elem: t.as(g.addr, roleChan)}
	case g.kind == kindFunc:
		return slot{kind: slotFunc}
	case g.kind == kindInterface && off == 8 && g.methods:
		return slot{kind: slotInterface}
	case g.kind == kindInterface && off == 8:
		return slot{kind: slotEmpty}
	}
	return slot{}
}
