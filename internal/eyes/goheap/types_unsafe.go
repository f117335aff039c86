package goheap

import "strings"

// unsafeSlot is a pointer that the standard library keeps as an unsafe.Pointer, and what it
// leads to all the same; ok is false for others.
//
//   - sync/atomic.Pointer[T].v leads to a T, which the field before it tells: _ [0]*T.
//   - sync.Pool.local and victim lead to an array of sync.poolLocal, one for each P.
func (t *Types) unsafeSlot(g *goType, f *goField) (s slot, ok bool) {
	if t.all[f.typ].kind != kindUnsafe {
		return s, false
	}
	switch {
	case f.name == "v" && strings.HasPrefix(g.name, "atomic.Pointer[") && len(g.fields) > 0:
		array := &t.all[g.fields[0].typ]
		if array.kind != kindArray || array.length != 0 || array.elem == 0 {
			return s, false
		}
		return slot{kind: slotPointer, elem: t.all[array.elem].elem}, true
	case g.name == "sync.Pool" && g.pkg == "sync" && (f.name == "local" || f.name == "victim"):
		local := t.at(t.index().byName["sync.poolLocal"])
		return slot{kind: slotSlice, elem: local, size: t.all[local].size}, local != 0
	}
	return s, false
}

// isNode says whether a type is the beginning of a node of internal/sync.HashTrieMap, which
// sync.Map is since Go 1.24: either of an inner node or of an entry.
func (g *goType) isNode() bool {
	return g.kind == kindStruct && strings.HasPrefix(g.name, "sync.node[") && g.pkg == "internal/sync"
}

// nodeOf is what a node is (internal/sync/hashtriemap.go: node.isEntry is its first byte).
func (ty *typer) nodeOf(id uint32, ref TypeRef) TypeRef {
	_, args, _ := strings.Cut(ty.types.all[ref.index()].name, "[")
	b := ty.o.values(id)
	if len(b) == 0 {
		return ref
	}
	name := "sync.indirect["
	if b[0] != 0 {
		name = "sync.entry["
	}
	if t := ty.types.at(ty.types.index().byName[name+args]); t != 0 {
		return refOf(t, false)
	}
	return ref
}
