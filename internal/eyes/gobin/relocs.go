package gobin

import (
	"debug/elf"
	"encoding/binary"
)

// relaSize is one Elf64_Rela: offset u64, info u64, addend i64.
const relaSize = 24

// readRelocations finds what a position-independent file asks the loader to fill
// in. Its pointers are there only: in the words themselves Go's linker and GNU's
// leave zero. Files with packed relocations (DT_RELR) keep them in the words.
func (b *Binary) readRelocations(f *elf.File) {
	for _, p := range f.Progs {
		if p.Type != elf.PT_DYNAMIC {
			continue
		}
		var addr, size uint64
		dyn := b.slice(p.Off, min(p.Filesz, maxDynamic))
		for ; len(dyn) >= 16; dyn = dyn[16:] {
			value := binary.LittleEndian.Uint64(dyn[8:])
			switch elf.DynTag(binary.LittleEndian.Uint64(dyn)) {
			case elf.DT_RELA:
				addr = value
			case elf.DT_RELASZ:
				size = value
			}
		}
		rela := b.at(addr)
		b.rela = rela[:min(size, uint64(len(rela)))]
	}
}

// eachPointer visits the pointers that the loader fills in: where they lie, and
// their link-time value. It stops when visit returns false.
func (b *Binary) eachPointer(visit func(addr, value uint64) bool) {
	for r := b.rela; len(r) >= relaSize; r = r[relaSize:] {
		switch uint32(r[8]) | uint32(r[9])<<8 | uint32(r[10])<<16 | uint32(r[11])<<24 {
		case uint32(elf.R_X86_64_RELATIVE), uint32(elf.R_AARCH64_RELATIVE):
			if !visit(binary.LittleEndian.Uint64(r), binary.LittleEndian.Uint64(r[16:])) {
				return
			}
		}
	}
}

// loaded is a copy of n bytes at a link-time address with relocations applied, nil
// if the file does not have them.
func (b *Binary) loaded(addr, n uint64) []byte {
	data := b.at(addr)
	if n > uint64(len(data)) {
		return nil
	}
	data = append([]byte(nil), data[:n]...)
	b.eachPointer(func(at, value uint64) bool {
		if at >= addr && at-addr <= n-8 {
			binary.LittleEndian.PutUint64(data[at-addr:], value)
		}
		return true
	})
	return data
}
