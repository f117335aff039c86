package gomem

import (
	"errors"
	"fmt"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Sizes that are constants of the runtime on linux/amd64, hence in no symbol
// table: runtime/malloc.go, mheap.go, mpagealloc.go, mpagealloc_64bit.go, mprof.go.
const (
	ArenaSize       = 64 << 20        // heapArenaBytes
	arenaBaseOffset = 0x800000000000  // minus the runtime's arenaBaseOffset
	persistentChunk = 256 << 10       // persistentChunkSize
	gcBitsChunk     = 64 << 10        // gcBitsChunkBytes
	buckHashSize    = 179999 * 8      // buckhashArray
	summaryLevels   = 5               // radix levels of the page allocator
	summaryEntry    = 8               // pallocSumBytes
	summaryRoot     = 34              // log2 of the bytes that an entry of the root level stands for
	summaryBits     = 3               // each level divides by 8
	chunkBytes      = 4 << 20         // pallocChunkBytes
	chunksL1        = 1 << 13         // length of pageAlloc.chunks
	chunksL2Size    = (1 << 13) * 128 // bytes of one of its arrays
	scavEntry       = 8               // atomicScavChunkData, since Go 1.21
	osPage          = 4 << 10
)

// Bounds on lists that are followed in a program's memory.
const (
	maxArenas = 1 << 22 // arenaL2Bits: all that a 48-bit address space has
	maxChunks = 1 << 18 // 64 GiB of persistent memory
	MaxPs     = 1 << 16 // of allp; GOMAXPROCS has no limit of its own
)

// TableReader finds the memory that the runtime takes from the system for
// itself, outside the heap's arenas.
type TableReader struct {
	arenaLists   []uint64 // addresses of slices of arena indices
	base         uint64   // arenaBaseOffset on amd64, 0 elsewhere
	arenas       uint64   // address of mheap_.arenas
	heapArena    uint64   // size of a runtime.heapArena
	curArena     uint64   // address of mheap_.curArena.base
	allspans     uint64
	summary      uint64 // address of pageAlloc.summary
	inUse        uint64 // address of pageAlloc.inUse.ranges
	chunks       uint64 // address of pageAlloc.chunks
	scavChunks   uint64 // address of the scavenger's index
	scavMin      Number
	scavMax      Number
	scavEntry    uint64 // bytes of an entry
	persistent   uint64 // address of runtime.persistentChunks
	gcBits       uint64 // address of the first list head of runtime.gcBitsArenas
	gcBitsNext   uint64 // offset of gcBitsArena.next
	buckhash     uint64 // address of runtime.buckhash
	buf          []byte
	arenaIndices []uint64
}

// attach finds the tables.
func (t *TableReader) attach(r *Runtime, find *Resolver) error {
	heap := find.Addr("mheap_")
	h := func(field string) uint64 { return heap + find.Offset("mheap", field) }
	pages := heap + find.Offset("mheap", "pages")
	p := func(field string) uint64 { return pages + find.Offset("pageAlloc", field) }
	*t = TableReader{
		arenaLists: []uint64{heap + find.FirstOffset("mheap", "heapArenas", "allArenas")}, // since Go 1.25; before
		arenas:     h("arenas"), heapArena: find.Size("heapArena"), curArena: h("curArena.base"), allspans: h("allspans"),
		summary: p("summary"), inUse: p("inUse.ranges"), chunks: p("chunks"),
		scavChunks: p("scav.index.chunks"), scavEntry: scavEntry,
		persistent: find.Addr("persistentChunks"), buckhash: find.Addr("buckhash"),
		gcBits: find.Addr("gcBitsArenas") + find.Size("mutex"), gcBitsNext: find.Offset("gcBitsArena", "next"),
	}
	t.scavMin, t.scavMax = find.Number("pageAlloc", "scav.index.min"), find.Number("pageAlloc", "scav.index.max")
	t.scavMin.Off, t.scavMax.Off = t.scavMin.Off+pages, t.scavMax.Off+pages
	if r.bin.Arch == "amd64" {
		t.base = arenaBaseOffset
	}
	if find.Minor == 20 { // runtime/mgcscavenge.go: one bit a chunk
		t.scavEntry = 1
	}
	if user, ok := find.Layout.Offset("runtime.mheap", "userArenaArenas"); ok {
		t.arenaLists = append(t.arenaLists, heap+user)
	}
	if err := find.Err(); err != nil {
		return err
	}
	_, err := t.append(nil, r.mem)
	return err
}

// Descriptors is where the runtime's descriptors of arenas lie, which are numbered by their addresses over arenaSize.
func (t *TableReader) Descriptors(m Memory, arenas []uint64) (all []uint64, err error) {
	index, err := m.U64(t.arenas)
	for _, a := range arenas {
		var at uint64
		if err == nil {
			at, err = m.U64(index + 8*(a+t.base/ArenaSize))
		}
		all = append(all, at)
	}
	return all, err
}

// append adds the arenas and the tables to dst.
func (t *TableReader) append(dst []sample.PageRange, m Memory) (_ []sample.PageRange, err error) {
	w := windowsFree.Get().(*window)
	t.buf = w.buf
	defer func() {
		if t.buf = nil; err == nil { // else a read that hangs may still write into it
			windowsFree.Put(w)
		}
	}()
	out := tables{ranges: dst, mem: m, t: t}
	for _, f := range []struct {
		name string
		add  func() error
	}{
		{"heap arenas", out.addArenas},
		{"arena descriptors", out.addArenaTables},
		{"list of spans", out.addAllspans},
		{"page allocator", out.addSummaries},
		{"page bitmaps", out.addChunks},
		{"scavenger's index", out.addScavenger},
		{"persistent memory", out.addPersistent},
		{"mark bits", out.addGCBits},
		{"heap profile's table", out.addBuckhash},
	} {
		if err := f.add(); err != nil {
			return dst, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return out.ranges, nil
}

// tables is one reading of them.
type tables struct {
	ranges []sample.PageRange
	mem    Memory
	t      *TableReader
}

// add notes a table of the runtime, whole pages.
func (o *tables) add(start, n uint64) {
	if start == 0 || n == 0 || start > 1<<48 || n > 1<<48 {
		return
	}
	o.ranges = append(o.ranges, sample.PageRange{
		Start: start &^ (osPage - 1), End: (start + n + osPage - 1) &^ (osPage - 1), Kind: sample.RangeRuntime,
	})
}

// addArenas notes the arenas, and keeps their indices. The one that the heap
// grows into is mapped up to curArena.base only.
func (o *tables) addArenas() error {
	t := o.t
	t.arenaIndices = t.arenaIndices[:0]
	for _, list := range t.arenaLists {
		ptr, n, _, err := o.mem.Slice(list, 8, maxArenas)
		if err != nil {
			return err
		}
		if t.arenaIndices, err = o.mem.Words(t.arenaIndices, ptr, n, t.buf); err != nil {
			return err
		}
	}
	end, err := o.mem.U64(t.curArena)
	if err != nil {
		return err
	}
	for _, i := range t.arenaIndices {
		a := sample.PageRange{Start: i*ArenaSize - o.t.base, Kind: sample.RangeArena}
		a.End = a.Start + ArenaSize
		if end > a.Start && end < a.End {
			a.End = end
		}
		if a.Start < 1<<48 {
			o.ranges = append(o.ranges, a)
		}
	}
	return nil
}

// addArenaTables notes the index of the arenas, one mapping that is hardly
// touched, and each arena's descriptor. That is over 64 KiB, so persistentalloc
// gives it a mapping of its own.
func (o *tables) addArenaTables() error {
	index, err := o.mem.U64(o.t.arenas)
	if err != nil {
		return err
	}
	o.add(index, 8*maxArenas)
	near := NewCursor(o.mem)
	for _, i := range o.t.arenaIndices {
		if i >= maxArenas {
			return fmt.Errorf("arena number %d", i)
		}
		var b [8]byte
		if err := near.Read(index+8*i, b[:]); err != nil {
			return err
		}
		o.add(Word(b[:], 0), o.t.heapArena)
	}
	return nil
}

func (o *tables) addAllspans() error {
	ptr, _, capacity, err := o.mem.Slice(o.t.allspans, 8, maxSpans)
	o.add(ptr, 8*capacity)
	return err
}

// addPersistent follows the chunks of persistentalloc; the first word of each
// points to the next.
func (o *tables) addPersistent() error {
	return o.follow(o.t.persistent, 0, persistentChunk)
}

// addGCBits follows the four lists of mark and allocation bits: free, next,
// current and previous (runtime/mheap.go, gcBitsArenas).
func (o *tables) addGCBits() error {
	for i := range uint64(4) {
		if err := o.follow(o.t.gcBits+8*i, o.t.gcBitsNext, gcBitsChunk); err != nil {
			return err
		}
	}
	return nil
}

// follow notes every block of a linked list. A list that changes meanwhile may
// lead nowhere; what was found until then holds.
func (o *tables) follow(head, next, size uint64) error {
	at, err := o.mem.U64(head)
	for n := 0; err == nil && at != 0; n++ {
		if n == maxChunks {
			return errors.New("a list without an end")
		}
		o.add(at, size)
		at, err = o.mem.U64(at + next)
	}
	return err
}

func (o *tables) addBuckhash() error {
	table, err := o.mem.U64(o.t.buckhash)
	o.add(table, buckHashSize)
	return err
}
