package goheap

import (
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

// closureOf is the type of an object that begins with the address of a function's code:
// nothing but a closure does.
func (in *inferrer) closureOf(b []byte) int32 {
	if len(b) < 16 {
		return 0
	}
	pc := gomem.Word(b, 0)
	for i := range in.c.modules {
		if m := &in.c.modules[i]; pc < m.text || pc >= m.textTo {
			continue
		}
		if f, ok := in.types.bin.FuncAt(pc - in.c.bias); ok && f.Entry == pc-in.c.bias {
			return in.types.as(pc, roleClosure)
		}
	}
	return 0
}

// nodeOfTrie is the type of an entry of a sync.Map since Go 1.24: of one that begins with a
// true (node.isEntry) and has the types of its key and value where an entry has them.
func (in *inferrer) nodeOfTrie(b []byte) int32 {
	const key, value, size = 16, 32, 48 // internal/sync.entry[any, any]: node, overflow, key, value
	if len(b) != size || gomem.Word(b, 0) != 1 {
		return 0
	}
	addr := in.index.byName["sync.entry[interface {},interface {}]"]
	if addr == 0 || !in.isTypeWord(gomem.Word(b, key)) || !in.isTypeWord(gomem.Word(b, value)) {
		return 0
	}
	return in.types.at(addr)
}

// isTypeWord says whether a word is the type of an interface's value.
func (in *inferrer) isTypeWord(w uint64) bool {
	if _, ok := in.types.inTypes(w); !ok {
		return false
	}
	t := in.types.at(w)
	return t != 0 && in.index.byName[in.types.all[t].name] == w
}

// element is the type of an element of a container/list: of one whose neighbour knows it,
// and which knows its list.
func (in *inferrer) element(id uint32, b []byte) int32 {
	const size = 48 // list.Element: next, prev, list, Value; and list.List: root, len
	if len(b) != size || gomem.Word(b, 16) == 0 || gomem.Word(b, 0) == 0 {
		return 0
	}
	next, list := in.at(gomem.Word(b, 0)), in.at(gomem.Word(b, 16))
	if len(next) != size || len(list) != size || gomem.Word(next, 8) != in.o.Address(id) || gomem.Word(list, 0) == 0 || gomem.Word(list, 8) == 0 {
		return 0
	}
	if gomem.Word(b, 0) != gomem.Word(b, 16) && gomem.Word(next, 16) != gomem.Word(b, 16) { // another element is of the same list
		return 0
	}
	return in.types.at(in.index.byName["list.Element"])
}

// listOf types the list of an element: the last element leads to it, too, as to an element.
func (in *inferrer) listOf(id uint32, ref TypeRef) {
	if g := &in.types.all[ref.index()]; g.name != "list.Element" || g.pkg != "container/list" {
		return
	}
	if b := in.o.values(id); len(b) >= 24 {
		if list, _, behind, ok := in.o.find(gomem.Word(b, 16)); ok && behind == 0 {
			in.set(list, refOf(in.types.at(in.index.byName["list.List"]), false))
		}
	}
}

// leastArray is from how many pointers to one type on an object is taken for the array of a
// slice.
const leastArray = 4

// arrayOf is the array of a slice of pointers to values of one type with a name, and of
// nothing else.
func (in *inferrer) arrayOf(b []byte) TypeRef {
	to, n := TypeRef(0), 0
	for off := uint64(0); off+8 <= uint64(len(b)); off += 8 {
		p := gomem.Word(b, off)
		if p == 0 {
			continue
		}
		switch t := in.typeAt(p); {
		case t == 0 || t.array() || !in.types.all[t.index()].named(), n > 0 && t != to:
			return 0
		default:
			to = t
			n++
		}
	}
	if n < leastArray {
		return 0
	}
	return refOf(in.types.at(in.index.byName["*"+in.types.all[to.index()].name]), true)
}

// fullName is a type's with the whole path of its package, as arguments of other types have
// it.
func (g *goType) fullName() string {
	if _, name, ok := strings.Cut(g.name, "."); ok && g.pkg != "" {
		return g.pkg + "." + name
	}
	return g.name
}

// nodeName is by what type the nodes of a sync.Map are pointed to.
func nodeName(full string) string {
	if args, ok := strings.CutPrefix(full, "internal/sync.entry["); ok {
		return "internal/sync.node[" + args
	}
	return full
}
