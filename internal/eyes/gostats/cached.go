package gostats

import (
	"fmt"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

// maxCachingPs bounds the Ps whose caches are read. With more, TotalAlloc leaves
// out what they have not reported: at most one span of each size class a P.
const maxCachingPs = 64

// maxSpanClasses bounds mcache.alloc, 136 to Go 1.27 (numSpanClasses).
const maxSpanClasses = 1 << 10

// cacheReader counts what Ps allocated from the spans that they cache and have
// not yet added to the runtime's figures. runtime.ReadMemStats makes them report
// first (runtime/mcache.go, releaseAll), so its HeapAlloc has these bytes.
type cacheReader struct {
	mcache      uint64       // offset of p.mcache
	alloc       span         // mcache.alloc
	count       gomem.Number // of mspan: objects now, and when the span was cached
	countBefore gomem.Number
	elemsize    uint64
	size        int // bytes of an mspan that are read
	fields      fieldReader
	caches      []uint64
	spans       []uint64
	records     gomem.RecordReader
}

func (c *cacheReader) attach(find *gomem.Resolver) {
	c.mcache = find.Offset("p", "mcache")
	c.alloc.addr = find.Offset("mcache", "alloc")
	c.alloc.n, _ = find.Layout.FieldSize("runtime.mcache", "alloc")
	c.count, c.countBefore = find.Number("mspan", "allocCount"), find.Number("mspan", "allocCountBeforeCache")
	c.elemsize = find.Offset("mspan", "elemsize")
	c.size = int(find.Size("mspan"))
	if c.alloc.n < 8 || c.alloc.n/8 > maxSpanClasses || c.size > gomem.WindowSize {
		find.Missing = append(find.Missing, "runtime.mcache of a sane size")
		return
	}
}

// unreported is the bytes that the Ps have not yet added.
func (c *cacheReader) unreported(m gomem.Memory, ps []uint64) (sum uint64, err error) {
	if len(ps) > maxCachingPs {
		return 0, nil
	}
	if err := c.list(m, ps); err != nil {
		return 0, err
	}
	slices.Sort(c.spans)
	c.spans = slices.Compact(c.spans) // all Ps share the empty span
	if missed := c.records.Each(m, c.spans, c.size, func(_ int, b []byte) { sum += c.inSpan(b) }); missed > 0 {
		return 0, fmt.Errorf("%d of %d spans that Ps cache could not be read", missed, len(c.spans))
	}
	return sum, nil
}

// list lists the spans that the Ps cache.
func (c *cacheReader) list(m gomem.Memory, ps []uint64) error {
	caches, err := c.fields.read(m, ps, span{c.mcache, 8})
	if err != nil {
		return err
	}
	c.caches = c.caches[:0]
	for i := range ps {
		if cache := gomem.Word(caches, 8*uint64(i)); cache != 0 { // else the P is not in use
			c.caches = append(c.caches, cache)
		}
	}
	allocs, err := c.fields.read(m, c.caches, c.alloc)
	if err != nil {
		return err
	}
	c.spans = c.spans[:0]
	for i := 0; i+8 <= len(allocs); i += 8 {
		if s := gomem.Word(allocs, uint64(i)); s != 0 {
			c.spans = append(c.spans, s)
		}
	}
	return nil
}

// inSpan is the bytes allocated since the span was cached.
func (c *cacheReader) inSpan(b []byte) uint64 {
	now, before := c.count.Of(b), c.countBefore.Of(b)
	size := gomem.Word(b, c.elemsize)
	if now < before || size > maxCachedObject {
		return 0 // caught while it changes
	}
	return (now - before) * size
}

// maxCachedObject is the largest size class: larger objects are not cached.
const maxCachedObject = 32 << 10
