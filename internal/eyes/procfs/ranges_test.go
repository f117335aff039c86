package procfs

import (
	"math/rand/v2"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestApportionSumsToItsTotal(t *testing.T) {
	for _, total := range []sample.Bytes{0, 1, 4096, 12345677, 1<<63 + 12345} {
		for range 200 {
			var weights [rowCount]uint64
			for r := range weights {
				weights[r] = rand.Uint64N(1 << 40)
			}
			var rows [rowCount]sample.Bytes
			apportion(&rows, total, weights)
			var sum sample.Bytes
			for _, b := range rows {
				sum += b
			}
			if sum != total {
				t.Fatalf("apportion(%d, %v) = %v, which sums to %d", total, weights, rows, sum)
			}
		}
	}
}

func TestSettleReconcilesThePageMapWithSmaps(t *testing.T) {
	const page = 4096
	pages := func(objects, stacks uint64) (p [rowCount]uint64) {
		p[rowObjects], p[rowStacks] = objects, stacks
		return p
	}
	for name, c := range map[string]struct {
		own, shared     [rowCount]uint64
		anon            sample.Bytes
		objects, stacks sample.Bytes
		mmap            sample.Bytes
	}{
		"pages of zeros are not counted":         {pages(3, 1), pages(5, 5), 4 * page, 3 * page, page, 0},
		"pages shared with a child are":          {pages(0, 0), pages(3, 1), 4 * page, 3 * page, page, 0},
		"both: shared ones in proportion":        {pages(1, 0), pages(4, 4), 5 * page, 3 * page, 2 * page, 0},
		"smaps saw less than the page map":       {pages(6, 2), pages(0, 0), 4 * page, 3 * page, page, 0},
		"smaps saw more than the page map":       {pages(2, 1), pages(1, 0), 8 * page, 6 * page, 2 * page, 0},
		"the page map saw nothing: the fallback": {pages(0, 0), pages(0, 0), 4 * page, 0, 0, 4 * page},
	} {
		tally := tally{own: c.own, shared: c.shared, fallback: rowMmap}
		var rows [rowCount]sample.Bytes
		tally.settle(&rows, c.anon, page)
		if rows[rowObjects] != c.objects || rows[rowStacks] != c.stacks || rows[rowMmap] != c.mmap {
			t.Errorf("%s: got %v", name, rows)
		}
	}
}

func TestRowAtFollowsSpansThenArenas(t *testing.T) {
	var m Mapper
	m.setRanges([]sample.PageRange{
		{Start: 0x9000, End: 0xa000, Kind: sample.RangeRuntime},
		{Start: 0x3000, End: 0x5000, Kind: sample.RangeStacks},
		{Start: 0x1000, End: 0x8000, Kind: sample.RangeArena},
		{Start: 0x2000, End: 0x4000, Kind: sample.RangeObjects},
		{Start: 0x5000, End: 0x5000, Kind: sample.RangeObjects},
		{Start: 0x5000, End: 1 << 63, Kind: sample.RangeObjects},
		{Start: 0x5100, End: 0x5900, Kind: sample.RangeObjectsNew}, // holds the first byte of no page
	}, 0x1000)
	for _, c := range []struct {
		addr, until uint64
		row         row
		ok          bool
	}{
		{0x0000, 0x1000, 0, false},
		{0x1000, 0x2000, rowIdle, true},
		{0x2000, 0x4000, rowObjects, true},
		{0x4000, 0x5000, rowStacks, true}, // its overlap with the earlier span is cut off
		{0x5000, 0x8000, rowIdle, true},
		{0x8000, 0x9000, 0, false},
		{0x9000, 0xa000, rowRuntime, true},
		{0xa000, 0xf000, 0, false},
	} {
		r, until, ok := m.rowAt(c.addr, 0xf000)
		if ok != c.ok || until != c.until || ok && r != c.row {
			t.Errorf("rowAt(%#x) = %v, %#x, %v; want %v, %#x, %v", c.addr, r, until, ok, c.row, c.until, c.ok)
		}
	}
}

func TestIsHeapInfoTellsMallocFromGo(t *testing.T) {
	const at = 0x7f0000000000
	for name, c := range map[string]struct {
		arena, prev uint64
		want        bool
	}{
		"first heap, glibc 2.36":   {at + 48, 0, true},
		"first heap, glibc 2.31":   {at + 32, 0, true},
		"later heap of an arena":   {at - 2*mallocHeap + 48, at - mallocHeap, true},
		"zeros":                    {0, 0, false},
		"a pointer into this":      {at + 4096, 0, false},
		"later heap without prev":  {at - mallocHeap + 48, 0, false},
		"prev that is no heap":     {at - mallocHeap + 48, at - 100, false},
		"first heap with a former": {at + 48, at - mallocHeap, false},
	} {
		if got := isHeapInfo(at, c.arena, c.prev); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
