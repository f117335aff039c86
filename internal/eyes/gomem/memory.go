package gomem

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
)

// WindowSize is how much is read at once where many small records lie near each
// other. 64 KiB is where a read's fixed cost no longer shows: 4 KiB windows take
// fourteen times as many calls for the same bytes.
const WindowSize = 64 << 10

// wideSize is how much is read at once where that would be many windows: each call hands the
// reading over to another thread and back, which takes as long as to read 20 KiB. More leaves
// a processor's cache.
const wideSize = 512 << 10

// windowGap is the largest hole between two records of one window. Records
// that lie further apart are rarely in one mapping.
const windowGap = 4 << 10

// Memory is the address space of a process: offsets are addresses.
type Memory struct{ r io.ReaderAt }

// NewMemory is what r reads, at addresses.
func NewMemory(r io.ReaderAt) Memory { return Memory{r} }

// Read fills p from addr, or says why it could not.
func (m Memory) Read(addr uint64, p []byte) error {
	if addr > math.MaxInt64-uint64(len(p)) {
		return fmt.Errorf("read %d bytes at %#x: no address of a process", len(p), addr)
	}
	if n, err := m.r.ReadAt(p, int64(addr)); n < len(p) {
		return fmt.Errorf("read %d bytes at %#x: %w", len(p), addr, err)
	}
	return nil
}

// ReadAt is read for who wants an io.ReaderAt; offsets are addresses.
func (m Memory) ReadAt(p []byte, off int64) (int, error) { return m.r.ReadAt(p, off) }

// pieceReader is a memory of which many pieces can be read at once.
type pieceReader interface {
	ReadPieces(p []byte, pieces [][2]uint64) error
}

// ReadPieces reads pieces, each [from, to), into p, one behind another.
func (m Memory) ReadPieces(p []byte, pieces [][2]uint64) error {
	if r, ok := m.r.(pieceReader); ok {
		return r.ReadPieces(p, pieces)
	}
	for _, at := range pieces {
		n := at[1] - at[0]
		if err := m.Read(at[0], p[:n]); err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// U64 is the little-endian word at addr.
func (m Memory) U64(addr uint64) (uint64, error) {
	var b [8]byte
	err := m.Read(addr, b[:])
	return binary.LittleEndian.Uint64(b[:]), err
}

// U32 is the four bytes at addr.
func (m Memory) U32(addr uint64) (uint32, error) {
	var b [4]byte
	err := m.Read(addr, b[:])
	return binary.LittleEndian.Uint32(b[:]), err
}

// number reads a field of which off is the address.
func (m Memory) number(at Number) (uint64, error) {
	var b [8]byte
	err := m.Read(at.Off, b[:at.Size])
	return Word(b[:], 0), err
}

// Slice reads the header of a Go slice and refuses one that is no slice of
// elements of that size or holds more than limit of them.
func (m Memory) Slice(addr, elem, limit uint64) (ptr, n, capacity uint64, err error) {
	var b [24]byte
	if err := m.Read(addr, b[:]); err != nil {
		return 0, 0, 0, err
	}
	ptr, n, capacity = Word(b[:], 0), Word(b[:], 8), Word(b[:], 16)
	if n > capacity || capacity > limit || ptr > math.MaxInt64-capacity*elem || (ptr == 0 && capacity > 0) {
		return 0, 0, 0, fmt.Errorf("no slice at %#x: pointer %#x, length %d, capacity %d", addr, ptr, n, capacity)
	}
	return ptr, n, capacity, nil
}

// Words reads n words at addr and appends them to dst. It reads before it
// grows dst, a window at a time, so that a false n costs no memory.
func (m Memory) Words(dst []uint64, addr, n uint64, buf []byte) ([]uint64, error) {
	for n > 0 {
		k := min(n, uint64(len(buf)/8))
		if err := m.Read(addr, buf[:8*k]); err != nil {
			return dst, err
		}
		for i := range k {
			dst = append(dst, Word(buf, 8*i))
		}
		addr, n = addr+8*k, n-k
	}
	return dst, nil
}

// Windows are pieces of memory that are read by one call, each [from, to), in the order
// of addresses; in the buffer they lie one behind another.
type Windows struct {
	Pieces [][2]uint64
	Size   int // bytes of all
}

// Join takes in n bytes, at or behind the address that was taken in last, and says where
// in the buffer they will lie: near the ones before in one window with them. ok is false
// where all would be more than most.
func (w *Windows) Join(addr, n uint64, most int) (at int, ok bool) {
	end := addr + n
	var last *[2]uint64
	if k := len(w.Pieces) - 1; k >= 0 && addr <= w.Pieces[k][1]+windowGap {
		last = &w.Pieces[k]
		n = end - min(end, last[1])
	}
	if n > uint64(most-w.Size) {
		return 0, false
	}
	w.Size += int(n)
	if last == nil {
		w.Pieces = append(w.Pieces, [2]uint64{addr, end})
		return w.Size - int(n), true
	}
	last[1] += n
	return w.Size - int(last[1]-addr), true
}

// Forget empties them.
func (w *Windows) Forget() { w.Pieces, w.Size = w.Pieces[:0], 0 }

// RecordReader reads records of one size, many at once, without allocating when it
// has done so before.
type RecordReader struct {
	window  *window // while it is used
	Buf     []byte  // of window
	spoiled bool    // a read failed: one that hangs may still write into window
	windows Windows
	at      []int // in buf, of each record
}

// window is memory to read into. It is lent for one reading: a watcher of many programs
// that kept one for each reader of each had nothing larger.
type window struct {
	buf    []byte
	pieces [][2]uint64 // and where records lie in it: memory for windows and at
	at     []int
}

// newRecordReader has a window of its own.
func newRecordReader() RecordReader {
	own := &window{buf: make([]byte, WindowSize)}
	return RecordReader{window: own, Buf: own.buf}
}

var (
	windowsFree = sync.Pool{New: func() any { return &window{buf: make([]byte, WindowSize)} }}
	wideFree    = sync.Pool{New: func() any { return &window{buf: make([]byte, wideSize)} }}
)

// Take gives it its window until give, and says whether it had none.
func (r *RecordReader) Take() bool { return r.takeFrom(&windowsFree) }

func (r *RecordReader) takeFrom(pool *sync.Pool) bool {
	if r.window != nil {
		return false
	}
	r.window = pool.Get().(*window)
	r.Buf = r.window.buf
	r.windows.Pieces, r.at = r.window.pieces, r.window.at
	return true
}

// Give gives the window back, if it is one's own to give.
func (r *RecordReader) Give(own bool) {
	if !own {
		return
	}
	if !r.spoiled {
		r.window.pieces, r.window.at = r.windows.Pieces, r.at
		if len(r.window.buf) == wideSize {
			wideFree.Put(r.window)
		} else {
			windowsFree.Put(r.window)
		}
	}
	*r = RecordReader{}
}

// Each reads the size bytes at every address, which must be sorted, and passes record
// i to fn. Records that cannot be read are left out; missed says how many. The bytes
// are valid during the call only.
func (r *RecordReader) Each(m Memory, addrs []uint64, size int, fn func(i int, b []byte)) (missed int) {
	defer r.Give(r.takeFrom(poolFor(addrs, size)))
	for i := 0; i < len(addrs); {
		r.fill(addrs[i:], size)
		together := m.ReadPieces(r.Buf[:r.windows.Size], r.windows.Pieces) == nil
		r.spoiled = r.spoiled || !together
		for _, at := range r.at {
			b := r.Buf[at:][:size]
			if together || m.Read(addrs[i], b) == nil {
				fn(i, b)
			} else {
				missed++
			}
			i++
		}
	}
	return missed
}

// poolFor is that of the windows to read so many records through.
func poolFor(addrs []uint64, size int) *sync.Pool {
	if n := uint64(len(addrs)); n > 0 && min(addrs[n-1]-addrs[0], n*(uint64(size)+windowGap)) > 4*WindowSize {
		return &wideFree
	}
	return &windowsFree
}

// fill plans the reading of the first records, as many as there is room for.
func (r *RecordReader) fill(addrs []uint64, size int) {
	r.windows.Forget()
	r.at = r.at[:0]
	for _, addr := range addrs {
		at, ok := r.windows.Join(addr, uint64(size), len(r.Buf))
		if !ok {
			return
		}
		r.at = append(r.at, at)
	}
}

// Cursor reads small pieces that lie near each other through a few windows. It
// never reads the same window twice: make a new one for each walk.
type Cursor struct {
	mem     Memory
	windows map[uint64][]byte // by address / cursorWindow; nil: unreadable as a whole
	order   []uint64
	limit   int // of windows
}

const (
	// cursorWindow is how much a cursor reads at once: what it follows lies close together
	// in one program and far apart in another, between all else that the runtime makes.
	cursorWindow = 16 << 10
	// maxWindows bounds what a cursor keeps, 16 MiB: a persistentalloc chunk is 16
	// windows, and every P fills its own.
	maxWindows = 1 << 10
)

// Keep has a cursor keep all that it reads of so many bytes.
func (c *Cursor) Keep(n int) { c.limit = n / cursorWindow }

// NewCursor has read nothing yet.
func NewCursor(m Memory) *Cursor {
	return &Cursor{mem: m, windows: make(map[uint64][]byte), limit: maxWindows}
}

// Read fills p from addr.
func (c *Cursor) Read(addr uint64, p []byte) error {
	key, off := addr/cursorWindow, addr%cursorWindow
	w, ok := c.windows[key]
	if !ok {
		w = c.load(key)
	}
	if off+uint64(len(p)) <= uint64(len(w)) {
		copy(p, w[off:])
		return nil
	}
	return c.mem.Read(addr, p)
}

// load reads a window and drops the oldest where there are too many.
func (c *Cursor) load(key uint64) []byte {
	var w []byte
	if len(c.order) >= c.limit {
		w = c.windows[c.order[0]]
		delete(c.windows, c.order[0])
		c.order = slices.Delete(c.order, 0, 1)
	}
	if w == nil {
		w = make([]byte, cursorWindow)
	}
	if c.mem.Read(key*cursorWindow, w) != nil {
		w = nil
	}
	c.windows[key] = w
	c.order = append(c.order, key)
	return w
}

// Number is a little-endian unsigned field that some versions made smaller.
type Number struct{ Off, Size uint64 }

// Of reads the field; b must hold it.
func (n Number) Of(b []byte) uint64 {
	switch n.Size {
	case 1:
		return uint64(b[n.Off])
	case 2:
		return uint64(Short(b, n.Off))
	case 4:
		return uint64(Half(b, n.Off))
	}
	return Word(b, n.Off)
}

// Word is the little-endian word at off; b must hold it.
func Word(b []byte, off uint64) uint64 { return binary.LittleEndian.Uint64(b[off:]) }

// Half is the four bytes at off, little-endian; b must hold them.
func Half(b []byte, off uint64) uint32 { return binary.LittleEndian.Uint32(b[off:]) }

// Short is the two bytes at off, little-endian; b must hold them.
func Short(b []byte, off uint64) uint16 { return binary.LittleEndian.Uint16(b[off:]) }
