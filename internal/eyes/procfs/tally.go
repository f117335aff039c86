package procfs

import (
	"math/bits"
	"sync"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// tally counts the pages of one anonymous mapping by row: those that are surely
// its own, those that it shares or that are the page of zeros, and those in swap.
type tally struct {
	own, shared, swapped [rowCount]uint64
	fallback             row // of a mapping whose pages had gone when they were counted
}

// pageLists are buffers that all Mappers share: each holds the pages of a malloc arena at most.
var pageLists = sync.Pool{New: func() any { return new([]Page) }}

// tally reads the mapping's page map.
func (c *census) tally(i int) (tally, error) {
	v := &c.m.mappings[i]
	t := tally{fallback: c.defaultRow(i)}
	buf := pageLists.Get().(*[]Page)
	defer pageLists.Put(buf)
	// Piece by piece of a malloc arena's size, which also bounds the buffer.
	for start := v.Start; start < v.End; {
		end := min(v.End, start&^(mallocHeap-1)+mallocHeap)
		pages, err := c.pagemap.Pages((*buf)[:0], start, end)
		if err != nil {
			return t, err
		}
		*buf = pages
		rest := t.fallback
		if rest == rowMmap && len(pages) > 0 && pages[0].Present() && c.isMallocHeap(i, start) {
			rest = rowMalloc
		}
		t.add(c.m, pages, start, c.page, rest)
		start = end
	}
	return t, nil
}

// defaultRow is the row of an anonymous mapping's pages that are in no range.
func (c *census) defaultRow(i int) row {
	switch v := &c.m.mappings[i]; {
	case v.Path == "[heap]":
		return rowMalloc
	case v.Path == "[stack]" || isBSS(c.m.mappings, i):
		return rowImage
	}
	return rowMmap
}

// add counts pages that begin at start; rest is the row of those in no range.
func (t *tally) add(m *Mapper, pages []Page, start, page uint64, rest row) {
	end := start + uint64(len(pages))*page
	for addr := start; addr < end; {
		r, until, ok := m.rowAt(addr, end)
		if !ok {
			r = rest
		}
		t.addRun(pages[(addr-start)/page:(until-start)/page], r)
		addr = until
	}
}

// addRun counts pages of one row.
func (t *tally) addRun(pages []Page, r row) {
	var own, shared, swapped uint64
	for _, p := range pages {
		switch {
		case p.Swapped():
			swapped++
		case !p.Present():
		case p.Exclusive():
			own++
		default:
			shared++
		}
	}
	t.own[r] += own
	t.shared[r] += shared
	t.swapped[r] += swapped
}

// settle divides anon, what smaps says of the mapping, over the rows as
// Residency documents it, and adds the parts to rows.
func (t *tally) settle(rows *[rowCount]sample.Bytes, anon sample.Bytes, page uint64) {
	all := t.own
	for r := range all {
		all[r] += t.shared[r]
	}
	own, both := sum(t.own, page), sum(all, page)
	switch {
	case anon <= own:
		apportion(rows, anon, t.own)
	case anon <= both:
		apportion(rows, own, t.own)
		apportion(rows, anon-own, t.shared)
	case both == 0:
		rows[t.fallback] += anon
	default:
		apportion(rows, anon, all)
	}
}

// sum is the size of pages over all rows.
func sum(pages [rowCount]uint64, page uint64) sample.Bytes {
	var n uint64
	for _, p := range pages {
		n += p
	}
	return sample.Bytes(n * page)
}

// apportion adds total to the rows in proportion to their weights. The parts sum
// to total; what rounding leaves goes to the row with the greatest weight.
func apportion(rows *[rowCount]sample.Bytes, total sample.Bytes, weights [rowCount]uint64) {
	all := uint64(sum(weights, 1))
	var greatest int
	for r, w := range weights {
		if w > weights[greatest] {
			greatest = r
		}
	}
	if all == 0 {
		return
	}
	left := total
	for r, w := range weights {
		hi, lo := bits.Mul64(uint64(total), w)
		part, _ := bits.Div64(hi, lo, all) // hi < all, as w <= all
		rows[r] += sample.Bytes(part)
		left -= sample.Bytes(part)
	}
	rows[greatest] += left
}
