package gomem

// Registers are the program counter and the stack pointer of a thread that
// stands still; ok is false if they are not known.
type Registers func(tid int) (pc, sp uint64, ok bool)

// threadPlaces are offsets within a runtime.m.
type threadPlaces struct{ procid, g0, vdsoSP, vdsoPC, stackLo, stackHi uint64 }

func (t *threadPlaces) attach(find *resolver) {
	m := func(field string) uint64 { return find.offset("m", field) }
	g := func(field string) uint64 { return find.offset("g", field) }
	*t = threadPlaces{
		procid: m("procid"), g0: m("g0"), vdsoSP: m("vdsoSP"), vdsoPC: m("vdsoPC"),
		stackLo: g("stack.lo"), stackHi: g("stack.hi"),
	}
}

// running is a running goroutine with the place that its thread's registers say:
// on its own stack they are the place. On the thread's stack it is where the
// goroutine left its own: in a call of the vDSO m.vdsoSP and vdsoPC
// (runtime/time_linux_amd64.s), in the runtime's own work g.sched
// (runtime/asm_amd64.s, systemstack). ok is false in a signal handler and in C.
func (w *walk) running(g *goroutine) (at goroutine, ok bool) {
	if w.ended {
		return *g, g.on(g.sp)
	}
	if w.registers == nil || g.m == 0 {
		return *g, false
	}
	at = *g
	tid, err := w.mem.u64(g.m + w.threads.procid)
	if err != nil || tid > 1<<31 {
		return at, false
	}
	pc, sp, ok := w.registers(int(tid))
	if !ok {
		return at, false
	}
	if at.on(sp) {
		at.pc, at.sp, at.exact = pc, sp, true
		return at, true
	}
	if sp, err := w.mem.u64(g.m + w.threads.vdsoSP); err == nil && at.on(sp) {
		at.sp = sp
		at.pc, err = w.mem.u64(g.m + w.threads.vdsoPC)
		return at, err == nil
	}
	// With g.sched, which decode has read.
	return at, at.on(at.sp) && w.onThreadStack(g.m, sp) && !w.code.sanitized
}

// thread is the number that the kernel gave a running goroutine's thread, in its own container; 0: not known.
func (w *walk) thread(g *goroutine) uint64 {
	number, _ := w.mem.u64(g.m + w.threads.procid)
	return number
}

// on says whether sp lies on the goroutine's stack.
func (g *goroutine) on(sp uint64) bool { return sp >= g.lo && sp < g.hi && sp%8 == 0 }

// onThreadStack says whether sp lies on the stack of m.g0.
func (w *walk) onThreadStack(m, sp uint64) bool {
	g0, err := w.mem.u64(m + w.threads.g0)
	if err != nil {
		return false
	}
	lo, errLo := w.mem.u64(g0 + w.threads.stackLo)
	hi, errHi := w.mem.u64(g0 + w.threads.stackHi)
	return errLo == nil && errHi == nil && sp >= lo && sp < hi
}
