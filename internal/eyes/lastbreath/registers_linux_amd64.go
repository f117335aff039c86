package lastbreath

import "golang.org/x/sys/unix"

// registersOf reads the registers of a thread that stands.
func registersOf(tid int) Thread {
	var r unix.PtraceRegs
	if unix.PtraceGetRegs(tid, &r) != nil {
		return Thread{TID: tid}
	}
	return Thread{TID: tid, PC: r.Rip, SP: r.Rsp, Words: []uint64{
		r.Rax, r.Rbx, r.Rcx, r.Rdx, r.Rsi, r.Rdi, r.Rbp, r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15,
	}}
}
