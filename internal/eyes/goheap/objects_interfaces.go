package goheap

import "github.com/highwater-go/highwater/internal/eyes/gomem"

// fromInterface types the object that a word p of something without a type leads to if p is the second word of an
// interface: the word before it is a type, or a table of methods for one. It says whether it did.
func (ty *typer) fromInterface(before, p uint64, to uint32) bool {
	for _, addr := range [2]uint64{before, ty.types.typeOfItab(before)} {
		if _, ok := ty.types.inTypes(addr); !ok {
			continue
		}
		t := ty.types.at(addr)
		if t == 0 || ty.types.index().byName[ty.types.all[t].name] != addr {
			continue
		}
		if _, _, behind, ok := ty.o.find(p); ok && behind == 0 && !ty.isTyped(to) {
			ty.setCarried(to, refOf(ty.boxed(t, to), false))
			return true
		}
		return false
	}
	return false
}

// interfacesIn types what interfaces lead to in an object that has no type itself, as an array of them to which an unknown variable leads.
func (in *inferrer) interfacesIn(id uint32) (found bool) {
	b, w := in.o.values(id), uint64(0)
	for e, end := in.o.Pointers(id); e < end; e++ {
		behind, _ := in.o.behind(e)
		w += behind
		if w > 0 && 8*w+8 <= uint64(len(b)) && in.fromInterface(gomem.Word(b, 8*w-8), gomem.Word(b, 8*w), in.o.To[e]) {
			found = true
		}
	}
	return found
}

// typeOfItab is the type that a table of methods is for, 0 if it cannot be one.
func (t *Types) typeOfItab(itab uint64) uint64 {
	var b [8]byte
	if m, ok := t.inTypes(itab); itab%8 != 0 || !ok && (m == nil || itab < m.types || itab > m.types+1<<32) || t.near.Read(itab+8, b[:]) != nil {
		return 0
	}
	return gomem.Word(b[:], 0)
}

// inTypes is the module whose types an address is among; else the program.
func (t *Types) inTypes(addr uint64) (*module, bool) {
	for i := range t.c.modules {
		if m := &t.c.modules[i]; addr >= m.types && addr < m.typesEnd {
			return m, true
		}
	}
	if len(t.c.modules) == 0 {
		return nil, false
	}
	return &t.c.modules[0], false
}
