package gomem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// ErrTooLarge says that a heap's graph would take more memory than was allowed.
var ErrTooLarge = errors.New("the analysis would take more memory than it may")

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
func (r *Runtime) CopyHeap(ctx context.Context, limit sample.Bytes) (*HeapCopy, error) {
	p, err := r.PlanHeapCopy(limit)
	if err != nil {
		return nil, err
	}
	return p.Copy(ctx)
}

// PlanHeapCopy reads how large the heap is and takes the memory for a copy. It
// refuses a heap whose graph would take more than limit bytes (0: no limit) with
// ErrTooLarge, and so do Copy and Graph once they know more.
func (r *Runtime) PlanHeapCopy(limit sample.Bytes) (*HeapPlan, error) {
	if err := r.why[FeatureLive]; err != nil {
		return nil, err
	}
	if limit > 0 {
		r.Within(func() sample.Bytes { return limit })
	}
	p := &HeapPlan{c: &heapCopy{r: r, heap: &heapMap{room: r.spans.room}, limit: limit}, touched: make(chan bool)}
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
	if c.thin != nil {
		if err := c.copyThinned(ctx); err != nil {
			return nil, fmt.Errorf("sample the heap: %w", err)
		}
		return &HeapCopy{c}, nil
	}
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
	if err := c.r.mem.readAll(ctx, c.pieces, c.data); err != nil {
		return err
	}
	return c.copyRest(ctx)
}

// fits refuses what would take more than the limit.
func (c *heapCopy) fits(need sample.Bytes) error {
	if c.limit > 0 && need > c.limit {
		return fmt.Errorf("%w: about %d MiB of %d MiB", ErrTooLarge, need/sample.MiB, c.limit/sample.MiB)
	}
	return nil
}

// Bytes is how much was copied.
func (h *HeapCopy) Bytes() sample.Bytes { return sample.Bytes(len(h.c.data) + len(h.c.rest)) }

// heapCopy is what a heap's graph is made from, copied at one instant: which
// objects there are, the contents of those with pointers, and the roots. Whatever
// else is read later, types and code, does not change while a program runs.
type heapCopy struct {
	r      *Runtime
	limit  sample.Bytes // of what it and the analysis take; 0: none
	thin   *thinner     // nil: all objects are copied
	heap   *heapMap
	pieces [][2]uint64 // the spans with pointers, neighbours together, by address
	data   []byte      // what was in them

	rest    []byte   // everything else, in pieces of some size
	regions []region // of rest, by address

	moduleAt   []uint64 // offsets within a moduledata: types, etypes, text, etext
	modules    []module
	goroutines []goroutine
	now        int64  // nanotime when they were read
	sweepgen   uint32 // mheap_.sweepgen
	specials   []special
	bitmaps    map[uint64][]byte     // by number of the arena: heapArena.bitmap, to Go 1.21
	old        bool                  // pointers are noted there
	inline     bool                  // Green Tea's marks lie at the end of small objects' spans
	headers    bool                  // malloc headers, since Go 1.22
	moved      bool                  // the program ran meanwhile
	ended      map[uint64]endedStack // of a process that is at its end: goroutines that ran, by their descriptors
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
		if s.noscan {
			return
		}
		s.data = n
		n += int(s.end - s.start)
		if last := len(c.pieces) - 1; last >= 0 && c.pieces[last][1] == s.start {
			c.pieces[last][1] = s.end
			return
		}
		c.pieces = append(c.pieces, [2]uint64{s.start, s.end})
	})
	return n, nil
}

// readSpans reads the descriptors of all spans. Those without objects stay zero.
func (c *heapCopy) readSpans() error {
	s := &c.r.spans
	if err := s.list(c.r.mem); err != nil {
		return err
	}
	all := c.heap.spans[:0]
	if len(s.sorted) > cap(all) {
		all = InLargePages(make([]mspan, 0, len(s.sorted)+len(s.sorted)/8))
	}
	all = all[:len(s.sorted)]
	n := workers()
	missed := make([]int, n)
	parallel(n, func(w int) {
		from, to := len(all)*w/n, len(all)*(w+1)/n
		clear(all[from:to])
		var records recordReader
		missed[w] = records.each(c.r.mem, s.sorted[from:to], s.size, func(i int, b []byte) {
			if sp, ok := s.decode(b); ok && sp.holdsObjects() {
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
		objects += s.nelems
		if s.data >= 0 {
			contents += s.end - s.start
		}
	}
	return sample.Bytes(contents + objects*perObject)
}

// at is the copied bytes from addr on, nil where nothing was copied.
func (c *heapCopy) at(addr uint64) []byte {
	if i := c.heap.spanAt(addr); i >= 0 && c.heap.spans[i].data >= 0 && len(c.data) > 0 && c.thin == nil {
		s := &c.heap.spans[i]
		return c.data[s.data:][:s.end-s.start][addr-s.start:]
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
	return c.r.mem.r.ReadAt(p, off)
}

// readOutside reads what does not lie in the heap: what was copied, and what cannot
// have changed from the process.
func (c *heapCopy) readOutside(addr uint64, p []byte) error {
	if b := c.outside(addr); len(b) >= len(p) {
		copy(p, b)
		return nil
	}
	return c.r.mem.read(addr, p)
}

// memory reads the copy.
func (c *heapCopy) memory() memory { return memory{io.ReaderAt(c)} }

// release lets go of the contents.
func (c *heapCopy) release() { c.data, c.rest, c.regions, c.bitmaps = nil, nil, nil, nil }
