package gomem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/highwater-go/highwater/internal/sample"
)

// ErrTooLarge says that a heap's graph would take more memory than was allowed.
var ErrTooLarge = errors.New("the analysis would take more memory than it may")

// heapCopy is what a heap's graph is made from, copied at one instant: which
// objects there are, the contents of those with pointers, and the roots. Whatever
// else is read later, types and code, does not change while a program runs.
type heapCopy struct {
	r       *Runtime
	heap    *heapMap
	regions []region // by address
	data    []byte   // contents of the spans with pointers

	modules    []module
	goroutines []goroutine
	specials   []special
	words      []uint64 // of threads' registers
	old        bool     // pointers are noted in the arenas' bitmaps, to Go 1.21
	inline     bool     // Green Tea's marks lie at the end of small objects' spans
	headers    bool     // malloc headers, since Go 1.22
}

// region is a copied piece of memory.
type region struct {
	addr uint64
	b    []byte
}

// special is one special record that is a root, or an object of the heap profile.
type special struct {
	object uint64
	kind   uint8
	words  [specialTail / 8]uint64
}

// Estimate is what a copy of the heap and its analysis take, judged by the number
// of objects.
type Estimate struct {
	Objects         uint64
	Copy, Peak      sample.Bytes
	PointersAtMost  uint64
	HeapBytesInUse  sample.Bytes
	SpansOfPointers int
}

// Bytes of ours for each object, measured: the graph with types, and the
// dominators' tables, which come after the copy is let go.
const (
	graphPerObject     = 26
	dominatorPerObject = 64
)

// CopyHeap copies what the graph of the heap's objects is made from. The process
// should be held meanwhile, and go on once it returns. registers are the words of
// the threads' registers. It refuses, before it copies, a heap whose graph would
// take more than limit bytes (0: no limit).
func (r *Runtime) CopyHeap(ctx context.Context, registers []uint64, limit sample.Bytes) (*HeapCopy, error) {
	if err := r.why[FeatureLive]; err != nil {
		return nil, err
	}
	c := &heapCopy{r: r, words: registers}
	if err := c.take(ctx, limit); err != nil {
		return nil, fmt.Errorf("copy the heap: %w", err)
	}
	return &HeapCopy{c}, nil
}

// HeapCopy is a heap at one instant. It is large.
type HeapCopy struct{ c *heapCopy }

// Bytes is how much was copied.
func (h *HeapCopy) Bytes() (n sample.Bytes) {
	for _, r := range h.c.regions {
		n += sample.Bytes(len(r.b))
	}
	return n
}

func (c *heapCopy) take(ctx context.Context, limit sample.Bytes) (err error) {
	r := c.r
	if c.heap, err = r.spans.heap(r.mem); err != nil {
		return err
	}
	if limit > 0 {
		if need := c.estimate(); need > limit {
			return fmt.Errorf("%w: about %d MiB of %d MiB", ErrTooLarge, need/sample.MiB, limit/sample.MiB)
		}
	}
	for _, f := range []func(context.Context) error{c.copySpans, c.copyModules, c.copyGoroutines, c.copyFinalizers, c.copySpecials, c.copyBitmaps} {
		if err := errors.Join(ctx.Err()); err != nil {
			return err
		}
		if err := f(ctx); err != nil {
			return err
		}
	}
	slices.SortFunc(c.regions, func(a, b region) int { return cmp.Compare(a.addr, b.addr) })
	return nil
}

// estimate is the most that the copy and the analysis take at once.
func (c *heapCopy) estimate() sample.Bytes {
	objects, contents := uint64(0), uint64(0)
	for i := range c.heap.spans {
		s := &c.heap.spans[i]
		objects += s.nelems
		if !s.noscan {
			contents += s.end - s.start
		}
	}
	return sample.Bytes(max(contents+objects*graphPerObject, objects*(graphPerObject+dominatorPerObject)))
}

// maxRun is how much is read by one call.
const maxRun = 16 << 20

// copySpans copies the spans with pointers, neighbours together.
func (c *heapCopy) copySpans(ctx context.Context) error {
	total := uint64(0)
	for i := range c.heap.spans {
		if s := &c.heap.spans[i]; !s.noscan {
			total += s.end - s.start
		}
	}
	c.data = make([]byte, total)
	rest := c.data
	for i := 0; i < len(c.heap.spans); {
		s := &c.heap.spans[i]
		if i++; s.noscan {
			continue
		}
		end := s.end
		for ; i < len(c.heap.spans) && !c.heap.spans[i].noscan && c.heap.spans[i].start == end && end-s.start < maxRun; i++ {
			end = c.heap.spans[i].end
		}
		n := end - s.start
		if err := c.r.mem.read(s.start, rest[:n]); err != nil {
			return err
		}
		c.regions = append(c.regions, region{s.start, rest[:n:n]})
		rest = rest[n:]
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// add copies [start, end) and leaves out what cannot be read.
func (c *heapCopy) add(start, end uint64) []byte {
	if start >= end || end-start > maxImage {
		return nil
	}
	b := make([]byte, end-start)
	if c.r.mem.read(start, b) != nil {
		return nil
	}
	c.regions = append(c.regions, region{start, b})
	return b
}

// module is the program or a plugin: its variables, and where its types lie.
type module struct {
	addr         uint64
	variables    [2]variables // data and bss, addresses
	types        uint64
	typesEnd     uint64
	text, textTo uint64
}

// copyModules copies the programs' variables.
func (c *heapCopy) copyModules(context.Context) error {
	r := c.r
	addrs, err := r.marker.modules.list(r.mem)
	if err != nil {
		return err
	}
	layout, err := r.bin.Layout()
	if err != nil {
		return err
	}
	for _, addr := range addrs {
		m := module{addr: addr}
		field := func(name string) (v uint64) {
			off, ok := layout.Offset("runtime.moduledata", name)
			if !ok && err == nil {
				err = fmt.Errorf("%s: no runtime.moduledata.%s", r.bin.GoVersion, name)
			}
			if err == nil {
				v, err = r.mem.u64(addr + off)
			}
			return v
		}
		m.types, m.typesEnd, m.text, m.textTo = field("types"), field("etypes"), field("text"), field("etext")
		for i, at := range r.marker.modules.variables {
			var v [3]uint64
			for k, off := range []uint64{at.start, at.end, at.mask} {
				var e error
				v[k], e = r.mem.u64(addr + off)
				err = cmp.Or(err, e)
			}
			if err == nil && (v[0] > v[1] || v[1]-v[0] > maxImage) {
				err = fmt.Errorf("data from %#x to %#x", v[0], v[1])
			}
			m.variables[i] = variables{v[0], v[1], v[2]}
			if err == nil {
				c.add(v[0], v[1])
			}
		}
		if err != nil {
			return err
		}
		c.modules = append(c.modules, m)
	}
	return nil
}

// copyGoroutines copies the stacks that are in use.
func (c *heapCopy) copyGoroutines(ctx context.Context) (err error) {
	if c.goroutines, err = c.r.goroutines.readAll(c.r.mem); err != nil {
		return err
	}
	for i := range c.goroutines {
		g := &c.goroutines[i]
		from := g.sp
		if g.status == statusRunning || from < g.lo || from > g.hi {
			from = g.lo
		}
		if g.lo <= g.hi && g.hi-g.lo <= 1<<31 {
			c.add(from&^7, g.hi)
		}
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// copyFinalizers copies finalizers that wait to be run.
func (c *heapCopy) copyFinalizers(context.Context) error {
	block, err := c.r.mem.u64(c.r.marker.finBlocks)
	for n := 0; err == nil && block != 0 && n < maxChunks; n++ {
		if b := c.add(block, block+finBlockSize); b == nil {
			return nil
		}
		block, err = c.r.mem.u64(block) // alllink
	}
	return err
}

// copySpecials walks the special records of all objects.
func (c *heapCopy) copySpecials(ctx context.Context) error {
	mk := &c.r.marker
	near := newCursor(c.r.mem)
	var b [specialTail]byte
	for i := range c.heap.spans {
		s := &c.heap.spans[i]
		for at := s.specials; at != 0; at = word(b[:], mk.specialNext) {
			if len(c.specials) > maxSpecials {
				return errHeapTooLarge
			}
			if err := near.read(at, b[:]); err != nil {
				return err
			}
			sp := special{object: s.start + mk.specialOff.of(b[:]), kind: b[mk.specialKind]}
			for k := range sp.words {
				sp.words[k] = word(b[:], uint64(8*k))
			}
			c.specials = append(c.specials, sp)
		}
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// copyBitmaps notes how this runtime says which words are pointers, and copies the
// arenas' bitmaps where that is in them.
func (c *heapCopy) copyBitmaps(ctx context.Context) error {
	layout, err := c.r.bin.Layout()
	if err != nil {
		return err
	}
	marks, ok := layout.Size("runtime.spanInlineMarkBits")
	c.inline = ok && marks == inlineMarks
	_, plain := layout.Offset("runtime.heapArena", "bitmap")
	_, nested := layout.Offset("runtime.heapArena", "heapArenaPtrScalar.bitmap") // GOEXPERIMENT=noallocheaders
	c.old = plain || nested
	c.headers = !c.old
	if !c.old {
		return nil
	}
	index, err := c.r.mem.u64(c.r.tables.arenas)
	if err != nil {
		return err
	}
	last := ^uint64(0)
	for i := range c.heap.spans {
		s := &c.heap.spans[i]
		for a := s.start / arenaSize; a <= (s.end-1)/arenaSize; a++ {
			if a == last {
				continue
			}
			last = a
			arena, err := c.r.mem.u64(index + 8*((a*arenaSize+c.r.tables.base)/arenaSize))
			if err != nil {
				return err
			}
			b := make([]byte, arenaBitmap+arenaBitmap/64)
			if err := c.r.mem.read(arena, b); err != nil {
				return err
			}
			c.regions = append(c.regions, region{a*arenaSize | bitmapMark, b})
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

const (
	inlineMarks = 128               // runtime/mgcmark_greenteagc.go, spanInlineMarkBits
	arenaBitmap = arenaSize / 8 / 8 // bytes of heapArena.bitmap; noMorePtrs follows
	bitmapMark  = 1 << 63           // no address of a process
)

// at is the copied bytes from addr to the end of their region, nil where nothing
// was copied.
func (c *heapCopy) at(addr uint64) []byte {
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

// memory reads the copy.
func (c *heapCopy) memory() memory { return memory{io.ReaderAt(c)} }
