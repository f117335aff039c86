package faultprofile

import (
	"encoding/binary"
	"errors"
	"io"
	"sort"
)

// Registers of x86-64 as DWARF numbers them (System V ABI, AMD64 supplement, 3.6.2), those
// that the frames of C are found by.
const (
	dwRBX = 3
	dwRBP = 6
	dwRSP = 7
	dwR12 = 12
	dwR15 = 15
)

// rule is how the caller's value of a register is found: at an offset from the frame's
// address (the CFA); kept, where there is none.
type rule struct {
	at    int64
	saved bool
}

// row is how to step from one instruction of a function to its caller: the CFA is a
// register plus an offset, and the return address lies 8 below it.
type row struct {
	base   uint8
	offset int64
	plt    bool // the CFA of a procedure linkage table: the offset depends on the instruction
	saved  [6]rule
}

// savedIndex is the place of a register among those that a call preserves, -1 for others.
func savedIndex(reg uint64) int {
	switch {
	case reg == dwRBX:
		return 0
	case reg == dwRBP:
		return 1
	case reg >= dwR12 && reg <= dwR15:
		return int(reg) - dwR12 + 2
	}
	return -1
}

// errFrames is what is not understood of a file's table of frames.
var errFrames = errors.New("its .eh_frame is not as compilers write it")

// frameTable is the .eh_frame of one file with the index that linkers put beside it
// (Linux Standard Base, 10.6). Bytes are read where a step needs them: a record is some
// dozens of them. Addresses are link-time ones.
type frameTable struct {
	index     []byte // pairs of int32: function, record; both from indexAddr
	indexAddr uint64
	frames    io.ReaderAt // the section
	addr      uint64      // where it begins
	size      uint64
	rows      map[uint64]row
}

const (
	maxFrameIndex = 32 << 20
	maxRecord     = 64 << 10
	maxRows       = 1 << 13
)

// newFrameTable takes an index apart: version 1, a pointer that is not used, and a sorted
// table relative to its own begin (the one form that ld, gold and lld write).
func newFrameTable(hdr []byte, hdrAddr uint64, frames io.ReaderAt, addr, size uint64) (*frameTable, error) {
	const pcrel4, udata4, table = 0x1b, 0x03, 0x3b
	if len(hdr) < 12 || hdr[0] != 1 || hdr[1] != pcrel4 || hdr[2] != udata4 || hdr[3] != table {
		return nil, errFrames
	}
	n := uint64(binary.LittleEndian.Uint32(hdr[8:]))
	if n > uint64(len(hdr)-12)/8 {
		return nil, errFrames
	}
	return &frameTable{index: hdr[12:][:8*n], indexAddr: hdrAddr, frames: frames, addr: addr, size: size, rows: map[uint64]row{}}, nil
}

// row is the one of a link-time address.
func (t *frameTable) row(pc uint64) (r row, ok bool) {
	if r, known := t.rows[pc]; known {
		return r, r.base != 0
	}
	r, err := t.find(pc)
	if err != nil {
		r = row{}
	}
	if len(t.rows) < maxRows {
		t.rows[pc] = r
	}
	return r, r.base != 0
}

func (t *frameTable) find(pc uint64) (row, error) {
	entry := func(i, at int) uint64 {
		return t.indexAddr + uint64(int64(int32(binary.LittleEndian.Uint32(t.index[8*i+at:]))))
	}
	i := sort.Search(len(t.index)/8, func(i int) bool { return entry(i, 0) > pc }) - 1
	if i < 0 {
		return row{}, errFrames
	}
	at := entry(i, 4)
	fde, err := t.record(at)
	if err != nil {
		return row{}, err
	}
	back := uint64(fde.u32())
	cie, err := t.record(at + 4 - back)
	if err != nil {
		return row{}, err
	}
	return step(cie, fde, at+8, pc)
}

// record reads a record with its length.
func (t *frameTable) record(addr uint64) (*cursor, error) {
	var b [4]byte
	off := addr - t.addr
	if addr < t.addr || off >= t.size {
		return nil, errFrames
	}
	if _, err := t.frames.ReadAt(b[:], int64(off)); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(b[:])
	if n < 4 || n > maxRecord || uint64(n) > t.size-off {
		return nil, errFrames
	}
	rest := make([]byte, n)
	if _, err := t.frames.ReadAt(rest, int64(off)+4); err != nil {
		return nil, err
	}
	return &cursor{b: rest}, nil
}

// cie is what records share.
type cie struct {
	code, data int64
	encoding   byte
	augmented  bool
	program    *cursor
}

// readCIE reads it behind its length.
func readCIE(c *cursor) (k cie, err error) {
	id, version := c.u32(), c.u8()
	augmentation := c.text()
	k.code, k.data = int64(c.uleb()), c.sleb()
	ra := c.uleb()
	if id != 0 || version != 1 && version != 3 || ra != 16 || c.bad {
		return k, errFrames
	}
	k.encoding = 0
	if len(augmentation) > 0 && augmentation[0] == 'z' {
		k.augmented = true
		data := c.sub(c.uleb())
		for _, a := range augmentation[1:] {
			switch a {
			case 'R':
				k.encoding = data.u8()
			case 'P': // of C++; with four bytes, or eight
				if size := uint64(4); data.u8()&0x0f == 0x00 {
					data.skip(2 * size)
				} else {
					data.skip(size)
				}
			case 'L':
				data.u8()
			case 'S', 'B':
			default:
				return k, errFrames
			}
		}
	}
	k.program = c
	return k, nil
}

// step runs the programs of a function's records up to pc. at is where the function's address
// stands.
func step(shared, own *cursor, at, pc uint64) (row, error) {
	k, err := readCIE(shared)
	if err != nil {
		return row{}, err
	}
	const pcrel4 = 0x1b
	if k.encoding != pcrel4 {
		return row{}, errFrames
	}
	begin := at + uint64(int64(int32(own.u32())))
	size := uint64(own.u32())
	if own.bad || pc < begin || pc-begin >= size {
		return row{}, errFrames
	}
	if k.augmented {
		own.skip(own.uleb())
	}
	m := machine{cie: k, loc: begin, pc: pc}
	if err := m.run(k.program); err != nil {
		return row{}, err
	}
	m.initial = m.row
	if err := m.run(own); err != nil {
		return row{}, err
	}
	return m.row, nil
}

// machine runs call frame instructions (DWARF 5, 6.4.2) until it is past pc.
type machine struct {
	cie
	row, initial row
	stack        []row
	loc, pc      uint64
	done         bool
}

// run ends with the program, as each instruction takes at least one byte of it.
func (m *machine) run(c *cursor) error {
	for len(c.b) > 0 && !m.done {
		op := c.u8()
		switch arg := uint64(op & 0x3f); op >> 6 {
		case 1:
			m.advance(arg)
		case 2:
			m.save(arg, int64(c.uleb())*m.data)
		case 3:
			m.restore(arg)
		default:
			if err := m.other(op, c); err != nil {
				return err
			}
		}
		if c.bad {
			return errFrames
		}
	}
	return nil
}

func (m *machine) advance(n uint64) {
	next := m.loc + n*uint64(m.code)
	if next > m.pc {
		m.done = true
		return
	}
	m.loc = next
}

func (m *machine) save(reg uint64, at int64) {
	if i := savedIndex(reg); i >= 0 {
		m.row.saved[i] = rule{at, true}
	}
}

func (m *machine) restore(reg uint64) {
	if i := savedIndex(reg); i >= 0 {
		m.row.saved[i] = m.initial.saved[i]
	}
}

func (m *machine) keep(reg uint64) {
	if i := savedIndex(reg); i >= 0 {
		m.row.saved[i] = rule{}
	}
}

func (m *machine) base(reg uint64) {
	if reg != dwRSP && savedIndex(reg) < 0 {
		reg = 0 // none that is known
	}
	m.row.base = uint8(reg)
}

// other runs the instructions that take a byte of their own.
func (m *machine) other(op byte, c *cursor) error {
	switch op {
	case 0x00: // nop
	case 0x02:
		m.advance(uint64(c.u8()))
	case 0x03:
		m.advance(uint64(c.u16()))
	case 0x04:
		m.advance(uint64(c.u32()))
	case 0x05:
		m.save(c.uleb(), int64(c.uleb())*m.data)
	case 0x06:
		m.restore(c.uleb())
	case 0x07, 0x08:
		m.keep(c.uleb())
	case 0x2e: // DW_CFA_GNU_args_size
		c.uleb()
	default:
		return m.frameOp(op, c)
	}
	return nil
}

// frameOp runs those that change the CFA, or remember it.
func (m *machine) frameOp(op byte, c *cursor) error {
	const deepest = 16
	m.row.plt = m.row.plt && op != 0x0c && op != 0x0d
	switch op {
	case 0x0a:
		if len(m.stack) == deepest {
			return errFrames
		}
		m.stack = append(m.stack, m.row)
	case 0x0b:
		if len(m.stack) == 0 {
			return errFrames
		}
		m.row = m.stack[len(m.stack)-1]
		m.stack = m.stack[:len(m.stack)-1]
	case 0x0c:
		m.base(c.uleb())
		m.row.offset = int64(c.uleb())
	case 0x0d:
		m.base(c.uleb())
	case 0x0e:
		m.row.offset = int64(c.uleb())
	case 0x0f: // an expression: that of a procedure linkage table is the one that occurs
		c.skip(c.uleb())
		m.row.base, m.row.plt = dwRSP, true
	case 0x12:
		m.base(c.uleb())
		m.row.offset = c.sleb() * m.data
	case 0x13:
		m.row.offset = c.sleb() * m.data
	case 0x11:
		m.save(c.uleb(), c.sleb()*m.data)
	case 0x10, 0x16:
		m.keep(c.uleb())
		c.skip(c.uleb())
	default:
		return errFrames
	}
	return nil
}

// cursor reads bytes one after another; bad once there were too few.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.bad = true
		c.b = nil
		return make([]byte, min(n, 8))
	}
	out := c.b[:n]
	c.b = c.b[n:]
	return out
}

func (c *cursor) skip(n uint64)        { c.take(n) }
func (c *cursor) u8() byte             { return c.take(1)[0] }
func (c *cursor) u16() uint16          { return binary.LittleEndian.Uint16(c.take(2)) }
func (c *cursor) u32() uint32          { return binary.LittleEndian.Uint32(c.take(4)) }
func (c *cursor) sub(n uint64) *cursor { return &cursor{b: c.take(n)} }

// text is a string that ends with a zero.
func (c *cursor) text() (s string) {
	for i, b := range c.b {
		if b == 0 {
			s = string(c.b[:i])
			c.b = c.b[i+1:]
			return s
		}
	}
	c.bad = true
	return ""
}

// uleb is an unsigned LEB128, of 64 bits at most.
func (c *cursor) uleb() (v uint64) {
	for shift := uint(0); shift < 70; shift += 7 {
		b := c.u8()
		v |= uint64(b&0x7f) << shift
		if b&0x80 == 0 {
			return v
		}
	}
	c.bad = true
	return 0
}

func (c *cursor) sleb() (v int64) {
	for shift := uint(0); shift < 70; shift += 7 {
		b := c.u8()
		v |= int64(b&0x7f) << shift
		if b&0x80 == 0 {
			if b&0x40 != 0 && shift+7 < 64 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	c.bad = true
	return 0
}
