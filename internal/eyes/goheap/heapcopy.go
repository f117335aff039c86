package goheap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// perObject is how many bytes of ours an object takes, beside the copy of its contents,
// as far as that can be told before it is made: 26 and 28 were measured for heaps of 12
// and 49 million objects with one and a half pointers each. Objects of many pointers
// take more, which are counted as they are read (see Objects.takes).
const perObject = 34

// HeapPlan is what is readied for a copy of a heap while the program still runs:
// how large it will be, and the memory for it, so that the program need not stand
// still for that.
type HeapPlan struct {
	c       *heapCopy
	touched chan bool // closed once the memory is present
}

// HeapCopy is a heap at one instant. It is large.
type HeapCopy struct{ c *heapCopy }

// CopyHeap is PlanHeapCopy and Copy, for a memory in which no time passes or a
// process that need not be let go soon.
func (h *Heap) CopyHeap(ctx context.Context, limit sample.Bytes) (*HeapCopy, error) {
	p, err := h.PlanHeapCopy(limit)
	if err != nil {
		return nil, err
	}
	return p.Copy(ctx)
}

// PlanHeapCopy reads how large the heap is and takes the memory for a copy. It
// refuses a heap whose graph would take more than limit bytes (0: no limit) with
// ErrTooLarge, and so do Copy and Graph once they know more.
func (h *Heap) PlanHeapCopy(limit sample.Bytes) (*HeapPlan, error) {
	if h.why != nil {
		return nil, h.why
	}
	if limit > 0 {
		h.r.Within(func() sample.Bytes { return limit })
	}
	p := &HeapPlan{c: h.newCopy(limit), touched: make(chan bool)}
	if err := p.ready(); err != nil {
		return nil, fmt.Errorf("plan a copy of the heap: %w", err)
	}
	return p, nil
}

// ready goes through a copy without copying objects.
func (p *HeapPlan) ready() error {
	c := p.c
	if err := errors.Join(c.attachBitmaps(), c.attachModules()); err != nil {
		return err
	}
	n, err := c.lay()
	if err != nil {
		return err
	}
	if err := c.fits(c.estimate()); err != nil {
		return err
	}
	// Objects may come meanwhile: an eighth more is reserved, of which only what is used
	// becomes memory.
	data := InLargePages(make([]byte, n, n+n/8+64<<20))
	go func() {
		touch(data[:n:n])
		close(p.touched)
	}()
	err = c.copyRest(context.Background())
	if c.data = data; err != nil {
		p.Wait()
		return err
	}
	c.rest = touch(slices.Grow(c.rest, len(c.rest)/8))
	return nil
}

// Wait returns once the memory for the copy is present, which is the most of what a plan
// takes: there is time for other things before. Copy waits, too.
func (p *HeapPlan) Wait() { <-p.touched }

// Bytes is how much will be copied, as far as that is known beforehand.
func (p *HeapPlan) Bytes() sample.Bytes { return sample.Bytes(len(p.c.data) + len(p.c.rest)) }

// Copy copies the heap. The process should be held meanwhile, and go on once it
// returns. The plan is of no use afterwards.
func (p *HeapPlan) Copy(ctx context.Context) (*HeapCopy, error) {
	p.Wait()
	c := p.c
	p.c = nil
	if err := c.copy(ctx); err != nil {
		return nil, fmt.Errorf("copy the heap: %w", err)
	}
	return &HeapCopy{c}, nil
}

func (c *heapCopy) copy(ctx context.Context) error {
	n, err := c.lay()
	if err != nil {
		return err
	}
	if err := c.fits(c.estimate()); err != nil {
		return err
	}
	if c.data = c.data[:0]; n > cap(c.data) {
		c.data = make([]byte, 0, n)
	}
	c.data = c.data[:n]
	if err := readAll(ctx, c.mem, c.pieces, c.data); err != nil {
		return err
	}
	return c.copyRest(ctx)
}

// fits refuses what would take more than the limit.
func (c *heapCopy) fits(need sample.Bytes) error {
	if c.limit > 0 && need > c.limit {
		return fmt.Errorf("%w: about %d MiB of %d MiB", gomem.ErrTooLarge, need/sample.MiB, c.limit/sample.MiB)
	}
	return nil
}

// Bytes is how much was copied.
func (h *HeapCopy) Bytes() sample.Bytes { return sample.Bytes(len(h.c.data) + len(h.c.rest)) }

// heapCopy is what a heap's graph is made from, copied at one instant: which
// objects there are, the contents of those with pointers, and the roots. Whatever
// else is read later, types and code, does not change while a program runs.
type heapCopy struct {
	r      *gomem.Runtime
	mem    gomem.Memory // of r, as all that follows
	bin    *gobin.Binary
	bias   uint64
	minor  int
	marker *marker
	limit  sample.Bytes // of what it and the analysis take; 0: none
	heap   *heapMap
	pieces [][2]uint64 // the spans with pointers, neighbours together, by address
	data   []byte      // what was in them

	rest    []byte   // everything else, in pieces of some size
	regions []region // of rest, by address

	moduleAt   []uint64 // offsets within a moduledata: types, etypes, text, etext
	modules    []module
	goroutines []gomem.Goroutine
	now        int64  // nanotime when they were read
	sweepgen   uint32 // mheap_.sweepgen
	specials   []special
	bitmaps    map[uint64][]byte           // by number of the arena: heapArena.bitmap, to Go 1.21
	old        bool                        // pointers are noted there
	inline     bool                        // Green Tea's marks lie at the end of small objects' spans
	headers    bool                        // malloc headers, since Go 1.22
	moved      bool                        // the program ran meanwhile
	ended      map[uint64]gomem.EndedStack // of a process that is at its end: goroutines that ran, by their descriptors
}

// newCopy is a copy to be.
func (h *Heap) newCopy(limit sample.Bytes) *heapCopy {
	r := h.r
	return &heapCopy{r: r, mem: r.Memory(), bin: r.Binary(), bias: r.Bias(), minor: r.Minor(), marker: &h.marker, heap: &heapMap{room: r.Room()}, limit: limit}
}

// region is a copied piece of memory.
type region struct {
	addr uint64
	b    []byte
}

// lay reads which spans there are and where the copy of each will lie, and says how
// long that is.
func (c *heapCopy) lay() (int, error) {
	if err := c.readSpans(); err != nil {
		return 0, err
	}
	if err := c.heap.enter(); err != nil {
		return 0, err
	}
	n := 0
	c.pieces = c.pieces[:0]
	c.heap.byAddress(func(i int) {
		s := &c.heap.spans[i]
		if s.NoScan {
			return
		}
		s.CopyAt = n
		n += int(s.End - s.Start)
		if last := len(c.pieces) - 1; last >= 0 && c.pieces[last][1] == s.Start {
			c.pieces[last][1] = s.End
			return
		}
		c.pieces = append(c.pieces, [2]uint64{s.Start, s.End})
	})
	return n, nil
}

// readSpans reads the descriptors of all spans. Those without objects stay zero.
func (c *heapCopy) readSpans() error {
	s := c.r.Spans()
	sorted, err := s.Descriptors(c.mem)
	if err != nil {
		return err
	}
	all := c.heap.spans[:0]
	if len(sorted) > cap(all) {
		all = InLargePages(make([]gomem.MSpan, 0, len(sorted)+len(sorted)/8))
	}
	all = all[:len(sorted)]
	n := workers()
	missed := make([]int, n)
	parallel(n, func(w int) {
		from, to := len(all)*w/n, len(all)*(w+1)/n
		clear(all[from:to])
		var records gomem.RecordReader
		missed[w] = records.Each(c.mem, sorted[from:to], s.Size, func(i int, b []byte) {
			if sp, ok := s.Decode(b); ok && holdsObjects(&sp) {
				all[from+i] = sp
			}
		})
	})
	for _, n := range missed {
		if n > 0 {
			return fmt.Errorf("%d of %d spans could not be read", n, len(all))
		}
	}
	c.heap.spans = all
	return nil
}

// estimate is the most that the copy and the analysis take at once.
func (c *heapCopy) estimate() sample.Bytes {
	objects, contents := uint64(0), uint64(0)
	for i := range c.heap.spans {
		s := &c.heap.spans[i]
		objects += s.NElems
		if s.CopyAt >= 0 {
			contents += s.End - s.Start
		}
	}
	return sample.Bytes(contents + objects*perObject)
}

// at is the copied bytes from addr on, nil where nothing was copied.
func (c *heapCopy) at(addr uint64) []byte {
	if i := c.heap.spanAt(addr); i >= 0 && c.heap.spans[i].CopyAt >= 0 && len(c.data) > 0 {
		s := &c.heap.spans[i]
		return c.data[s.CopyAt:][:s.End-s.Start][addr-s.Start:]
	}
	return c.outside(addr)
}

// outside is at of what does not lie in the heap. Several may call it at once.
func (c *heapCopy) outside(addr uint64) []byte {
	i, ok := slices.BinarySearchFunc(c.regions, addr, func(r region, a uint64) int { return cmp.Compare(r.addr, a) })
	if !ok {
		i--
	}
	if i < 0 || addr-c.regions[i].addr >= uint64(len(c.regions[i].b)) {
		return nil
	}
	return c.regions[i].b[addr-c.regions[i].addr:]
}

// ReadAt reads what was copied, and what cannot have changed from the process.
func (c *heapCopy) ReadAt(p []byte, off int64) (int, error) {
	if b := c.at(uint64(off)); len(b) >= len(p) {
		return copy(p, b), nil
	}
	return c.mem.ReadAt(p, off)
}

// readOutside reads what does not lie in the heap: what was copied, and what cannot
// have changed from the process.
func (c *heapCopy) readOutside(addr uint64, p []byte) error {
	if b := c.outside(addr); len(b) >= len(p) {
		copy(p, b)
		return nil
	}
	return c.mem.Read(addr, p)
}

// memory reads the copy.
func (c *heapCopy) memory() gomem.Memory { return gomem.NewMemory(c) }

// release lets go of the contents.
func (c *heapCopy) release() { c.data, c.rest, c.regions, c.bitmaps = nil, nil, nil, nil }

// Moved says that the program ran while it was copied: what the maps say of its stacks
// may not fit the words that were read, so that all of these count.
func (h *HeapCopy) Moved() { h.c.moved = true }
