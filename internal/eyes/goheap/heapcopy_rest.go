package goheap

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// module is the program or a plugin: its variables, and where its types lie.
type module struct {
	addr         uint64
	variables    [2]gomem.Variables // data and bss, addresses
	types        uint64
	typesEnd     uint64
	text, textTo uint64
}

// special is one special record that is a root, or an object of the heap profile.
type special struct {
	object uint64
	kind   uint8
	words  [specialTail / 8]uint64
}

const (
	inlineMarks = 128                     // runtime/mgcmark_greenteagc.go, spanInlineMarkBits
	arenaBitmap = gomem.ArenaSize / 8 / 8 // bytes of heapArena.bitmap; noMorePtrs follows
)

// copyRest copies everything but objects: which of them are allocated, variables,
// stacks, special records, and how the objects' pointers are told.
func (c *heapCopy) copyRest(ctx context.Context) (err error) {
	if c.goroutines, err = c.r.ReadGoroutines(); err != nil {
		return err
	}
	c.now = c.r.Now(c.goroutines)
	if c.sweepgen, err = c.r.Spans().Generation(c.mem); err != nil {
		return err
	}
	if err := c.readModules(); err != nil {
		return err
	}
	arenas, err := c.arenaBitmaps()
	if err != nil {
		return err
	}
	pieces := slices.Concat(c.allocBits(), c.variables(), c.stacks(), c.finalizerQueue(), arenas)
	if err := c.copyPieces(ctx, pieces); err != nil {
		return err
	}
	c.indexBitmaps(arenas)
	return c.copySpecials(ctx)
}

// copyPieces copies pieces to rest. What cannot be read is left out.
func (c *heapCopy) copyPieces(ctx context.Context, pieces [][2]uint64) error {
	n := 0
	for _, at := range pieces {
		n += int(at[1] - at[0])
	}
	if err := c.fits(sample.Bytes(len(c.data) + n)); err != nil {
		return err
	}
	c.rest, c.regions = slices.Grow(c.rest[:0], n)[:n], c.regions[:0]
	whole := readAll(ctx, c.mem, pieces, c.rest)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	into := c.rest
	for _, at := range pieces {
		b := into[: at[1]-at[0] : at[1]-at[0]]
		into = into[len(b):]
		if whole == nil || c.mem.Read(at[0], b) == nil {
			c.regions = append(c.regions, region{at[0], b})
		}
	}
	slices.SortFunc(c.regions, func(a, b region) int { return cmp.Compare(a.addr, b.addr) })
	return nil
}

// allocBits is the pages on which it is noted which objects are allocated.
func (c *heapCopy) allocBits() [][2]uint64 {
	known := make(map[uint64]bool)
	last := ^uint64(0)
	for i := range c.heap.spans {
		s := &c.heap.spans[i]
		if s.NElems == 0 {
			continue
		}
		for page := s.AllocBits / pageOfKernel; page <= (s.AllocBits+(s.NElems-1)/8)/pageOfKernel; page++ {
			if page != last {
				known[page], last = true, page
			}
		}
	}
	pages := make([]uint64, 0, len(known))
	for page := range known {
		pages = append(pages, page)
	}
	slices.Sort(pages)
	var all [][2]uint64
	for _, page := range pages {
		if k := len(all) - 1; k >= 0 && all[k][1] == page*pageOfKernel {
			all[k][1] += pageOfKernel
			continue
		}
		all = append(all, [2]uint64{page * pageOfKernel, (page + 1) * pageOfKernel})
	}
	return all
}

// attachModules finds where modules say where their types are.
func (c *heapCopy) attachModules() error {
	layout, err := c.bin.Layout()
	if err != nil {
		return err
	}
	for _, name := range []string{"types", "etypes", "text", "etext"} {
		off, ok := layout.Offset("runtime.moduledata", name)
		if !ok {
			return fmt.Errorf("%s: no runtime.moduledata.%s", c.bin.GoVersion, name)
		}
		c.moduleAt = append(c.moduleAt, off)
	}
	return nil
}

// readModules reads where the program and its plugins have their variables.
func (c *heapCopy) readModules() error {
	addrs, err := c.r.Modules().List(c.mem)
	if err != nil {
		return err
	}
	c.modules = c.modules[:0]
	for _, addr := range addrs {
		m := module{addr: addr}
		for i, to := range []*uint64{&m.types, &m.typesEnd, &m.text, &m.textTo} {
			if *to, err = c.mem.U64(addr + c.moduleAt[i]); err != nil {
				return err
			}
		}
		if m.variables, err = c.r.Modules().VariablesOf(c.mem, addr); err != nil {
			return err
		}
		c.modules = append(c.modules, m)
	}
	return nil
}

func (c *heapCopy) variables() (all [][2]uint64) {
	for i := range c.modules {
		for _, v := range c.modules[i].variables {
			if v.Start < v.End {
				all = append(all, [2]uint64{v.Start, v.End})
			}
		}
	}
	return all
}

// stacks is what of the goroutines' stacks is in use.
func (c *heapCopy) stacks() (all [][2]uint64) {
	for i := range c.goroutines {
		g := &c.goroutines[i]
		from := g.SP
		if g.Status == gomem.StatusRunning || from < g.Lo || from > g.Hi {
			from = g.Lo
		}
		if from &^= 7; from < g.Hi && g.Hi-from <= maxStack {
			all = append(all, [2]uint64{from, g.Hi})
		}
	}
	return all
}

// maxStack bounds a stack; runtime/proc.go ends a program at 1 GB.
const maxStack = 1 << 31

// finalizerQueue is the blocks of finalizers that wait to be run.
func (c *heapCopy) finalizerQueue() (all [][2]uint64) {
	block, err := c.mem.U64(c.marker.finBlocks)
	for n := 0; err == nil && block != 0 && n < maxFinBlocks; n++ {
		all = append(all, [2]uint64{block, block + finBlockSize})
		block, err = c.mem.U64(block) // alllink
	}
	return all
}

// copySpecials walks the special records of all objects.
func (c *heapCopy) copySpecials(ctx context.Context) error {
	mk := c.marker
	near := gomem.NewCursor(c.mem)
	near.Keep(maxSpecials * specialTail)
	var b [specialTail]byte
	c.specials = c.specials[:0]
	for i := range c.heap.spans {
		s := &c.heap.spans[i]
		for at := s.Specials; at != 0; at = gomem.Word(b[:], mk.specialNext) {
			if len(c.specials) > maxSpecials {
				return errHeapTooLarge
			}
			if err := near.Read(at, b[:]); err != nil {
				return err
			}
			sp := special{object: s.Start + mk.specialOff.Of(b[:]), kind: b[mk.specialKind]}
			for k := range sp.words {
				sp.words[k] = gomem.Word(b[:], uint64(8*k))
			}
			c.specials = append(c.specials, sp)
			if len(c.specials)%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return nil
}

// attachBitmaps notes how this runtime says which words are pointers.
func (c *heapCopy) attachBitmaps() error {
	layout, err := c.bin.Layout()
	if err != nil {
		return err
	}
	marks, ok := layout.Size("runtime.spanInlineMarkBits")
	c.inline = ok && marks == inlineMarks
	_, plain := layout.Offset("runtime.heapArena", "bitmap")
	_, nested := layout.Offset("runtime.heapArena", "heapArenaPtrScalar.bitmap") // GOEXPERIMENT=noallocheaders
	c.old = plain || nested
	c.headers = !c.old
	return nil
}

// arenaBitmaps is where the arenas with objects say which words are pointers, in
// the order of arenaNumbers; none since Go 1.22.
func (c *heapCopy) arenaBitmaps() (all [][2]uint64, err error) {
	if !c.old {
		return nil, nil
	}
	arenas, err := c.r.Tables().Descriptors(c.mem, c.arenaNumbers())
	if err != nil {
		return nil, err
	}
	for _, arena := range arenas {
		all = append(all, [2]uint64{arena, arena + arenaBitmap + arenaBitmap/64})
	}
	return all, nil
}

// indexBitmaps notes the copies of the arenas' bitmaps.
func (c *heapCopy) indexBitmaps(all [][2]uint64) {
	c.bitmaps = make(map[uint64][]byte, len(all))
	for i, a := range c.arenaNumbers() {
		if i < len(all) {
			if b := c.at(all[i][0]); len(b) >= arenaBitmap+arenaBitmap/64 {
				c.bitmaps[a] = b
			}
		}
	}
}

// arenaNumbers is the arenas that have objects.
func (c *heapCopy) arenaNumbers() []uint64 {
	numbers := make([]uint64, 0, len(c.heap.arenas))
	for a := range c.heap.arenas {
		numbers = append(numbers, a)
	}
	slices.Sort(numbers)
	return numbers
}
