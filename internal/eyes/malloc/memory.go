package malloc

import (
	"encoding/binary"
	"errors"
)

var (
	errAbsent = errors.New("not in memory")
	errBounds = errors.New("out of bounds")
	errLate   = errors.New("no time was left")
)

// windowSize is how much is read at once of memory that is walked through.
const windowSize = 256 << 10

// window is a stretch of memory that was read.
type window struct {
	start uint64
	data  []byte
	room  []byte
}

func (w *window) drop() { w.data = nil }

// word is a word of memory that is walked through upwards, of a region that ends at end.
func (r *reader) word(addr, end uint64) (uint64, error) {
	w := &r.window
	if at := addr - w.start; addr >= w.start && at+8 <= uint64(len(w.data)) {
		return binary.LittleEndian.Uint64(w.data[at:]), nil
	}
	if addr%8 != 0 || addr >= end || end-addr < 8 {
		return 0, errBounds
	}
	if err := r.fill(addr, end); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(w.data[addr-w.start:]), nil
}

// fill reads the pages from addr on that are in memory, up to a window of them.
func (r *reader) fill(addr, end uint64) error {
	w := &r.window
	w.drop()
	if r.late() {
		return errLate
	}
	start := addr &^ (r.Page - 1)
	until := start
	for until < end && until-start < windowSize && r.present.has(r, until) {
		until += r.Page
	}
	if until = min(until, end); until < addr+8 {
		return errAbsent
	}
	if w.room == nil {
		w.room = make([]byte, windowSize+r.Page)
	}
	n, err := r.Memory.ReadAt(w.room[:until-start], int64(start))
	if uint64(n) < addr-start+8 {
		return errors.Join(errAbsent, err)
	}
	w.start, w.data = start, w.room[:n]
	return nil
}

// presence knows which pages lie in memory, a piece of the address space at a time.
type presence struct {
	start uint64
	pages []bool
}

// presencePiece is how much address space is asked about at once.
const presencePiece = 64 << 20

// has says whether the page at an address lies in memory.
func (p *presence) has(r *reader, addr uint64) bool {
	if r.Present == nil {
		return true
	}
	if p.pages == nil || addr-p.start >= presencePiece { // also below start
		p.start = addr &^ (presencePiece - 1)
		p.pages, _ = r.Present(p.pages[:0], p.start, p.start+presencePiece)
		if p.pages == nil {
			p.pages = []bool{}
		}
	}
	i := (addr - p.start) / r.Page
	return i < uint64(len(p.pages)) && p.pages[i]
}

// cachedPages is how many pages are kept of memory that is read here and there.
const cachedPages = 512

// pageCache keeps pages of memory by address.
type pageCache struct {
	at   [cachedPages]uint64 // address of the page + 1; 0: none
	data []byte
}

// random is a word of memory that is read here and there.
func (r *reader) random(addr uint64) (uint64, error) {
	c := &r.cache
	if addr%8 != 0 {
		return 0, errBounds
	}
	page := addr &^ (r.Page - 1)
	slot := page / r.Page % cachedPages
	if c.data == nil {
		c.data = make([]byte, cachedPages*r.Page)
	}
	data := c.data[slot*r.Page:][:r.Page]
	if c.at[slot] != page+1 {
		if r.late() {
			return 0, errLate
		}
		c.at[slot] = 0
		if !r.isWritable(addr, 8) {
			return 0, errBounds
		}
		if !r.present.has(r, page) {
			return 0, errAbsent
		}
		if _, err := r.Memory.ReadAt(data, int64(page)); err != nil {
			return 0, err
		}
		c.at[slot] = page + 1
	}
	return binary.LittleEndian.Uint64(data[addr-page:]), nil
}
