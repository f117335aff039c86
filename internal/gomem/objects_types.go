package gomem

import "context"

// typer gives objects their types: from those that carry one, and from variables,
// along every pointer whose place has a type. Each pointer's label takes the place
// of the word at which it lies.
type typer struct {
	o       *Objects
	c       *heapCopy
	types   *Types
	typed   []uint64 // a bit an object: near, where the table of types is not
	queue   []uint32
	inside  []inside
	covers  map[uint32]coverage // of objects much of which is out of reach
	reached []uint64            // a bit an object: little of it is
	shift   map[uint32]uint32   // of objects whose type lies behind their start: by how much

	waiting []inside // types that objects carry, to be used if nothing says more
	unknown int32    // label of a field of which nothing is known
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
	o := ty.o
	o.typeOf, ty.typed = newTypeTable(o.Count), InLargePages(make([]uint64, o.Count/64+1))
	ty.covers, ty.reached = make(map[uint32]coverage), InLargePages(make([]uint64, o.Count/64+1))
	ty.shift, ty.unknown = make(map[uint32]uint32), ty.types.label(".?")
	ty.carried()
	ty.fromRoots()
	for n := 0; ; n++ {
		if len(ty.queue) == 0 && !ty.fromInside() {
			break
		}
		id := ty.queue[len(ty.queue)-1]
		ty.queue = ty.queue[:len(ty.queue)-1]
		ty.follow(id)
		if n%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	ty.untyped()
	return nil
}

// untyped labels the pointers of objects without a type.
func (ty *typer) untyped() {
	o := ty.o
	for id := range uint32(o.Count - o.Leaves) {
		if !ty.isTyped(id) {
			for e := o.First[id]; e < o.First[id+1]; e++ {
				o.setSlot(e, uint32(ty.unknown))
			}
		}
	}
}

// fromInside types objects by pointers into them where nothing else did.
func (ty *typer) fromInside() bool {
	all := append(ty.waiting, ty.inside...)
	ty.inside, ty.waiting = nil, nil
	for _, in := range all {
		if !ty.isTyped(in.object) && in.at%8 == 0 {
			if in.at != 0 {
				ty.shift[in.object] = in.at
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
		if s.is&spanNoscan != 0 || s.elemsize <= maxInSpan {
			continue
		}
		for id := ty.o.firstOf(i); id < ty.o.endOf(i); id++ {
			typ := ty.c.heap.spans[i].largeType
			if s.is&spanHeader != 0 {
				typ = word(ty.o.contents(id), 0)
			}
			if t := ty.types.at(typ); t != 0 {
				ty.carry(id, refOf(t, 2*ty.types.all[t].size <= s.elemsize-s.header()))
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
		if r.Kind == RootGoroutine {
			continue // labels are its frames
		}
		for e, end := ty.o.Pointers(uint32(ty.o.Count + k)); e < end; e++ {
			off := uint64(ty.o.slotOf(e)) * 8
			ty.o.slot[e] = 0
			if r.typ != 0 && off < ty.types.all[r.typ].size {
				sl := ty.types.slotAt(r.typ, off)
				ty.o.setSlot(e, uint32(sl.label))
				ty.pointer(sl, ty.rootWords(r, off), ty.o.To[e])
			}
		}
	}
}

func (ty *typer) isTyped(id uint32) bool { return ty.typed[id/64]>>(id%64)&1 != 0 }

// set notes a type and that the object is to be followed.
func (ty *typer) set(id uint32, ref TypeRef) {
	if ref == 0 || ty.isTyped(id) {
		return
	}
	ty.typed[id/64] |= 1 << (id % 64)
	ty.o.typeOf.set(id, ref)
	if first, end := ty.o.Pointers(id); first < end {
		ty.queue = append(ty.queue, id)
	}
}

// follow types what an object points to. Most pointers are plain; of the others the
// object's contents are needed.
func (ty *typer) follow(id uint32) {
	o := ty.o
	ref := o.TypeOf(id)
	g := &ty.types.all[ref.index()]
	in := holding{id: id, typ: ref.index(), role: g.role}
	size, array := g.size, ref.array() && g.role == roleValue
	if in.role == roleMap || in.role == roleChan {
		ty.collection(id, g, o.contents(id))
	}
	before := ty.before(id)
	w := uint64(0)
	for e, end := o.First[id], o.First[id+1]; e < end; e++ {
		behind, plain := o.behind(e)
		w += behind * 8
		rel, ok := within(w, before, size)
		if !ok {
			o.setSlot(e, uint32(ty.unknown))
			continue
		}
		sl := ty.types.slotAt(in.typ, rel)
		if array {
			o.setSlot(e, uint32(ty.types.inArray(sl.label)))
		} else {
			o.setSlot(e, uint32(sl.label))
		}
		switch {
		case sl.kind == slotUnknown:
		case plain && sl.kind <= slotString && in.role != roleMap:
			ty.set(o.To[e], refOf(sl.elem, sl.kind != slotPointer))
		case sl.kind != slotSlice && sl.kind != slotString && ty.isTyped(o.To[e]): // nothing new
		default:
			ty.pointerAt(&in, sl, w, rel, o.To[e])
		}
	}
}

// before is how many bytes lie before the value of an object that is followed.
func (ty *typer) before(id uint32) (n uint64) {
	if len(ty.shift) > 0 {
		n = uint64(ty.shift[id])
		delete(ty.shift, id)
	}
	return n
}

// holding is an object that is followed, and once they are needed its contents from
// the malloc header on.
type holding struct {
	id   uint32
	typ  int32
	role role
	b    []byte
}

// pointerAt types what the word at w of an object, in a slot at rel of its type,
// points to.
func (ty *typer) pointerAt(in *holding, sl slot, w, rel uint64, to uint32) {
	if in.b == nil {
		s, at := ty.o.locate(in.id)
		in.b = ty.o.bytesOf(s, at)[s.header():]
	}
	var words [3]uint64 // the pointer, with the words before and behind
	if w >= 8 {
		words[0] = word(in.b, w-8)
	}
	words[1] = word(in.b, w)
	if w+16 <= uint64(len(in.b)) {
		words[2] = word(in.b, w+8)
	}
	if in.role == roleMap && rel == 16 && words[2] == 0 && ty.types.swiss && w+16 <= uint64(len(in.b)) {
		sl = slot{kind: slotSlice, elem: ty.types.all[in.typ].elem} // its one group
	}
	ty.pointer(sl, words, to)
}

// within is where in a value of a size the word at w lies, behind so many bytes.
func within(w, before, size uint64) (uint64, bool) {
	if w < before {
		return 0, false
	}
	if w -= before; w < size || size == 0 {
		return w, true
	}
	return w % size, true
}

// rootWords are the word of a variable, the one before and the one after.
func (ty *typer) rootWords(r *Root, off uint64) (w [3]uint64) {
	if b := ty.c.at(r.addr - 8 + off); len(b) >= 8 { // none before the first of all
		w[0] = word(b, 0)
	}
	b := ty.c.at(r.addr + off)
	for i := range 2 {
		if len(b) >= 8*(i+1) {
			w[i+1] = word(b, uint64(8*i))
		}
	}
	return w
}

// pointer types what the word w[1] in a slot points to.
func (ty *typer) pointer(sl slot, w [3]uint64, to uint32) {
	if sl.kind == slotUnknown {
		return
	}
	s, at, ok := ty.target(w[1], to)
	if !ok {
		return
	}
	start := at + s.header()
	if (sl.kind == slotString || sl.kind == slotSlice && sl.size > 0) && s.elemsize >= minCovered {
		ty.cover(to, sl, w, start, s.elemsize)
	}
	if ty.isTyped(to) || w[1] < start {
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

// target is where the object that p leads to begins, ok false if it is not that one:
// a variable at the edge of what was copied.
func (ty *typer) target(p uint64, to uint32) (s *objectSpan, at uint64, ok bool) {
	a := p/arenaSize - ty.o.base
	if a >= uint64(len(ty.o.arenas)) || ty.o.arenas[a] == nil || ty.o.arenas[a][p%arenaSize/pageSize] == 0 {
		return nil, 0, false
	}
	s, at = ty.o.startOf(p)
	return s, at, to >= s.first
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
	if itab != 0 && t.load(itab+8, b[:]) == nil { // abi.ITab.Type
		i = t.at(word(b[:], 0))
	}
	t.itabs[itab] = i
	return i
}
