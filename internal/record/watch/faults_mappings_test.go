package watch

import (
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// A program may map as much and as often as it likes.
func TestOfManyMappingsTheLastAreKnown(t *testing.T) {
	var m made
	for i := range uint64(5 * maxMappings) {
		by := m.maker(nil, []uint64{0x401000 + i%maxMakers})
		m.add(mapping{start: i << 30, end: i<<30 + 1<<20, maker: by})
	}
	if len(m.list) != maxMappings || len(m.makers) != maxMakers {
		t.Errorf("%d mappings, %d makers", len(m.list), len(m.makers))
	}
	if m.of(0) != nil || m.of(5*maxMappings<<30-1<<30) == nil {
		t.Error("the first is known, or the last is not")
	}
	if m.maker(nil, []uint64{1, 2, 3}) != nil {
		t.Error("there is one maker more than there may be")
	}
}

func TestAMappingInAnothersPlaceIsTheNewOnes(t *testing.T) {
	var m made
	old, inner := m.maker(nil, []uint64{1}), m.maker(nil, []uint64{2})
	m.add(mapping{0x100000, 0x200000, old})
	m.add(mapping{0x140000, 0x180000, inner})
	if m.of(0x13ffff) != old || m.of(0x140000) != inner || m.of(0x180000) != old || m.of(0x200000) != nil {
		t.Error("a mapping within another does not hide that part alone")
	}
	m.add(mapping{0x100000, 0x200000, nil}) // of an allocator
	if len(m.list) != 1 || m.of(0x140000) != nil {
		t.Errorf("%d mappings are left of those that one covers", len(m.list))
	}
	m.keep([]area{{0x300000, 0x400000, sample.ResidentNative}})
	if len(m.list) != 0 {
		t.Error("what is not mapped any more is known")
	}
}

// A program that maps 4,000 segments of 64 KiB on one line, each next to the last, has one mapping; another's between is its own.
func TestMappingsNextToEachOtherAreOne(t *testing.T) {
	var m made
	segments, other := m.maker(nil, []uint64{1}), m.maker(nil, []uint64{2})
	for i := range uint64(4 * maxMappings) {
		m.add(mapping{1<<40 - (i+1)<<16, 1<<40 - i<<16, segments})
	}
	if len(m.list) != 1 || m.of(1<<40-1) != segments || m.of(1<<40-4*maxMappings<<16) != segments {
		t.Errorf("%d mappings", len(m.list))
	}
	m.add(mapping{1 << 40, 1<<40 + 1<<16, other})
	m.add(mapping{1<<40 + 1<<16, 1<<40 + 2<<16, segments})
	if len(m.list) != 3 || m.of(1<<40) != other || m.of(1<<40-1) != segments {
		t.Errorf("%+v", m.list)
	}
}

// What mremap moves keeps who mapped it, and what it adds is the caller's.
func TestWhatIsMovedKeepsItsMaker(t *testing.T) {
	var m made
	first, grower := m.maker(nil, []uint64{1}), m.maker(nil, []uint64{2})
	m.add(mapping{0x100000, 0x200000, first})
	m.move(0x100000, 0x100000, mapping{0x500000, 0x700000, grower})
	if m.of(0x500000) != first || m.of(0x5fffff) != first || m.of(0x600000) != grower || m.of(0x6fffff) != grower || m.of(0x700000) != nil {
		t.Errorf("%+v", m.list)
	}
	m.move(0x580000, 0x100000, mapping{0x900000, 0xa00000, nil}) // half of it was the one's, half the other's
	if m.of(0x900000) != first || m.of(0x97ffff) != first || m.of(0x980000) != grower || m.of(0x9fffff) != grower {
		t.Errorf("%+v", m.list)
	}
}

func TestAllocatorsOfCMapForOthers(t *testing.T) {
	at := func(names ...string) (where []sample.Location) {
		for _, name := range names {
			where = append(where, sample.Location{Frames: []sample.Frame{{Func: name}}})
		}
		return where
	}
	for _, c := range []struct {
		frames []sample.Location
		want   bool
	}{
		{at("mmap", "pool_open", "_cgo_1b2c_Cfunc_pool_open"), true},
		{at("mmap", "(libc.so.6)", "malloc", "keep"), false},
		{at("mmap", "(libc.so.6)", "(libc.so.6)", "calloc", "keep"), false},
		{at("mmap", "(libjemalloc.so.2)", "(libjemalloc.so.2)", "keep"), false},
		{at("mmap", "duckdb_je_pages_map", "duckdb_query"), false},
		{at("mmap", "_ZnwmSt11align_val_t", "open_store"), false},
		{at("mmap", "(server)", "_cgo_1b2c_Cfunc_pool_open"), false},
		{at("mmap"), false},
		{append(at("mmap"), sample.Location{}), false},
		{nil, false},
	} {
		if got := mapsForItself(c.frames); got != c.want {
			t.Errorf("%v: %v", c.frames, got)
		}
	}
}
