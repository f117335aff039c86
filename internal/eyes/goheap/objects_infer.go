package goheap

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

// inferrer finds types of objects to which nothing with a type leads, as in a stripped
// program all that only a variable holds: by what they point to. A map's header leads to
// tables of groups that have a type; a struct is the one of the program that has a field
// of just these types at just these places.
type inferrer struct {
	*typer
	index *typeIndex
	known map[shape]int32 // 0: none, or several
	asked bool            // what interfaces in objects without a type lead to
}

// shape is what is asked of an object at first: its size, and one typed pointer of it.
type shape struct {
	size uint64
	at   fieldAt
}

// maxRounds is how far up it goes: from a map to the struct that has it, to what has that.
const maxRounds = 6

// maxInferred bounds the objects that are looked at in a round.
const maxInferred = 1 << 23

// infer goes up from what has a type, as long as that finds some. Each time what is
// found leads on to others.
func (ty *typer) infer(follow func() error) error {
	in := inferrer{typer: ty, known: make(map[shape]int32)}
	for range maxRounds {
		if !in.round() {
			return nil
		}
		if err := follow(); err != nil {
			return err
		}
	}
	return nil
}

// round looks at every object without a type once, and says whether it found some.
func (in *inferrer) round() (found bool) {
	o := in.o
	inner, looked := uint32(o.Count-o.Leaves), 0
	for w := range (inner + 63) / 64 {
		for rest := ^in.typed[w]; rest != 0; rest &= rest - 1 {
			id := 64*w + uint32(bits.TrailingZeros64(rest))
			if looked++; id >= inner || looked > maxInferred {
				return found
			}
			if ref := in.typeOfObject(id); ref != 0 {
				in.set(id, ref)
				in.onStack(id, ref)
				in.listOf(id, ref)
				found = true
			} else if !in.asked && in.interfacesIn(id) {
				found = true
			}
		}
	}
	in.asked = true
	return found
}

// typeOfObject is the type that an object must have, 0 if that is not sure.
func (in *inferrer) typeOfObject(id uint32) TypeRef {
	first, end := in.o.Pointers(id)
	if first == end || in.shift[id] != 0 {
		return 0
	}
	if in.index == nil {
		in.index = in.types.index()
	}
	b := in.o.values(id)
	if typ := in.closureOf(b); typ != 0 {
		return refOf(typ, false)
	}
	if typ := in.nodeOfTrie(b); typ != 0 {
		return refOf(typ, false)
	}
	if typ := in.element(id, b); typ != 0 {
		return refOf(typ, false)
	}
	if typ := in.mapOf(b); typ != 0 {
		return refOf(typ, false)
	}
	if in.types.swiss {
		if ref := in.behindMap(b); ref != 0 {
			return ref
		}
	}
	if typ := in.chanOf(b); typ != 0 {
		return refOf(typ, false)
	}
	if typ := in.structOf(id, b); typ != 0 {
		return refOf(typ, false)
	}
	return in.arrayOf(b)
}

// onStack lists a map whose header is not in the heap, by its directory.
func (in *inferrer) onStack(id uint32, ref TypeRef) {
	if g := &in.types.all[ref.index()]; g.role != roleDir || len(in.o.Collections) >= maxListed {
		return
	}
	b := in.o.values(id)
	c := Collection{Object: id, Kind: "map"}
	last := uint64(0)
	for off := uint64(0); off+8 <= uint64(len(b)); off += 8 {
		table := gomem.Word(b, off)
		if t := in.o.pointed(table); table != last && len(t) >= 4 {
			c.Len, c.Cap = c.Len+uint64(gomem.Short(t, 0)), c.Cap+uint64(gomem.Short(t, 2)) // maps.table.used, capacity
		}
		last = table
	}
	if c.Len >= minEntries || c.Cap >= minEntries {
		in.o.Collections = append(in.o.Collections, c)
	}
}

// typeAt is the type of the object that begins at p, 0 if it has none or there is none.
func (in *inferrer) typeAt(p uint64) TypeRef {
	id, k, behind, ok := in.o.find(p)
	if !ok || behind != k.header || !in.isTyped(id) {
		return 0
	}
	return in.o.TypeOf(id)
}

// at is the contents of the object that begins at p, nil if there is none.
func (in *inferrer) at(p uint64) []byte {
	id, k, behind, ok := in.o.find(p)
	if !ok || behind != k.header {
		return nil
	}
	return in.o.values(id)
}

// mapHeaderSize is the bytes of a map's header: internal/runtime/maps.Map, and runtime.hmap
// to Go 1.23.
const mapHeaderSize = 48

// mapOf is the type of a map, told by that of the entries behind its header.
func (in *inferrer) mapOf(b []byte) int32 {
	if len(b) != mapHeaderSize {
		return 0
	}
	groups := in.typeAt(gomem.Word(b, 16))
	if in.types.swiss {
		n, dir := gomem.Word(b, 24), in.at(gomem.Word(b, 16))
		if n == 0 || n&(n-1) != 0 || n > uint64(len(dir))/8 {
			return 0
		}
		table := in.at(gomem.Word(dir, 0))
		if len(table) < 24 {
			return 0
		}
		groups = in.typeAt(gomem.Word(table, 16))
	}
	g := &in.types.all[groups.index()]
	if groups == 0 || g.role != roleGroups {
		return 0
	}
	name, ok := strings.CutSuffix(g.name, " entries")
	if !ok {
		return 0
	}
	addr := in.mapNamed(name)
	if addr == 0 {
		return 0
	}
	return in.types.as(addr, roleMap)
}

// behindMap is the type of what a map has between its header, which may lie on a stack, and
// its entries: of a table, and of the directory of all tables.
func (in *inferrer) behindMap(b []byte) TypeRef {
	const tableSize = 32 // internal/runtime/maps.table
	if len(b) == tableSize {
		groups := in.typeAt(gomem.Word(b, 16))
		if g := &in.types.all[groups.index()]; groups != 0 && g.role == roleGroups {
			if typ := in.mapNamed(strings.TrimSuffix(g.name, " entries")); typ != 0 {
				return refOf(in.types.as(typ, roleTable), false)
			}
		}
	}
	table := TypeRef(0)
	for off := uint64(0); off+8 <= uint64(len(b)); off += 8 {
		p := gomem.Word(b, off)
		if p == 0 && off > 0 {
			continue // the class is larger than the directory
		}
		switch to := in.typeAt(p); {
		case to == 0 || in.types.all[to.index()].role != roleTable, table != 0 && to != table:
			return 0
		default:
			table = to
		}
	}
	if table == 0 {
		return 0
	}
	return refOf(in.types.as(in.types.all[table.index()].addr, roleDir), true)
}

// mapNamed is the address of a map's type.
func (in *inferrer) mapNamed(name string) uint64 {
	addr := in.index.byName[name]
	if typ := in.types.at(addr); typ == 0 || in.types.all[typ].kind != kindMap {
		return 0
	}
	return addr
}

// chanOf is the type of a channel, whose header says what its elements are: hchan.
func (in *inferrer) chanOf(b []byte) int32 {
	const hchanSize = 96
	at := in.types.elemtype
	if len(b) < hchanSize || at == 0 || gomem.Word(b, 0) > gomem.Word(b, 8) {
		return 0
	}
	p := gomem.Word(b, at)
	if _, _, _, heap := in.o.find(p); heap || p == 0 {
		return 0
	}
	elem := in.types.at(p)
	if elem == 0 || in.types.all[elem].size != uint64(gomem.Short(b, 24)) { // elemsize
		return 0
	}
	name := in.types.all[elem].name
	typ := in.types.at(in.index.byName["chan "+name])
	if typ == 0 || in.types.all[typ].elem != elem {
		return 0
	}
	return in.types.as(in.types.all[typ].addr, roleChan)
}

// structOf is the one struct with a name that fits all typed pointers of an object.
func (in *inferrer) structOf(id uint32, b []byte) int32 {
	if len(b) > maxIndexed {
		return 0
	}
	for off := uint64(0); off+8 <= uint64(len(b)); off += 8 {
		for _, field := range in.fieldsOf(b, off) {
			if field == 0 {
				continue
			}
			key := shape{uint64(len(b)), fieldAt{field, off}}
			typ, ok := in.known[key]
			if !ok {
				typ = in.fitting(key)
				in.known[key] = typ
			}
			if typ != 0 && in.agrees(typ, b) && in.holdsValues(typ, id, b) {
				return typ
			}
		}
	}
	return 0
}

// fieldsOf are the descriptors of the types that a field with the pointer at off may have,
// none if what it leads to does not say.
func (in *inferrer) fieldsOf(b []byte, off uint64) (all [2]uint64) {
	to := in.typeAt(gomem.Word(b, off))
	if to == 0 {
		return all
	}
	g := &in.types.all[to.index()]
	switch {
	case g.role == roleMap, g.role == roleChan:
		all[0] = g.addr
	case g.role != roleValue:
	case to.array():
		if off+24 <= uint64(len(b)) && gomem.Word(b, off+8) <= gomem.Word(b, off+16) && g.kind >= kindArray && g.kind != kindUnsafe {
			all[0] = in.index.byName["[]"+g.name]
		}
	case g.named():
		all[0], all[1] = in.index.byName["*"+g.name], in.index.byName["atomic.Pointer["+nodeName(g.fullName())+"]"]
	}
	return all
}

// fitting is the struct that has such a field and takes an object of that size, 0 if it
// is not the only one.
func (in *inferrer) fitting(s shape) (found int32) {
	for _, addr := range slices.Compact(in.index.byField[s.at]) {
		typ := in.types.at(addr)
		if typ == 0 || !fits(in.types.all[typ].size, s.size) {
			continue
		}
		if found != 0 {
			return 0
		}
		found = typ
	}
	return found
}

// fits says whether a value is put into objects that have so many bytes behind their malloc
// header.
func fits(value, object uint64) bool {
	i, ok := slices.BinarySearch(gomem.SizeClasses, float64(object))
	if !ok { // with a header
		object += 8
		value += 8
		i, ok = slices.BinarySearch(gomem.SizeClasses, float64(object))
	}
	return ok && value <= object && (i == 0 || float64(value) > gomem.SizeClasses[i-1])
}

// agrees says whether all typed pointers of an object lie where the struct has such
// fields.
func (in *inferrer) agrees(typ int32, b []byte) bool {
	for off := uint64(0); off+8 <= uint64(len(b)); off += 8 {
		to := in.typeAt(gomem.Word(b, off))
		if to == 0 {
			continue
		}
		if off >= in.types.all[typ].size {
			return false
		}
		sl := in.types.slotAt(typ, off)
		exact := sl.kind == slotPointer || sl.kind == slotSlice
		if exact && sl.elem != 0 && sl.elem != to.index() && !in.types.all[sl.elem].isNode() || sl.kind == slotUnknown {
			return false
		}
	}
	return true
}

// holdsValues says whether what lies around an object's pointers could be the values of the struct's fields: the length of
// a string or a slice, the type of what an interface holds. An object that only happens to have a pointer where the
// struct has one is told from it by the others.
func (in *inferrer) holdsValues(typ int32, id uint32, b []byte) bool {
	w := uint64(0)
	for e, end := in.o.Pointers(id); e < end; e++ {
		behind, _ := in.o.behind(e)
		w += behind
		if 8*w >= min(in.types.all[typ].size, uint64(len(b))) {
			return false
		}
		if sl := in.types.slotAt(typ, 8*w); !in.holdsValue(&sl, in.o.To[e], b, 8*w) {
			return false
		}
	}
	return true
}

// holdsValue says whether the pointer at off, which leads to an object, could be the part of such a field.
func (in *inferrer) holdsValue(sl *slot, to uint32, b []byte, off uint64) bool {
	room, ok := in.o.roomFrom(gomem.Word(b, off), to)
	if !ok {
		return false
	}
	switch sl.kind {
	case slotString:
		return to >= uint32(in.o.Count-in.o.Leaves) && off+16 <= uint64(len(b)) && gomem.Word(b, off+8) <= room
	case slotSlice:
		return off+24 > uint64(len(b)) || sl.size == 0 || gomem.Word(b, off+8) <= gomem.Word(b, off+16) && gomem.Word(b, off+16) <= room/sl.size
	case slotInterface:
		return off >= 8 && in.types.ofItab(gomem.Word(b, off-8)) != 0
	case slotEmpty:
		return off >= 8 && in.types.at(gomem.Word(b, off-8)) != 0
	}
	return true
}
