package gomem

import (
	"bytes"
	"testing"
)

func TestMasksOfLargeTypesAreThoseThatTheRuntimeMakes(t *testing.T) {
	for _, version := range toolchains {
		if minor, _ := minorOf(version); minor < 22 {
			continue // its objects carry no types
		}
		t.Run(version, func(t *testing.T) {
			p := start(t, build{toolchain: version, mode: "exe"})
			p.ask("nogc")
			p.ask("large")
			p.ask("gc")
			if err := p.hold(); err != nil {
				t.Fatal(err)
			}
			copied, err := p.heap.CopyHeap(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			types, err := newTypes(copied.c)
			if err != nil {
				t.Fatal(err)
			}
			compared := make(map[string]bool)
			for _, g := range carriedTypes(types) {
				want := runtimesMask(t, types, g)
				if want == nil {
					continue
				}
				compared[g.name] = true
				if got := types.buildMask(g, 0); !bytes.Equal(got, want) {
					t.Errorf("%s has the mask %x, not %x", g.name, want, got)
				}
			}
			for _, name := range []string{"main.wide", "[1]main.wide", "[40]main.mixed", "[7][9]main.mixed", "[300]func()", "[200]interface {}"} {
				if !compared[name] {
					t.Errorf("%s was not compared, only %v", name, compared)
				}
			}
		})
	}
}

// carriedTypes are the structs and arrays that objects carry as their type, each once.
func carriedTypes(t *Types) (all []*goType) {
	known := make(map[int32]bool)
	for i := range t.c.heap.spans {
		s := &t.c.heap.spans[i]
		if s.data < 0 || s.elemsize <= maxInSpan {
			continue
		}
		typ := s.largeType
		for at := uint64(0); at+s.elemsize <= s.end-s.start; at += s.elemsize {
			if s.class != 0 {
				typ = word(t.c.data[s.data:], at)
			}
			if k := t.at(typ); k != 0 && !known[k] && (t.all[k].kind == kindStruct || t.all[k].kind == kindArray) {
				known[k] = true
			}
		}
	}
	for k := range known {
		all = append(all, &t.all[k])
	}
	return all
}

// runtimesMask is a type's mask as the runtime has it, nil if it has none.
func runtimesMask(t *testing.T, types *Types, g *goType) []byte {
	t.Helper()
	at := g.gcdata
	if types.onDemand(g) {
		var err error
		if at, err = types.c.r.mem.u64(at); err != nil {
			t.Fatal(err)
		}
	}
	if at == 0 || g.program {
		return nil
	}
	mask := make([]byte, (g.ptrBytes/8+7)/8)
	if err := types.c.r.mem.read(at, mask); err != nil {
		t.Fatal(err)
	}
	return mask
}
