package gobin

import (
	"debug/dwarf"
	"debug/elf"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// plainEntries is what each passes, of debug/dwarf.
func plainEntries(t *testing.T, file string) *dwarfWalk {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	w := newDwarfWalk()
	for r := d.Reader(); ; {
		plain, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if plain == nil {
			return w
		}
		e := entry{tag: plain.Tag, offset: uint64(plain.Offset)}
		name, _ := plain.Val(dwarf.AttrName).(string)
		e.name = []byte(name)
		typ, _ := plain.Val(dwarf.AttrType).(dwarf.Offset)
		e.typ = uint64(typ)
		switch v := plain.Val(attrRuntimeType).(type) {
		case uint64:
			e.runtime = v
		case int64:
			e.runtime = uint64(v)
		}
		if w.entry(&e); e.tag == dwarf.TagSubprogram {
			r.SkipChildren()
		}
	}
}

func TestTheTypesOfVariablesAreThoseOfTheStandardLibrary(t *testing.T) {
	eachProbe(t, func(t *testing.T, exe string, b *Binary) {
		f, err := elf.Open(exe)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if f.Section(".debug_info") == nil {
			if types, err := b.variableTypes(); len(types) > 0 || err != nil {
				t.Errorf("without DWARF there are %d types, %v", len(types), err)
			}
			return
		}
		got, err := b.walkEntries()
		if err != nil {
			t.Fatal(err)
		}
		want := plainEntries(t, exe)
		if len(want.byName) < 300 || len(want.of) < 500 || len(want.pointers) < 100 {
			t.Fatalf("%d variables, %d types, %d pointers: the test says little", len(want.byName), len(want.of), len(want.pointers))
		}
		if !maps.Equal(got.byName, want.byName) || !maps.Equal(got.of, want.of) || !maps.Equal(got.named, want.named) || !maps.Equal(got.pointers, want.pointers) {
			t.Errorf("%d variables, %d types, %d names, %d pointers; debug/dwarf finds %d, %d, %d, %d, or others", len(got.byName), len(got.of),
				len(got.named), len(got.pointers), len(want.byName), len(want.of), len(want.named), len(want.pointers))
		}
	})
}

func TestDamagedEntriesAreAnError(t *testing.T) {
	b := open(t, plain.build(t))
	whole, err := b.entries()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	failed := 0
	for range 300 {
		r := *whole
		r.info, r.abbrev = slices.Clone(whole.info[:1+rng.IntN(len(whole.info))]), slices.Clone(whole.abbrev)
		for range rng.IntN(4) {
			r.info[rng.IntN(min(len(r.info), 4096))] = byte(rng.IntN(256))
			r.abbrev[rng.IntN(len(r.abbrev))] = byte(rng.IntN(256))
		}
		if r.walk(newDwarfWalk()) != nil {
			failed++
		}
	}
	if failed < 200 {
		t.Errorf("%d of 300 damaged sections are an error", failed)
	}
}
