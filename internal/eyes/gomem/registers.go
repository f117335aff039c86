package gomem

// Registers are the program counter and the stack pointer of a thread that
// stands still; ok is false if they are not known.
type Registers func(tid int) (pc, sp uint64, ok bool)

// threadPlaces are offsets within a runtime.m.
type threadPlaces struct{ procid, g0, vdsoSP, vdsoPC, stackLo, stackHi uint64 }

func (t *threadPlaces) attach(find *Resolver) {
	m := func(field string) uint64 { return find.Offset("m", field) }
	g := func(field string) uint64 { return find.Offset("g", field) }
	*t = threadPlaces{
		procid: m("procid"), g0: m("g0"), vdsoSP: m("vdsoSP"), vdsoPC: m("vdsoPC"),
		stackLo: g("stack.lo"), stackHi: g("stack.hi"),
	}
}

// Running is a running goroutine with the place that its thread's registers say:
// on its own stack they are the place. On the thread's stack it is where the
// goroutine left its own: in a call of the vDSO m.vdsoSP and vdsoPC
// (runtime/time_linux_amd64.s), in the runtime's own work g.sched
// (runtime/asm_amd64.s, systemstack). ok is false in a signal handler and in C.
func (w *Walk) Running(g *Goroutine) (at Goroutine, ok bool) {
	if w.Ended {
		return *g, g.On(g.SP)
	}
	if w.Registers == nil || g.M == 0 {
		return *g, false
	}
	at = *g
	tid, err := w.mem.U64(g.M + w.threads.procid)
	if err != nil || tid > 1<<31 {
		return at, false
	}
	pc, sp, ok := w.Registers(int(tid))
	if !ok {
		return at, false
	}
	if at.On(sp) {
		at.PC, at.SP, at.exact = pc, sp, true
		return at, true
	}
	if sp, err := w.mem.U64(g.M + w.threads.vdsoSP); err == nil && at.On(sp) {
		at.SP = sp
		at.PC, err = w.mem.U64(g.M + w.threads.vdsoPC)
		return at, err == nil
	}
	// With g.sched, which decode has read.
	return at, at.On(at.SP) && w.OnThreadStack(g.M, sp) && !w.code.sanitized
}

// Thread is the number that the kernel gave a running goroutine's thread, in its own container; 0: not known.
func (w *Walk) Thread(g *Goroutine) uint64 {
	number, _ := w.mem.U64(g.M + w.threads.procid)
	return number
}

// On says whether sp lies on the goroutine's stack.
func (g *Goroutine) On(sp uint64) bool { return sp >= g.Lo && sp < g.Hi && sp%8 == 0 }

// OnThreadStack says whether sp lies on the stack of m.g0.
func (w *Walk) OnThreadStack(m, sp uint64) bool {
	g0, err := w.mem.U64(m + w.threads.g0)
	if err != nil {
		return false
	}
	lo, errLo := w.mem.U64(g0 + w.threads.stackLo)
	hi, errHi := w.mem.U64(g0 + w.threads.stackHi)
	return errLo == nil && errHi == nil && sp >= lo && sp < hi
}
