package gobin

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// symbol is where the linker put a variable.
type symbol struct {
	addr, size uint64
}

// A hostile file may name any number of variables; Go's own runtime has about
// 320.
const maxSymbols = 1 << 14

// Symbol is the link-time address of a variable of package runtime
// ("runtime.mheap_") or of one of the linker's own marks: runtime.text,
// runtime.etext, runtime.pclntab, go:func.*. It knows no functions; FuncAt does.
func (b *Binary) Symbol(name string) (addr uint64, ok bool) {
	if b.supported != nil {
		return 0, false
	}
	s, ok := b.symbols[name]
	return s.addr, ok
}

// SymbolSize is the size of the variable in bytes, 0 for the linker's marks.
func (b *Binary) SymbolSize(name string) (size uint64, ok bool) {
	if b.supported != nil {
		return 0, false
	}
	s, ok := b.symbols[name]
	return s.size, ok
}

// collectSymbols streams the raw symbol table and keeps what Symbol may be asked
// for: elf.File.Symbols would allocate every name of a program of 300,000.
func (b *Binary) collectSymbols() map[string]symbol {
	found := make(map[string]symbol, 512)
	for rest := b.symtab; len(rest) >= elf.Sym64Size && len(found) < maxSymbols; rest = rest[elf.Sym64Size:] {
		if name, ok := b.wanted(rest); ok {
			found[name] = symbol{
				addr: binary.LittleEndian.Uint64(rest[8:]),
				size: binary.LittleEndian.Uint64(rest[16:]),
			}
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
		if !isRuntimeVariable(str) && !bytes.HasPrefix(str, []byte("go:func.*\x00")) {
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
