package goheap

import (
	"encoding/binary"
	"io"
	"os"
	"testing"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

// typeBase is where the memory of made-up types begins.
const typeBase = 0x10000000

// typeMemory is a memory of nothing but types.
type typeMemory []byte

func (m typeMemory) ReadAt(p []byte, off int64) (int, error) {
	if off < typeBase || off-typeBase >= int64(len(m)) {
		return 0, io.EOF
	}
	n := copy(p, m[off-typeBase:])
	if n < len(p) {
		return n, io.ErrUnexpectedEOF
	}
	return n, nil
}

// put writes an abi.Type of a kind: its size, how many bytes of it may be pointers,
// and the words that follow it.
func (m typeMemory) put(at, kind, size, pointers uint64, more ...uint64) {
	b := m[at:]
	binary.LittleEndian.PutUint64(b, size)
	binary.LittleEndian.PutUint64(b[8:], pointers)
	b[21], b[23] = 8, byte(kind)
	for i, w := range more {
		binary.LittleEndian.PutUint64(b[typeSize+8*i:], w)
	}
}

// readTypes reads a memory's types as those of a program of the newest Go.
func readTypes(t testing.TB, bin *gobin.Binary, m typeMemory, swiss bool) *Types {
	t.Helper()
	c := &heapCopy{mem: gomem.NewMemory(m), bin: bin, minor: 27, heap: &heapMap{}, modules: []module{{types: typeBase, typesEnd: typeBase + uint64(len(m))}}}
	types, err := newTypes(c)
	if err != nil {
		t.Fatal(err)
	}
	types.swiss = swiss
	return types
}

func ownBinary(t testing.TB) *gobin.Binary {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin, err := gobin.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bin.Close() })
	return bin
}

func TestAChainOfTypesWithoutEndIsNotRecursedInto(t *testing.T) {
	const n = 1 << 18
	m := make(typeMemory, n*64+64)
	for i := range uint64(n) {
		m.put(64*i, kindPointer, 8, 8, typeBase+64*(i+1))
	}
	types := readTypes(t, ownBinary(t), m, true)
	first := types.at(typeBase)
	if first == 0 || types.slotAt(first, 0).kind != slotPointer {
		t.Fatalf("the first of them is type %d, %+v", first, types.slotAt(max(first, 0), 0))
	}
	if got := len(types.all); got < 100 || got > maxTypeDepth+2 {
		t.Errorf("%d types were read in one go", got)
	}
	if far := types.at(typeBase + 64*(n/2)); far == 0 {
		t.Error("one in the middle is no type")
	}
}

func TestATypeTableHoldsNumbersOfAnySize(t *testing.T) {
	table := newTypeTable(5)
	want := []TypeRef{0, 7, 1<<16 - 1, 1 << 16, 1<<23 + 1}
	for id, ref := range want {
		table.set(uint32(id), ref)
		for before := range id + 1 {
			if got := table.at(uint32(before)); got != want[before] {
				t.Errorf("object %d has type %d, not %d, once that of object %d is %d", before, got, want[before], id, ref)
			}
		}
	}
}

// FuzzTypes reads types of any bytes: what comes of it must be a table that the
// walk along them can use.
func FuzzTypes(f *testing.F) {
	bin := ownBinary(f)
	small := make(typeMemory, 512)
	small.put(0, kindStruct, 24, 24, 0, typeBase+256, 2, 2)
	binary.LittleEndian.PutUint64(small[256+8:], typeBase+128)  // .?: a pointer to itself
	binary.LittleEndian.PutUint64(small[280+8:], typeBase+192)  // .?: a string
	binary.LittleEndian.PutUint64(small[280+16:], 8)            // at 8
	small.put(128, kindPointer, 8, 8, typeBase)                 // to the struct
	small.put(192, kindString, 16, 8)                           //
	small.put(320, kindArray, 1<<20, 1<<20, typeBase, typeBase) // of structs
	small.put(384, kindMap, 8, 8, typeBase, typeBase, typeBase) // of them
	for _, at := range []uint16{0, 128, 192, 320, 384} {
		for r := range uint8(roleRuntime) {
			f.Add([]byte(small), at, r, r%2 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, at uint16, r uint8, swiss bool) {
		types := readTypes(t, bin, typeMemory(b[:min(len(b), 1<<12)]), swiss)
		i := types.as(typeBase+uint64(at), role(r)%roleRuntime)
		types.check(t, i)
		for name, addr := range types.index().byName {
			if addr != 0 && (addr < typeBase || name == "") {
				t.Fatalf("type %q at %#x", name, addr)
			}
		}
		if mask := types.mask(typeBase + uint64(at)); mask.words == 0 || mask.bits != nil && mask.reach > 8*uint64(len(mask.bits)) {
			t.Fatalf("its mask has %d words up to %d, in %d bytes", mask.words, mask.reach, len(mask.bits))
		}
	})
}

// check asks for all that is asked of a type.
func (types *Types) check(t *testing.T, i int32) {
	if i < 0 || int(i) >= len(types.all) {
		t.Fatalf("type %d of %d", i, len(types.all))
	}
	if name := types.Name(refOf(i, true)); len(name) > 1<<15 {
		t.Fatalf("a name of %d bytes", len(name))
	}
	size := types.all[i].size
	for _, off := range []uint64{0, 8, 16, 24, 40, size / 2 &^ 7, size - min(size, 8)} {
		if off >= size {
			continue
		}
		s := types.slotAt(i, off)
		if s.elem < 0 || int(s.elem) >= len(types.all) {
			t.Fatalf("a word of type %d leads to type %d of %d", i, s.elem, len(types.all))
		}
		if len(types.Label(s.label)) > maxLabel || len(types.Label(s.arrayed)) > maxLabel {
			t.Fatalf("a label of %d bytes", len(types.Label(s.label)))
		}
	}
}
