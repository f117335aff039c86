package gomem

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
)

// windowSize is how much is read at once where many small records lie near each
// other. 64 KiB is where a read's fixed cost no longer shows: 4 KiB windows take
// fourteen times as many calls for the same bytes.
const windowSize = 64 << 10

// wideSize is how much is read at once where that would be many windows: each call hands the
// reading over to another thread and back, which takes as long as to read 20 KiB. More leaves
// a processor's cache.
const wideSize = 512 << 10

// windowGap is the largest hole between two records of one window. Records
// that lie further apart are rarely in one mapping.
const windowGap = 4 << 10

// memory is the address space of a process: offsets are addresses.
type memory struct{ r io.ReaderAt }

// read fills p from addr, or says why it could not.
func (m memory) read(addr uint64, p []byte) error {
	if addr > math.MaxInt64-uint64(len(p)) {
		return fmt.Errorf("read %d bytes at %#x: no address of a process", len(p), addr)
	}
	if n, err := m.r.ReadAt(p, int64(addr)); n < len(p) {
		return fmt.Errorf("read %d bytes at %#x: %w", len(p), addr, err)
	}
	return nil
}

// ReadAt is read for who wants an io.ReaderAt; offsets are addresses.
func (m memory) ReadAt(p []byte, off int64) (int, error) { return m.r.ReadAt(p, off) }

// pieceReader is a memory of which many pieces can be read at once.
type pieceReader interface {
	ReadPieces(p []byte, pieces [][2]uint64) error
}

// readPieces reads pieces, each [from, to), into p, one behind another.
func (m memory) readPieces(p []byte, pieces [][2]uint64) error {
	if r, ok := m.r.(pieceReader); ok {
		return r.ReadPieces(p, pieces)
	}
	for _, at := range pieces {
		n := at[1] - at[0]
		if err := m.read(at[0], p[:n]); err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

func (m memory) u64(addr uint64) (uint64, error) {
	var b [8]byte
	err := m.read(addr, b[:])
	return binary.LittleEndian.Uint64(b[:]), err
}

func (m memory) u32(addr uint64) (uint32, error) {
	var b [4]byte
	err := m.read(addr, b[:])
	return binary.LittleEndian.Uint32(b[:]), err
}

// number reads a field of which off is the address.
func (m memory) number(at number) (uint64, error) {
	var b [8]byte
	err := m.read(at.off, b[:at.size])
	return word(b[:], 0), err
}

// slice reads the header of a Go slice and refuses one that is no slice of
// elements of that size or holds more than limit of them.
func (m memory) slice(addr, elem, limit uint64) (ptr, n, capacity uint64, err error) {
	var b [24]byte
	if err := m.read(addr, b[:]); err != nil {
		return 0, 0, 0, err
	}
	ptr, n, capacity = word(b[:], 0), word(b[:], 8), word(b[:], 16)
	if n > capacity || capacity > limit || ptr > math.MaxInt64-capacity*elem || (ptr == 0 && capacity > 0) {
		return 0, 0, 0, fmt.Errorf("no slice at %#x: pointer %#x, length %d, capacity %d", addr, ptr, n, capacity)
	}
	return ptr, n, capacity, nil
}

// words reads n words at addr and appends them to dst. It reads before it
// grows dst, a window at a time, so that a false n costs no memory.
func (m memory) words(dst []uint64, addr, n uint64, buf []byte) ([]uint64, error) {
	for n > 0 {
		k := min(n, uint64(len(buf)/8))
		if err := m.read(addr, buf[:8*k]); err != nil {
			return dst, err
		}
		for i := range k {
			dst = append(dst, word(buf, 8*i))
		}
		addr, n = addr+8*k, n-k
	}
	return dst, nil
}

// windows are pieces of memory that are read by one call, each [from, to), in the order
// of addresses; in the buffer they lie one behind another.
type windows struct {
	pieces [][2]uint64
	size   int // bytes of all
}

// join takes in n bytes, at or behind the address that was taken in last, and says where
// in the buffer they will lie: near the ones before in one window with them. ok is false
// where all would be more than most.
func (w *windows) join(addr, n uint64, most int) (at int, ok bool) {
	end := addr + n
	var last *[2]uint64
	if k := len(w.pieces) - 1; k >= 0 && addr <= w.pieces[k][1]+windowGap {
		last = &w.pieces[k]
		n = end - min(end, last[1])
	}
	if n > uint64(most-w.size) {
		return 0, false
	}
	w.size += int(n)
	if last == nil {
		w.pieces = append(w.pieces, [2]uint64{addr, end})
		return w.size - int(n), true
	}
	last[1] += n
	return w.size - int(last[1]-addr), true
}

// forget empties them.
func (w *windows) forget() { w.pieces, w.size = w.pieces[:0], 0 }

// recordReader reads records of one size, many at once, without allocating when it
// has done so before.
type recordReader struct {
	window  *window // while it is used
	buf     []byte  // of window
	spoiled bool    // a read failed: one that hangs may still write into window
	windows windows
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
func newRecordReader() recordReader {
	own := &window{buf: make([]byte, windowSize)}
	return recordReader{window: own, buf: own.buf}
}

var (
	windowsFree = sync.Pool{New: func() any { return &window{buf: make([]byte, windowSize)} }}
	wideFree    = sync.Pool{New: func() any { return &window{buf: make([]byte, wideSize)} }}
)

// take gives it its window until give, and says whether it had none.
func (r *recordReader) take() bool { return r.takeFrom(&windowsFree) }

func (r *recordReader) takeFrom(pool *sync.Pool) bool {
	if r.window != nil {
		return false
	}
	r.window = pool.Get().(*window)
	r.buf = r.window.buf
	r.windows.pieces, r.at = r.window.pieces, r.window.at
	return true
}

// give gives the window back, if it is one's own to give.
func (r *recordReader) give(own bool) {
	if !own {
		return
	}
	if !r.spoiled {
		r.window.pieces, r.window.at = r.windows.pieces, r.at
		if len(r.window.buf) == wideSize {
			wideFree.Put(r.window)
		} else {
			windowsFree.Put(r.window)
		}
	}
	*r = recordReader{}
}

// each reads the size bytes at every address, which must be sorted, and passes record
// i to fn. Records that cannot be read are left out; missed says how many. The bytes
// are valid during the call only.
func (r *recordReader) each(m memory, addrs []uint64, size int, fn func(i int, b []byte)) (missed int) {
	defer r.give(r.takeFrom(poolFor(addrs, size)))
	for i := 0; i < len(addrs); {
		r.fill(addrs[i:], size)
		together := m.readPieces(r.buf[:r.windows.size], r.windows.pieces) == nil
		r.spoiled = r.spoiled || !together
		for _, at := range r.at {
			b := r.buf[at:][:size]
			if together || m.read(addrs[i], b) == nil {
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
	if n := uint64(len(addrs)); n > 0 && min(addrs[n-1]-addrs[0], n*(uint64(size)+windowGap)) > 4*windowSize {
		return &wideFree
	}
	return &windowsFree
}

// fill plans the reading of the first records, as many as there is room for.
func (r *recordReader) fill(addrs []uint64, size int) {
	r.windows.forget()
	r.at = r.at[:0]
	for _, addr := range addrs {
		at, ok := r.windows.join(addr, uint64(size), len(r.buf))
		if !ok {
			return
		}
		r.at = append(r.at, at)
	}
}

// cursor reads small pieces that lie near each other through a few windows. It
// never reads the same window twice: make a new one for each walk.
type cursor struct {
	mem     memory
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

// keep has a cursor keep all that it reads of so many bytes.
func (c *cursor) keep(n int) { c.limit = n / cursorWindow }

func newCursor(m memory) *cursor {
	return &cursor{mem: m, windows: make(map[uint64][]byte), limit: maxWindows}
}

// read fills p from addr.
func (c *cursor) read(addr uint64, p []byte) error {
	key, off := addr/cursorWindow, addr%cursorWindow
	w, ok := c.windows[key]
	if !ok {
		w = c.load(key)
	}
	if off+uint64(len(p)) <= uint64(len(w)) {
		copy(p, w[off:])
		return nil
	}
	return c.mem.read(addr, p)
}

// load reads a window and drops the oldest where there are too many.
func (c *cursor) load(key uint64) []byte {
	var w []byte
	if len(c.order) >= c.limit {
		w = c.windows[c.order[0]]
		delete(c.windows, c.order[0])
		c.order = slices.Delete(c.order, 0, 1)
	}
	if w == nil {
		w = make([]byte, cursorWindow)
	}
	if c.mem.read(key*cursorWindow, w) != nil {
		w = nil
	}
	c.windows[key] = w
	c.order = append(c.order, key)
	return w
}

// number is a little-endian unsigned field that some versions made smaller.
type number struct{ off, size uint64 }

// of reads the field; b must hold it.
func (n number) of(b []byte) uint64 {
	switch n.size {
	case 1:
		return uint64(b[n.off])
	case 2:
		return uint64(short(b, n.off))
	case 4:
		return uint64(half(b, n.off))
	}
	return word(b, n.off)
}

// word is the little-endian word at off; b must hold it.
func word(b []byte, off uint64) uint64 { return binary.LittleEndian.Uint64(b[off:]) }

func half(b []byte, off uint64) uint32 { return binary.LittleEndian.Uint32(b[off:]) }

func short(b []byte, off uint64) uint16 { return binary.LittleEndian.Uint16(b[off:]) }
