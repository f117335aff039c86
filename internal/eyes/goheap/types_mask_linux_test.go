package goheap

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

func TestMasksOfLargeTypesAreThoseThatTheRuntimeMakes(t *testing.T) {
	for _, version := range []string{"go1.22.12", "go1.23.12", "go1.24.13", "go1.25.7", "go1.26.8", "go1.27.2"} { // before, objects carry no types
		t.Run(version, func(t *testing.T) {
			path := hwtest.Build(t, filepath.Join("..", "gomem", "testdata", "target"), hwtest.BuildOptions{Toolchain: version})
			p := hwtest.StartPiped(t, exec.Command(path))
			for _, order := range []string{"gc", "nogc", "large", "gc"} {
				p.Ask("%s", order)
			}
			copied, err := New(attached(t, p.PID, path)).CopyHeap(t.Context(), 0)
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
		if s.CopyAt < 0 || s.ElemSize <= maxInSpan {
			continue
		}
		typ := s.LargeType
		for at := uint64(0); at+s.ElemSize <= s.End-s.Start; at += s.ElemSize {
			if s.Class != 0 {
				typ = gomem.Word(t.c.data[s.CopyAt:], at)
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
		if at, err = types.c.mem.U64(at); err != nil {
			t.Fatal(err)
		}
	}
	if at == 0 || g.program {
		return nil
	}
	mask := make([]byte, (g.ptrBytes/8+7)/8)
	if err := types.c.mem.Read(at, mask); err != nil {
		t.Fatal(err)
	}
	return mask
}
