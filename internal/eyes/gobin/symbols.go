package gobin

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// A hostile file may name any number of variables; Go's own runtime has about
// 320.
const maxSymbols = 1 << 14

// collectSymbols streams the raw symbol table and keeps what Symbol may be asked
// for: elf.File.Symbols would allocate every name of a program of 300,000.
func (b *Binary) collectSymbols() map[string]uint64 {
	found := make(map[string]uint64, 512)
	for rest := b.symtab; len(rest) >= elf.Sym64Size && len(found) < maxSymbols; rest = rest[elf.Sym64Size:] {
		if name, ok := b.wanted(rest); ok {
			found[name] = binary.LittleEndian.Uint64(rest[8:])
		}
	}
	b.file.release(b.symtab)
	b.file.release(b.strtab)
	return found
}

// wanted looks at one Elf64_Sym: name u32, info u8, other u8, shndx u16, value
// u64, size u64.
func (b *Binary) wanted(sym []byte) (name string, ok bool) {
	off := binary.LittleEndian.Uint32(sym)
	if binary.LittleEndian.Uint16(sym[6:]) == uint16(elf.SHN_UNDEF) || uint64(off) >= uint64(len(b.strtab)) {
		return "", false
	}
	str := b.strtab[off:]
	switch elf.ST_TYPE(sym[4]) {
	case elf.STT_OBJECT, elf.STT_NOTYPE:
		if !isRuntimeVariable(str) {
			return "", false
		}
	case elf.STT_FUNC:
		if !bytes.HasPrefix(str, []byte("runtime.text\x00")) && !bytes.HasPrefix(str, []byte("runtime.etext\x00")) {
			return "", false
		}
	default:
		return "", false
	}
	const maxName = 128
	end := bytes.IndexByte(str[:min(len(str), maxName)], 0)
	if end < 0 {
		return "", false
	}
	return string(str[:end]), true
}

// isRuntimeVariable leaves out the compiler's own data ("runtime..stmp_1").
func isRuntimeVariable(str []byte) bool {
	const prefix = "runtime."
	return len(str) > len(prefix) && string(str[:len(prefix)]) == prefix && str[len(prefix)] != '.'
}
