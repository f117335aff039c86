package faultprofile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"iter"

	"golang.org/x/arch/x86/x86asm"

	"github.com/highwater-go/highwater/internal/files/elffile"
)

// allocatorFunctions are what an allocator offers, by name. C++'s operators are not among them: those
// of libstdc++ call malloc, and an exception that leaves a function whose return is met would end the program.
var allocatorFunctions = map[string]Kind{
	"malloc": Malloc, "valloc": Malloc, "pvalloc": Malloc,
	"calloc": Calloc, "realloc": Realloc,
	"aligned_alloc": Aligned, "memalign": Aligned, "posix_memalign": Memalign,
	"free": Free, "cfree": Free,
}

// Allocator is the functions of one in a file.
type Allocator struct {
	Probes []Probe
	// Ranges are the code of these functions, link-time addresses: a call from there to another one
	// is its own business.
	Ranges [][2]uint64
}

// reallocJumps is added to the Kind of a realloc that jumps to malloc where it is given no block.
const reallocJumps = 1 << 4

// placed is a function of an allocator.
type placed struct {
	symbol
	name string
	kind Kind
	code []byte
}

// Allocator finds the functions of an allocator in the file; nil where it does not have both malloc and free.
// Which function is at an address, and what its code is, is the file's word: addresses out
// of its code, and code that cannot be decoded, are left out.
func (m *Image) Allocator() *Allocator {
	found := m.placedFunctions()
	slots := m.slots()
	var a Allocator
	has := map[Kind]bool{}
	for i := range found {
		p := &found[i]
		kind, ok := p.jumps(found, func(addr uint64) string { return slots[m.slotOf(addr)] })
		if !ok {
			continue
		}
		at, emulated := probePlace(p.code, p.kind)
		offset, ok := m.offset(p.addr + uint64(at))
		if !ok {
			continue
		}
		has[p.kind] = true
		a.Probes = append(a.Probes, Probe{Function: p.name, Kind: kind, Offset: offset, Stepped: !emulated})
		a.Ranges = append(a.Ranges, [2]uint64{p.addr, p.addr + max(p.size, 1)})
	}
	if !has[Malloc] || !has[Free] {
		return nil
	}
	return &a
}

// placedFunctions are the file's functions of an allocator, those with two names once.
func (m *Image) placedFunctions() (found []placed) {
	seen := map[uint64]bool{}
	for _, s := range m.symbols {
		name := cString(m.names, s.name)
		kind, ok := allocatorFunctions[name]
		if !ok || seen[s.addr] {
			continue
		}
		if code := m.code(s.addr, s.size); code != nil {
			seen[s.addr] = true
			found = append(found, placed{s, name, kind, code})
		}
	}
	return found
}

// code is the function's, as far as it is looked at.
func (m *Image) code(addr, size uint64) []byte {
	const most = 2 << 10
	off, ok := m.offset(addr)
	if !ok {
		return nil
	}
	b := make([]byte, max(16, min(size, most)))
	if _, err := m.content.ReadAt(b, int64(off)); err != nil && err != io.EOF {
		return nil
	}
	return b
}

// offset is where a link-time address of code lies in the file.
func (m *Image) offset(addr uint64) (uint64, bool) {
	for _, s := range m.segments {
		if s.Flags&elf.PF_X != 0 && addr >= s.Vaddr && addr-s.Vaddr < s.Filesz {
			return addr - s.Vaddr + s.Off, true
		}
	}
	return 0, false
}

// jumps looks for the functions that one goes on to by a jump, so that both are met at the same
// call: then the second counts alone. ok is false where it always does; realloc does for
// a block that there is not yet. stub names the function that a stub of the linker's goes to.
func (p *placed) jumps(all []placed, stub func(addr uint64) string) (kind Kind, ok bool) {
	kind = p.kind
	for at := 0; at < len(p.code); {
		ins, err := x86asm.Decode(p.code[at:], 64)
		if err != nil {
			break
		}
		at += ins.Len
		to, relative := ins.Args[0].(x86asm.Rel)
		if ins.Op != x86asm.JMP || !relative {
			continue
		}
		target := p.addr + uint64(at) + uint64(int64(to))
		name := stub(target)
		for i := range all {
			switch q := &all[i]; {
			case q.addr != target && q.name != name || q.addr == p.addr || q.kind == Free && p.kind != Free:
			case p.kind == Realloc && q.kind == Malloc:
				kind |= reallocJumps
			default:
				return 0, false
			}
		}
	}
	return kind, true
}

// slotOf is the slot that a stub of the linker's jumps through, 0 where an address is of none:
// jmp *x(%rip), after an endbr64 perhaps.
func (m *Image) slotOf(addr uint64) uint64 {
	code := m.code(addr, 16)
	for len(code) >= 6 && (bytes.HasPrefix(code, endbr64) || code[0] == 0xf2) {
		n := 1
		if code[0] == endbr64[0] {
			n = len(endbr64)
		}
		code, addr = code[n:], addr+uint64(n)
	}
	if len(code) < 6 || code[0] != 0xff || code[1] != 0x25 {
		return 0
	}
	return addr + 6 + uint64(int64(int32(binary.LittleEndian.Uint32(code[2:]))))
}

// slots are the names of an allocator's functions by the slot that the loader fills with their address.
func (m *Image) slots() map[uint64]string {
	names := map[uint64]string{}
	e, err := elffile.New(m.content)
	if err != nil {
		return names
	}
	symbols := dynamicSymbols(e)
	for slot, symbol := range filledSlots(e) {
		if symbol >= len(symbols) {
			continue
		}
		if _, ok := allocatorFunctions[symbols[symbol].Name]; ok {
			names[slot] = symbols[symbol].Name
		}
	}
	return names
}

// dynamicSymbols are a file's, none where they are more than any file needs.
func dynamicSymbols(e *elf.File) []elf.Symbol {
	s := e.SectionByType(elf.SHT_DYNSYM)
	if s == nil || s.Size > maxSymbolBytes || int(s.Link) >= len(e.Sections) || e.Sections[s.Link].Size > maxNames {
		return nil
	}
	symbols, err := e.DynamicSymbols()
	if err != nil {
		return nil
	}
	return symbols
}

// filledSlots are the slots that the loader fills with the address of a function, with the index of its symbol among the
// dynamic ones.
func filledSlots(e *elf.File) iter.Seq2[uint64, int] {
	const (
		most     = 1 << 20
		jumpSlot = 7 // R_X86_64_JUMP_SLOT
		globDat  = 6 // R_X86_64_GLOB_DAT
	)
	return func(yield func(uint64, int) bool) {
		for _, s := range e.Sections {
			if s.Type != elf.SHT_RELA || s.Size > most {
				continue
			}
			raw, err := s.Data()
			if err != nil {
				continue
			}
			for ; len(raw) >= 24; raw = raw[24:] {
				info := binary.LittleEndian.Uint64(raw[8:])
				kind, symbol := uint32(info), int(info>>32)
				if filled := kind == jumpSlot || kind == globDat; filled && symbol > 0 && !yield(binary.LittleEndian.Uint64(raw), symbol-1) {
					return
				}
			}
		}
	}
}

var endbr64 = []byte{0xf3, 0x0f, 0x1e, 0xfa}

// probePlace is the first instruction of a function that the kernel carries out by itself when it is
// replaced by a breakpoint, and that is always met with the arguments still in their
// registers and the return address on top of the stack. Where there is none, it is the
// function's first, over which the processor must be stepped.
func probePlace(code []byte, k Kind) (at int, emulated bool) {
	const most = 96 // bytes: jemalloc's free has its first branch at 48
	first := 0
	for at < min(most, len(code)) {
		if bytes.HasPrefix(code[at:], endbr64) {
			at += len(endbr64)
			first = at
			continue
		}
		if isEmulated(code[at:]) {
			return at, true
		}
		ins, err := x86asm.Decode(code[at:], 64)
		if err != nil || spoils(ins, k) {
			break
		}
		at += ins.Len
	}
	return first, false
}

// isEmulated says whether the kernel carries an instruction out by itself (arch/x86/kernel/uprobes.c,
// branch_setup_xol_ops and push_setup_xol_ops, since Linux 5.0).
func isEmulated(code []byte) bool {
	if len(code) < 2 {
		return false
	}
	switch b := code[0]; {
	case b >= 0x50 && b <= 0x57, b == 0x90, b == 0xe8, b == 0xe9, b == 0xeb, b >= 0x70 && b <= 0x7f:
		return true
	case b == 0x41:
		return code[1] >= 0x50 && code[1] <= 0x57
	case b == 0x0f:
		return code[1] >= 0x80 && code[1] <= 0x8f
	}
	return false
}

// keepsArguments are instructions that write to their first operand alone; those of isComparison to none.
var keepsArguments = map[x86asm.Op]bool{
	x86asm.MOV: true, x86asm.MOVZX: true, x86asm.MOVSXD: true, x86asm.LEA: true, x86asm.XOR: true, x86asm.AND: true, x86asm.OR: true,
	x86asm.ADD: true, x86asm.SUB: true, x86asm.SHR: true, x86asm.SHL: true, x86asm.SAR: true, x86asm.NEG: true, x86asm.NOT: true,
}

var isComparison = map[x86asm.Op]bool{x86asm.CMP: true, x86asm.TEST: true, x86asm.NOP: true}

// spoils says whether what follows an instruction may not find the arguments or the stack as they
// were.
func spoils(ins x86asm.Inst, k Kind) bool {
	if isComparison[ins.Op] {
		return false
	}
	if !keepsArguments[ins.Op] {
		return true
	}
	to, isRegister := ins.Args[0].(x86asm.Reg)
	if !isRegister {
		_, isMemory := ins.Args[0].(x86asm.Mem)
		return !isMemory
	}
	switch to = whole(to); {
	case to < x86asm.RAX || to > x86asm.R15: // a part of a register
		return true
	case to == x86asm.RSP, to == x86asm.RDI:
		return true
	case to == x86asm.RSI:
		return k != Malloc && k != Free
	}
	return to == x86asm.RDX && k == Memalign
}
