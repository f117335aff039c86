package procfs

import (
	"cmp"
	"slices"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// lastAddress bounds user addresses on every 64-bit architecture (five-level
// page tables reach 1<<56); ranges come from another process's memory.
const lastAddress = 1 << 57

// setRanges takes over the Go runtime's ranges: sorted, rounded to whole pages,
// without overlaps, the arenas apart.
func (m *Mapper) setRanges(ranges []sample.PageRange, page uint64) {
	m.spans, m.arenas = m.spans[:0], m.arenas[:0]
	for _, r := range ranges {
		if r.Start >= r.End || r.End > lastAddress {
			continue
		}
		// A page belongs to the range that holds its first byte.
		r.Start, r.End = roundUp(r.Start, page), roundUp(r.End, page)
		if r.Kind == sample.RangeArena {
			m.arenas = append(m.arenas, r)
		} else {
			m.spans = append(m.spans, r)
		}
	}
	m.spans = disjoint(m.spans)
	m.arenas = disjoint(m.arenas)
}

func roundUp(addr, page uint64) uint64 { return (addr + page - 1) &^ (page - 1) }

// disjoint sorts ranges and cuts off what an earlier one already holds.
func disjoint(rs []sample.PageRange) []sample.PageRange {
	byStart := func(a, b sample.PageRange) int { return cmp.Compare(a.Start, b.Start) }
	if !slices.IsSortedFunc(rs, byStart) {
		slices.SortFunc(rs, byStart)
	}
	var end uint64
	out := rs[:0]
	for _, r := range rs {
		r.Start = max(r.Start, end)
		if r.Start < r.End {
			out = append(out, r)
			end = r.End
		}
	}
	return out
}

// rowAt is the row of the address and where, at most at end, that ceases to
// hold; false if the address is in no range.
func (m *Mapper) rowAt(addr, end uint64) (r row, until uint64, ok bool) {
	s, until, inSpan := find(m.spans, addr, end)
	if inSpan {
		return spanRow(s.Kind), until, true
	}
	_, until, inArena := find(m.arenas, addr, until)
	return rowIdle, until, inArena
}

// find is the range that holds the address, and where, at most at end, it ends
// or the next one begins.
func find(rs []sample.PageRange, addr, end uint64) (r sample.PageRange, until uint64, ok bool) {
	i, _ := slices.BinarySearchFunc(rs, addr, func(r sample.PageRange, a uint64) int {
		if r.End <= a {
			return -1
		}
		return 1
	})
	if i == len(rs) {
		return r, end, false
	}
	if rs[i].Start > addr {
		return r, min(end, rs[i].Start), false
	}
	return rs[i], min(end, rs[i].End), true
}

// spanRow is where the pages of a range are counted.
func spanRow(k sample.RangeKind) row {
	switch k {
	case sample.RangeObjects:
		return rowObjects
	case sample.RangeObjectsNew:
		return rowObjectsNew
	case sample.RangeStacks:
		return rowStacks
	}
	return rowRuntime
}
