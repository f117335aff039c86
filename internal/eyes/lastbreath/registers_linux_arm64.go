package lastbreath

import "golang.org/x/sys/unix"

// registersOf reads the registers of a thread that stands.
func registersOf(tid int) Thread {
	var r unix.PtraceRegs
	if unix.PtraceGetRegs(tid, &r) != nil {
		return Thread{TID: tid}
	}
	return Thread{TID: tid, PC: r.Pc, SP: r.Sp, Words: r.Regs[:]}
}
