package gomem

import "context"

// typer gives objects their types: from those that carry one, and from variables,
// along every pointer whose place has a type.
type typer struct {
	o     *Objects
	c     *heapCopy
	types *Types
	queue []uint32
}

// run types what it can.
func (ty *typer) run(ctx context.Context) error {
	ty.o.TypeOf = make([]TypeRef, ty.o.Count)
	ty.carried()
	ty.fromRoots()
	for n := 0; len(ty.queue) > 0; n++ {
		id := ty.queue[len(ty.queue)-1]
		ty.queue = ty.queue[:len(ty.queue)-1]
		ty.follow(id)
		if n%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
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
				ty.set(id, refOf(t, 2*ty.types.all[t].size <= s.elemsize-s.header(true)))
			}
		}
	}
}

// fromRoots follows the variables whose types are known.
func (ty *typer) fromRoots() {
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
	header := s.header(ty.c.headers)
	typ := ty.o.TypeOf[id].index()
	size := ty.types.all[typ].size
	for e := ty.o.First[id]; e < ty.o.First[id+1]; e++ {
		w := uint64(ty.o.Slot[e]) * 8
		rel := w - header
		if size > 0 {
			rel %= size
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
	if w[1] != start || ty.o.TypeOf[to] != 0 {
		return
	}
	elem, array := sl.elem, false
	switch sl.kind {
	case slotInterface:
		elem, array = ty.types.ofItab(w[0]), false
	case slotEmpty:
		elem = ty.types.boxed(ty.types.at(w[0]))
	case slotFunc:
		if b := ty.o.contents(to); len(b) >= 8 {
			elem = ty.types.as(word(b, 0), roleClosure)
		}
	case slotSlice, slotString:
		array = true
	}
	if elem != 0 {
		ty.set(to, refOf(elem, array))
	}
}

// ofItab is the type of what an interface with methods points to.
func (t *Types) ofItab(itab uint64) int32 {
	if i, ok := t.itabs[itab]; ok {
		return i
	}
	var b [8]byte
	i := int32(0)
	if itab != 0 && t.near.read(itab+8, b[:]) == nil { // abi.ITab.Type
		i = t.boxed(t.at(word(b[:], 0)))
	}
	t.itabs[itab] = i
	return i
}

// boxed is the type of the object behind an interface's value: of a pointer's what
// it points to, as such values are the data word itself.
func (t *Types) boxed(typ int32) int32 {
	g := &t.all[typ]
	if typ == 0 || !g.direct {
		return typ
	}
	return t.slotAt(typ, 0).elem
}
