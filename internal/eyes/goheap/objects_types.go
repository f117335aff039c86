package goheap

import (
	"context"
	"math/bits"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

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
	heads   heads
	ringed  map[uint32]uint64 // of arrays that are a queue's ring: elements before its first
	shift   map[uint32]uint32 // of objects whose type lies behind their start: by how much

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
	o.carried = InLargePages(make([]uint64, o.Count/64+1))
	ty.covers, ty.reached = make(map[uint32]coverage), InLargePages(make([]uint64, o.Count/64+1))
	ty.heads = heads{make(map[uint32]uint64), InLargePages(make([]uint64, o.Count/64+1))}
	ty.ringed = make(map[uint32]uint64)
	ty.shift, ty.unknown = make(map[uint32]uint32), ty.types.label(".?")
	ty.leaveStandIns()
	ty.carried()
	ty.fromRoots()
	follow := func() error { return ty.followAll(ctx) }
	if err := follow(); err != nil {
		return err
	}
	if err := ty.infer(follow); err != nil {
		return err
	}
	ty.inside, ty.waiting = append(ty.inside, ty.waiting...), nil
	if err := follow(); err != nil {
		return err
	}
	ty.untyped()
	return nil
}

// followAll types what the objects on the queue lead to.
func (ty *typer) followAll(ctx context.Context) error {
	var in holding
	for n := 0; len(ty.queue) > 0 || ty.fromInside(); n++ {
		id := ty.queue[len(ty.queue)-1]
		ty.queue = ty.queue[:len(ty.queue)-1]
		ty.hold(&in, id)
		ty.follow(&in)
		if n%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// untyped labels the pointers of objects without a type.
func (ty *typer) untyped() {
	o := ty.o
	inner := uint32(o.Count - o.Leaves)
	for w := range (inner + 63) / 64 {
		for rest := ^ty.typed[w]; rest != 0; rest &= rest - 1 {
			id := 64*w + uint32(bits.TrailingZeros64(rest))
			if id >= inner {
				return
			}
			w := uint64(0)
			for e := o.First[id]; e < o.First[id+1]; e++ {
				behind, _ := o.behind(e)
				w += behind
				if ty.isArray(o.To[e]) {
					b := o.contents(id)
					ty.headIn(o.To[e], b[min(8*w, uint64(len(b))):])
				}
				o.setSlot(e, uint32(ty.unknown))
			}
		}
	}
}

// fromInside types objects by pointers into them where nothing else did.
func (ty *typer) fromInside() bool {
	all := ty.inside
	ty.inside = nil
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
			typ := ty.c.heap.spans[i].LargeType
			if s.is&spanHeader != 0 {
				typ = gomem.Word(ty.o.contents(id), 0)
			}
			if t := ty.types.at(typ); t != 0 {
				ty.carry(id, refOf(t, 2*ty.types.all[t].size <= s.elemsize-s.header()))
			}
		}
	}
}

// carry sets a type that an object carries. A map's directory and tables say more
// where the map leads to them, or the entries behind them: those wait.
func (ty *typer) carry(id uint32, ref TypeRef) {
	if name := ty.types.all[ref.index()].name; name == "*maps.table" || name == "maps.table" {
		ty.waiting = append(ty.waiting, inside{object: id, typ: ref.index()})
		return
	}
	ty.setCarried(id, ref)
}

// fromRoots follows the variables whose types are known.
func (ty *typer) fromRoots() {
	g := ty.types.ofRuntime("runtime.g")
	for i := range ty.c.goroutines {
		if id, ok := ty.o.At(ty.c.goroutines[i].Addr); ok {
			ty.setCarried(id, refOf(g, false))
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
			if r.typ == 0 && ty.isArray(ty.o.To[e]) {
				ty.headIn(ty.o.To[e], ty.c.at(r.addr+off))
			}
			if r.typ == 0 {
				words := ty.rootWords(r, off)
				ty.fromInterface(words[0], words[1], ty.o.To[e])
			}
			if r.typ != 0 && off < ty.types.all[r.typ].size {
				sl := ty.types.slotAt(r.typ, off)
				ty.o.setSlot(e, uint32(sl.label))
				ty.pointer(&sl, ty.rootWords(r, off), ty.o.To[e])
			}
		}
	}
}

func (ty *typer) isTyped(id uint32) bool { return ty.typed[id/64]>>(id%64)&1 != 0 }

// set notes the type of an object that has none, and that it is to be followed.
func (ty *typer) set(id uint32, ref TypeRef) {
	if ref == 0 || ty.isTyped(id) {
		return
	}
	if ty.types.nodes && ty.types.all[ref.index()].isNode() {
		ref = ty.nodeOf(id, ref)
	}
	ty.typed[id/64] |= 1 << (id % 64)
	ty.o.typeOf.set(id, ref)
	if first, end := ty.o.Pointers(id); first < end {
		ty.queue = append(ty.queue, id)
	}
}

// setCarried is set for a type that the object itself has, or the value that leads there:
// no static type of a place was trusted for it.
func (ty *typer) setCarried(id uint32, ref TypeRef) {
	if ref != 0 && !ty.isTyped(id) {
		ty.o.carried[id/64] |= 1 << (id % 64)
		ty.set(id, ref)
	}
}

// follow labels what an object points to, and types that.
func (ty *typer) follow(in *holding) {
	o := ty.o
	if in.role == roleMap || in.role == roleChan {
		ty.collection(in.id, &ty.types.all[in.typ], o.contents(in.id))
	}
	w, inner := uint64(0), uint32(o.Count-o.Leaves)
	var filled ring
	for e, end := o.First[in.id], o.First[in.id+1]; e < end; e++ {
		behind, plain := o.behind(e)
		w += behind
		sl := in.slot(w)
		if sl == nil {
			o.setSlot(e, uint32(ty.unknown))
			continue
		}
		if in.array {
			filled.note((in.base - in.before) / max(1, in.size))
		}
		if sl.kind == slotString && o.To[e] < inner && ty.isNoString(in, w, o.To[e]) {
			ty.unset(in.id, e)
			return
		}
		o.setSlot(e, uint32(in.labelOf(sl)))
		ty.typeBehind(in, sl, w, o.To[e], plain)
	}
	if head := filled.head(in.room(o.Size(in.id))); head > 0 && len(ty.ringed) < maxListed {
		ty.ringed[in.id] = head
	}
}

// typeBehind types what a slot of an object leads to; plain: to the beginning of a small object.
func (ty *typer) typeBehind(in *holding, sl *slot, w uint64, to uint32, plain bool) {
	switch {
	case sl.kind == slotUnknown:
	case plain && sl.kind <= slotString && in.role != roleMap && (sl.kind != slotString || ty.o.strings == nil):
		ty.set(to, refOf(sl.elem, sl.kind != slotPointer))
	case sl.kind != slotSlice && sl.kind != slotString && ty.isTyped(to): // nothing new
	default:
		ty.pointerAt(in, sl, w, to)
	}
}

// holding is an object that is followed. Places are words from the malloc header on.
type holding struct {
	types  *Types
	id     uint32
	ref    TypeRef
	typ    int32
	role   role
	array  bool   // of values of the type
	before uint64 // words before the first value
	size   uint64 // words of a value
	slots  []slot // of a value; nil: it is not of so many words, or of no size
	base   uint64 // where the value begins in which a slot was asked for last
	other  slot   // where there are no slots
	b      []byte // contents, once they are needed
}

// hold makes an object of a known type the one that is held.
func (ty *typer) hold(in *holding, id uint32) {
	if ref := ty.o.TypeOf(id); ref != in.ref {
		in.ref, in.typ = ref, ref.index()
		in.slots = ty.types.slotsOf(in.typ)
		g := &ty.types.all[in.typ]
		in.types, in.role, in.array, in.size = ty.types, g.role, ref.array() && g.role == roleValue, (g.size+7)/8
	}
	in.id, in.b, in.before = id, nil, 0
	if len(ty.shift) > 0 {
		in.before = uint64(ty.shift[id]) / 8
	}
	in.base = in.before
}

// slot is the slot of word w, nil if it lies before the first value.
func (in *holding) slot(w uint64) *slot {
	if k := w - in.base; k < uint64(len(in.slots)) {
		return &in.slots[k]
	}
	return in.farSlot(w)
}

// labelOf is what the slot is called in the object.
func (in *holding) labelOf(sl *slot) int32 {
	if in.array {
		return sl.arrayed
	}
	return sl.label
}

// farSlot is the slot of word w in another value than the one before, nil if it lies
// before the first.
func (in *holding) farSlot(w uint64) *slot {
	if w < in.before {
		return nil
	}
	in.base = in.before
	if in.size > 0 {
		in.base = w - (w-in.before)%in.size
	}
	if k := w - in.base; k < uint64(len(in.slots)) {
		return &in.slots[k]
	}
	in.other = in.types.slotAt(in.typ, 8*(w-in.base))
	return &in.other
}

// pointerAt types what the word w of an object points to.
func (ty *typer) pointerAt(in *holding, sl *slot, w uint64, to uint32) {
	if in.b == nil {
		in.b = ty.o.values(in.id)
	}
	var words [3]uint64 // the pointer, with the words before and behind
	if w > 0 {
		words[0] = gomem.Word(in.b, 8*w-8)
	}
	words[1] = gomem.Word(in.b, 8*w)
	more := 8*w+16 <= uint64(len(in.b))
	if more {
		words[2] = gomem.Word(in.b, 8*w+8)
	}
	if in.role == roleMap && w-in.base == 2 && more && words[2] == 0 && ty.types.swiss {
		sl = &slot{kind: slotSlice, elem: ty.types.all[in.typ].elem} // its one group
	}
	ty.pointer(sl, words, to)
}

// rootWords are the word of a variable, the one before and the one after.
func (ty *typer) rootWords(r *Root, off uint64) (w [3]uint64) {
	if b := ty.c.at(r.addr - 8 + off); len(b) >= 8 { // none before the first of all
		w[0] = gomem.Word(b, 0)
	}
	b := ty.c.at(r.addr + off)
	for i := range 2 {
		if len(b) >= 8*(i+1) {
			w[i+1] = gomem.Word(b, uint64(8*i))
		}
	}
	return w
}

// pointer types what the word w[1] in a slot points to.
func (ty *typer) pointer(sl *slot, w [3]uint64, to uint32) {
	if sl.kind == slotUnknown {
		return
	}
	id, k, into, ok := ty.o.find(w[1])
	if !ok || id != to || into < k.header { // id: of a variable at the edge of what was copied
		return
	}
	into -= k.header
	if sl.kind == slotString && ty.o.strings != nil && to >= uint32(ty.o.Count-ty.o.Leaves) {
		ty.o.strings.note(to, k.elemsize, into, w[2])
	}
	if sl.kind == slotString || sl.kind == slotSlice && sl.size > 0 {
		ty.cover(to, k, sl, into, w[2])
	}
	if !ty.isTyped(to) {
		ty.typeBySlot(sl, w[0], to, into)
	}
}

// typeBySlot types an object, into bytes of which a slot points; before is the word before the pointer.
func (ty *typer) typeBySlot(sl *slot, before uint64, to uint32, into uint64) {
	switch {
	case into == 0:
	case sl.size > 0 && into%sl.size == 0: // a slice that begins later
	case sl.kind == slotPointer && sl.elem != 0:
		ty.inside = append(ty.inside, inside{to, sl.elem, uint32(into)})
		return
	default:
		return
	}
	switch sl.kind {
	case slotInterface:
		ty.setCarried(to, refOf(ty.boxed(ty.types.ofItab(before), to), false))
	case slotEmpty:
		ty.setCarried(to, refOf(ty.boxed(ty.types.at(before), to), false))
	case slotFunc:
		ty.setCarried(to, refOf(ty.closure(to), false))
	default:
		ty.set(to, refOf(sl.elem, sl.kind != slotPointer))
	}
}

// closure is the type of an object that begins with the address of its code.
func (ty *typer) closure(id uint32) int32 {
	if b := ty.o.contents(id); len(b) >= 8 {
		return ty.types.as(gomem.Word(b, 0), roleClosure)
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
		i = t.at(gomem.Word(b[:], 0))
	}
	t.itabs[itab] = i
	return i
}
