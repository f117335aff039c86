package gomem

import "context"

// typer gives objects their types: from those that carry one, and from variables,
// along every pointer whose place has a type.
type typer struct {
	o      *Objects
	c      *heapCopy
	types  *Types
	queue  []uint32
	inside []inside

	waiting []inside // types that objects carry, to be used if nothing says more
}

// inside is a pointer into an object whose start nothing with a type points to, as
// is the runtime's to the timer in a time.Timer.
type inside struct {
	object uint32
	typ    int32
	at     uint32
}

// run types what it can.
func (ty *typer) run(ctx context.Context) error {
	ty.o.TypeOf = make([]TypeRef, ty.o.Count)
	ty.o.shift = make(map[uint32]uint32)
	ty.carried()
	ty.fromRoots()
	for n := 0; ; n++ {
		if len(ty.queue) == 0 && !ty.fromInside() {
			return nil
		}
		id := ty.queue[len(ty.queue)-1]
		ty.queue = ty.queue[:len(ty.queue)-1]
		ty.follow(id)
		if n%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// fromInside types objects by pointers into them where nothing else did.
func (ty *typer) fromInside() bool {
	all := append(ty.waiting, ty.inside...)
	ty.inside, ty.waiting = nil, nil
	for _, in := range all {
		if ty.o.TypeOf[in.object] == 0 && in.at%8 == 0 {
			if in.at != 0 {
				ty.o.shift[in.object] = in.at
			}
			ty.set(in.object, refOf(in.typ, false))
		}
	}
	return len(ty.queue) > 0
}

// carried types objects with malloc headers and large ones, exactly.
func (ty *typer) carried() {
	if !ty.c.headers {
		return
	}
	for i := range ty.o.spans {
		s := &ty.o.spans[i]
		if s.span.noscan || s.elemsize <= maxInSpan {
			continue
		}
		for id := s.first; id < ty.o.endOf(i); id++ {
			typ := s.span.largeType
			if s.span.class != 0 {
				typ = word(ty.o.contents(id), 0)
			}
			if t := ty.types.at(typ); t != 0 {
				ty.carry(id, refOf(t, 2*ty.types.all[t].size <= s.elemsize-s.header(true)))
			}
		}
	}
}

// carry sets a type that an object carries. A map's directory and tables say more
// where the map leads to them: those wait.
func (ty *typer) carry(id uint32, ref TypeRef) {
	if name := ty.types.all[ref.index()].name; name == "*maps.table" || name == "maps.table" {
		ty.waiting = append(ty.waiting, inside{object: id, typ: ref.index()})
		return
	}
	ty.set(id, ref)
}

// fromRoots follows the variables whose types are known.
func (ty *typer) fromRoots() {
	g := ty.types.ofRuntime("runtime.g")
	for i := range ty.c.goroutines {
		if id, ok := ty.o.At(ty.c.goroutines[i].addr); ok {
			ty.set(id, refOf(g, false))
		}
	}
	for k := range ty.o.Roots {
		r := &ty.o.Roots[k]
		if r.typ == 0 {
			continue
		}
		node := ty.o.Count + k
		for e := ty.o.First[node]; e < ty.o.First[node+1]; e++ {
			off := uint64(ty.o.Slot[e]) * 8
			if size := ty.types.all[r.typ].size; off < size {
				ty.pointer(ty.types.slotAt(r.typ, off), ty.rootWords(r, e), ty.o.To[e])
			}
		}
	}
}

// set notes a type and that the object is to be followed.
func (ty *typer) set(id uint32, ref TypeRef) {
	if ref == 0 || ty.o.TypeOf[id] != 0 {
		return
	}
	ty.o.TypeOf[id] = ref
	if ty.o.First[id] < ty.o.First[id+1] {
		ty.queue = append(ty.queue, id)
	}
}

// follow types what an object points to.
func (ty *typer) follow(id uint32) {
	s, at := ty.o.locate(id)
	if s.data < 0 {
		return
	}
	off := s.data + int(at-s.start)
	b := ty.c.data[off : off+int(s.elemsize)]
	header := s.header(ty.c.headers) + uint64(ty.o.shift[id])
	typ := ty.o.TypeOf[id].index()
	size := ty.types.all[typ].size
	for e := ty.o.First[id]; e < ty.o.First[id+1]; e++ {
		w := uint64(ty.o.Slot[e]) * 8
		rel, ok := within(w, header, size)
		if !ok {
			continue
		}
		sl := ty.types.slotAt(typ, rel)
		if ty.types.all[typ].role == roleMap && ty.types.swiss && rel == 16 && w+16 <= uint64(len(b)) && word(b, w+8) == 0 {
			sl = slot{kind: slotSlice, elem: ty.types.all[typ].elem} // its one group
		}
		var before [3]uint64
		if w >= 8 {
			before[0] = word(b, w-8)
		}
		before[1] = word(b, w)
		if w+16 <= uint64(len(b)) {
			before[2] = word(b, w+8)
		}
		ty.pointer(sl, before, ty.o.To[e])
	}
}

// within is where in a value of a size the word at w lies, behind header bytes.
func within(w, header, size uint64) (uint64, bool) {
	if w < header {
		return 0, false
	}
	if size > 0 {
		return (w - header) % size, true
	}
	return w - header, true
}

// rootWords are the word of a variable, the one before and the one after.
func (ty *typer) rootWords(r *Root, e uint32) (w [3]uint64) {
	b := ty.c.at(r.addr - 8 + uint64(ty.o.Slot[e])*8)
	for i := range w {
		if len(b) >= 8*(i+1) {
			w[i] = word(b, uint64(8*i))
		}
	}
	return w
}

// pointer types what the word w[1] in a slot points to.
func (ty *typer) pointer(sl slot, w [3]uint64, to uint32) {
	if sl.kind == slotUnknown {
		return
	}
	s, at := ty.o.locate(to)
	start := at + s.header(ty.c.headers)
	if (sl.kind == slotString || sl.kind == slotSlice && sl.size > 0) && s.elemsize >= minCovered {
		ty.cover(to, sl, w, start)
	}
	if ty.o.TypeOf[to] != 0 || w[1] < start {
		return
	}
	switch into := w[1] - start; {
	case into == 0:
	case sl.size > 0 && into%sl.size == 0: // a slice that begins later
	case sl.kind == slotPointer && sl.elem != 0:
		ty.inside = append(ty.inside, inside{to, sl.elem, uint32(into)})
		return
	default:
		return
	}
	elem, array := sl.elem, false
	switch sl.kind {
	case slotInterface:
		elem = ty.boxed(ty.types.ofItab(w[0]), to)
	case slotEmpty:
		elem = ty.boxed(ty.types.at(w[0]), to)
	case slotFunc:
		elem = ty.closure(to)
	case slotSlice, slotString:
		array = true
	}
	if elem != 0 {
		ty.set(to, refOf(elem, array))
	}
}

// closure is the type of an object that begins with the address of its code.
func (ty *typer) closure(id uint32) int32 {
	if b := ty.o.contents(id); len(b) >= 8 {
		return ty.types.as(word(b, 0), roleClosure)
	}
	return 0
}

// boxed is the type of the object behind an interface's value: of a pointer's what
// it points to, as such values are the data word itself.
func (ty *typer) boxed(typ int32, id uint32) int32 {
	if typ == 0 || !ty.types.all[typ].direct {
		return typ
	}
	s := ty.types.slotAt(typ, 0)
	if s.kind == slotFunc {
		return ty.closure(id)
	}
	return s.elem
}

// ofItab is the type of an interface's value.
func (t *Types) ofItab(itab uint64) int32 {
	if i, ok := t.itabs[itab]; ok {
		return i
	}
	var b [8]byte
	i := int32(0)
	if itab != 0 && t.near.read(itab+8, b[:]) == nil { // abi.ITab.Type
		i = t.at(word(b[:], 0))
	}
	t.itabs[itab] = i
	return i
}
