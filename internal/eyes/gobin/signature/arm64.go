package signature

import "encoding/binary"

// Instructions of arm64, by the bits that tell them (Arm Architecture Reference
// Manual, C4.1).
const (
	nop = 0xd503201f
	udf = 0 // pads

	pageMask, pageBits = 0x9f000000, 0x90000000 // ADRP
	addMask, addBits   = 0xffc00000, 0x91000000 // ADD with an immediate, not shifted
	memMask, memBits   = 0x3b000000, 0x39000000 // LDR and STR of all sizes with an unsigned offset
)

// branches are the instructions that hold a distance, and where.
var branches = []struct{ mask, bits, distance uint32 }{
	{0x7c000000, 0x14000000, 0x03ffffff}, // B, BL
	{0xff000010, 0x54000000, 0x00ffffe0}, // B.cond
	{0x7e000000, 0x34000000, 0x00ffffe0}, // CBZ, CBNZ
	{0x7e000000, 0x36000000, 0x0007ffe0}, // TBZ, TBNZ
	{0x3b000000, 0x18000000, 0x00ffffe0}, // LDR of a literal
	{0x9f000000, 0x10000000, 0x60ffffe0}, // ADR
}

// readARM64 reads a body, and reports whether it could. Go names data by ADRP and, in the next instruction, ADD, LDR or
// STR with the same register.
func (b *Body) readARM64(code []byte, pc uint64) (ok bool) {
	var page pageOf
	for ; len(code) >= 4; code, pc = code[4:], pc+4 {
		w := binary.LittleEndian.Uint32(code)
		if w == nop || w == udf {
			continue
		}
		target, isRef := page.target(w)
		page = adrp(w, pc)
		text := binary.LittleEndian.AppendUint32(nil, blankARM64(w, isRef))
		b.add(text, target, isRef)
	}
	return len(code) == 0
}

// pageOf is what the last ADRP left in a register; register 32 is none.
type pageOf struct {
	register uint32
	addr     uint64
}

func adrp(w uint32, pc uint64) pageOf {
	if w&pageMask != pageBits {
		return pageOf{register: 32}
	}
	pages := int64(int32(w<<8)) >> 13 << 2 // 19 bits from bit 5 on, with sign
	pages |= int64(w >> 29 & 3)
	return pageOf{register: w & 31, addr: pc&^0xfff + uint64(pages<<12)}
}

// target is the address that w names by the register.
func (p pageOf) target(w uint32) (addr uint64, ok bool) {
	if w>>5&31 != p.register {
		return 0, false
	}
	offset := uint64(w >> 10 & 0xfff)
	switch {
	case w&addMask == addBits:
		return p.addr + offset, true
	case w&memMask == memBits:
		return p.addr + offset<<accessSize(w), true
	}
	return 0, false
}

// accessSize is how many bytes LDR or STR moves, as a power of two.
func accessSize(w uint32) uint32 {
	const vector, wide = 1 << 26, 1 << 23
	if w&(vector|wide) == vector|wide {
		return 4
	}
	return w >> 30
}

func blankARM64(w uint32, isRef bool) uint32 {
	if isRef {
		return w &^ (0xfff << 10)
	}
	if w&pageMask == pageBits {
		return w &^ 0x60ffffe0
	}
	for _, br := range branches {
		if w&br.mask == br.bits {
			return w &^ br.distance
		}
	}
	return w
}

// switchARM64 matches LDRB of the flag and, at most five instructions on (one is ADRP), STR of the zero register to the
// rate.
func switchARM64(c Code) (flag, rate uint64, ok bool) {
	const (
		opMask = 0xffc00000
		loadB  = 0x39400000 // LDRB
		store  = 0xf9000000 // STR of 8 bytes
	)
	var page pageOf
	var loaded uint64
	found, age := 0, 6
	for pc, code := c.PC, c.Bytes; len(code) >= 4; code, pc, age = code[4:], pc+4, age+1 {
		w := binary.LittleEndian.Uint32(code)
		target, isRef := page.target(w)
		page = adrp(w, pc)
		switch {
		case isRef && w&opMask == loadB:
			loaded, age = target, 0
		case isRef && w&opMask == store && w&31 == 31 && age <= 5:
			flag, rate = loaded, target
			found++
		}
	}
	return flag, rate, found == 1
}
