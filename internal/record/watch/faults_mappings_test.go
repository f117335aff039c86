package watch

import (
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// A program may map as much and as often as it likes.
func TestOfManyMappingsTheLastAreKnown(t *testing.T) {
	var m made
	for i := range uint64(5 * maxMappings) {
		by := m.maker([]uint64{0x401000 + i%maxMakers})
		m.add(mapping{start: i << 30, end: i<<30 + 1<<20, maker: by})
	}
	if len(m.list) != maxMappings || len(m.makers) != maxMakers {
		t.Errorf("%d mappings, %d makers", len(m.list), len(m.makers))
	}
	if m.of(0) != nil || m.of(5*maxMappings<<30-1<<30) == nil {
		t.Error("the first is known, or the last is not")
	}
	if m.maker([]uint64{1, 2, 3}) != nil {
		t.Error("there is one maker more than there may be")
	}
}

func TestAMappingInAnothersPlaceIsTheNewOnes(t *testing.T) {
	var m made
	old, inner := m.maker([]uint64{1}), m.maker([]uint64{2})
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
