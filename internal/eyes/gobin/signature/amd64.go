package signature

import (
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"
)

// readAMD64 reads a body, and reports whether it could. Immediates of a MiB or more may be addresses; NOP and INT3 pad.
func (b *Body) readAMD64(code []byte, pc uint64) (ok bool) {
	for at := 0; at < len(code); {
		if code[at] == 0xcc {
			at++
			continue
		}
		inst, err := x86asm.Decode(code[at:], 64)
		if err != nil || inst.Op == 0 || inst.Len > len(code)-at { // 0: a prefix, and then the end
			return false
		}
		if inst.Op != x86asm.NOP {
			var buf [15]byte // the longest instruction
			text := buf[:copy(buf[:], code[at:at+inst.Len])]
			off, isRef := blank(text, &inst)
			disp := int64(0)
			if isRef {
				disp = int64(int32(binary.LittleEndian.Uint32(code[at+off:])))
			}
			b.add(text, pc+uint64(at+inst.Len)+uint64(disp), isRef)
		}
		at += inst.Len
	}
	return true
}

// blank normalises the bytes of one instruction. If it addresses data relative to
// the program counter, off is where the displacement lies.
func blank(text []byte, inst *x86asm.Inst) (off int, isData bool) {
	off = inst.PCRelOff
	width := inst.PCRel
	for _, a := range inst.Args {
		switch a := a.(type) {
		case x86asm.Mem:
			if a.Base == x86asm.RIP && a.Segment == 0 {
				isData = true
				if width == 0 { // VEX instructions: x86asm does not say where
					off, width = findDisp(text, int32(a.Disp)), 4
				}
			}
		case x86asm.Imm:
			if a >= 1<<20 || a < -(1<<20) {
				clear(text[len(text)-4:])
			}
		}
	}
	if width == 0 || off < 0 || off+width > len(text) || isData && width != 4 {
		return 0, false
	}
	clear(text[off : off+width])
	return off, isData
}

// findDisp is where an instruction has its displacement: at its end, or before an
// immediate of one byte.
func findDisp(text []byte, disp int32) int {
	for off := len(text) - 4; off >= len(text)-5 && off > 0; off-- {
		if int32(binary.LittleEndian.Uint32(text[off:])) == disp {
			return off
		}
	}
	return -1
}

// switchAMD64 matches CMPB $0, flag(PC) and, at most three instructions on, MOVQ $0, rate(PC).
func switchAMD64(c Code) (flag, rate uint64, ok bool) {
	var compared uint64
	found, age := 0, 4
	for at := 0; at < min(len(c.Bytes), maxCode); age++ {
		inst, err := x86asm.Decode(c.Bytes[at:], 64)
		if err != nil || inst.Op == 0 {
			return 0, 0, false
		}
		switch target, zero := withZero(&inst, c.Bytes[at:], c.PC+uint64(at)); {
		case zero && inst.Op == x86asm.CMP && inst.MemBytes == 1:
			compared, age = target, 0
		case zero && inst.Op == x86asm.MOV && inst.MemBytes == 8 && age <= 3:
			flag, rate = compared, target
			found++
		}
		at += inst.Len
	}
	return flag, rate, found == 1
}

// withZero is the address that an instruction with the operands X(PC), $0 names.
func withZero(inst *x86asm.Inst, code []byte, pc uint64) (target uint64, ok bool) {
	m, isMem := inst.Args[0].(x86asm.Mem)
	i, isImm := inst.Args[1].(x86asm.Imm)
	if !isMem || !isImm || i != 0 || m.Base != x86asm.RIP || inst.PCRel != 4 || inst.PCRelOff+4 > len(code) {
		return 0, false
	}
	disp := int32(binary.LittleEndian.Uint32(code[inst.PCRelOff:]))
	return pc + uint64(inst.Len) + uint64(int64(disp)), true
}
