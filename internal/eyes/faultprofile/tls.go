package faultprofile

import (
	"errors"

	"golang.org/x/arch/x86/x86asm"
)

// ErrNoTLS is why the stacks of a program cannot be found: its own code does not show where a
// thread's g is.
var ErrNoTLS = errors.New("its runtime.asmcgocall does not show where a thread keeps its g")

// TLSOffset is where a thread's g lies from the beginning of its TLS, as the code of
// runtime.asmcgocall reads it, which begins at pc. It depends on the linker: -8 in most
// programs, and somewhere else in one that is linked statically with a C library. There are
// three forms (cmd/internal/obj/x86/obj6.go; the last is how ld rewrites the second):
//
//	mov %fs:-8, r              the offset itself
//	mov x(%rip), r; %fs:(r)    the offset lies in a slot that the loader fills
//	mov $-8, r; %fs:(r)        the same, known when it was linked
//
// word reads eight bytes of the program's memory, at an address that is as far from pc as the
// slot is from the code.
func TLSOffset(code []byte, pc uint64, word func(addr uint64) (uint64, error)) (int64, error) {
	const most = 48 // instructions; it is among the first ten
	held := map[x86asm.Reg]int64{}
	for range most {
		ins, err := x86asm.Decode(code, 64)
		if err != nil {
			return 0, ErrNoTLS
		}
		next := pc + uint64(ins.Len)
		if at, ok := ins.Args[1].(x86asm.Mem); ok && ins.Op == x86asm.MOV && at.Segment == x86asm.FS {
			return offsetOf(at, held)
		}
		if err := hold(held, ins, next, word); err != nil {
			return 0, err
		}
		code, pc = code[ins.Len:], next
	}
	return 0, ErrNoTLS
}

// offsetOf is the offset that a read within the TLS has.
func offsetOf(at x86asm.Mem, held map[x86asm.Reg]int64) (int64, error) {
	if at.Index != 0 {
		return 0, ErrNoTLS
	}
	base, known := held[at.Base]
	if at.Base != 0 && !known {
		return 0, ErrNoTLS
	}
	// Far from the TLS it is no offset: a thread has some hundred bytes, a library its own.
	const far = 1 << 24
	if off := base + int64(int32(at.Disp)); off > -far && off < far {
		return off, nil
	}
	return 0, ErrNoTLS
}

// hold notes what an instruction leaves in a register, where that is a constant or one of the loader's.
func hold(held map[x86asm.Reg]int64, ins x86asm.Inst, next uint64, word func(uint64) (uint64, error)) error {
	to, ok := ins.Args[0].(x86asm.Reg)
	if !ok {
		return nil
	}
	delete(held, whole(to))
	if ins.Op != x86asm.MOV {
		return nil
	}
	switch from := ins.Args[1].(type) {
	case x86asm.Imm:
		held[whole(to)] = int64(int32(from))
	case x86asm.Mem:
		if from.Base != x86asm.RIP {
			return nil
		}
		v, err := word(next + uint64(int64(int32(from.Disp))))
		if err != nil {
			return err
		}
		held[whole(to)] = int64(v)
	}
	return nil
}

// whole is the register of 64 bits that one of 32 is the lower half of.
func whole(r x86asm.Reg) x86asm.Reg {
	if r >= x86asm.EAX && r <= x86asm.R15L {
		return r - x86asm.EAX + x86asm.RAX
	}
	return r
}
