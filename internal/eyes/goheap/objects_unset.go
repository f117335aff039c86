package goheap

import "github.com/highwater-go/highwater/internal/eyes/gomem"

// isNoString says whether what the word w of an object leads to, an object with pointers, cannot be the bytes of a string:
// it ends before the string does, or a pointer lies among them. The object that leads there is not of the type that it
// was taken for then: a dead word on a stack led to it, say, and its memory was reused.
func (ty *typer) isNoString(in *holding, w uint64, to uint32) bool {
	b := ty.o.values(in.id)
	if ty.o.carried[in.id/64]>>(in.id%64)&1 != 0 || 8*w+16 > uint64(len(b)) {
		return false
	}
	p, n := gomem.Word(b, 8*w), gomem.Word(b, 8*w+8)
	room, ok := ty.o.roomFrom(p, to)
	if !ok {
		return false
	}
	if n > room {
		return true
	}
	text := ty.o.contents(to)
	into := uint64(len(text)) - min(room, uint64(len(text)))
	for off := into &^ 7; off < into+n && off+8 <= uint64(len(text)); off += 8 {
		if _, _, _, ok := ty.o.find(gomem.Word(text, off)); ok {
			return true
		}
	}
	return false
}

// unset takes an object's type from it, which its pointer e speaks against. Where that is its first one, another
// place that leads to the object may say its type still; else the places of those before it are forgotten already.
func (ty *typer) unset(id, e uint32) {
	first, end := ty.o.Pointers(id)
	ty.o.typeOf.set(id, 0)
	if e == first {
		ty.typed[id/64] &^= 1 << (id % 64)
		return
	}
	for e = first; e < end; e++ {
		ty.o.setSlot(e, uint32(ty.unknown))
	}
}
