package gomem

import (
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
)

const (
	// maxStackFrames bounds one goroutine's stack in a group, as a traceback's
	// own limit does (runtime/traceback.go: 100; profiles: 128).
	maxStackFrames = 128
	// stackPiece is how much of a stack is read at first: parked goroutines use
	// less as a rule.
	stackPiece = 2 << 10
	// fingRunning is the bit of runtime.fingStatus that says that a finalizer of
	// the program runs (runtime/mfinal.go, fingRunningFinalizer).
	fingRunning = 1 << 1
)

// unwinder walks stacks by the pcsp tables of the executable, as
// runtime/traceback.go does: no frame pointers, no DWARF.
type unwinder struct {
	bin  *gobin.Binary
	bias uint64
	// links means that a call puts the return address in a register, as on arm64, and the function that is called keeps
	// it at the bottom of its frame. Else a call pushes it, so that it lies above the frame.
	links bool
	// sanitized means that calls of a sanitizer go to the thread's own stack, and nothing says where they came from
	// (runtime/race_amd64.s, racecall).
	sanitized bool
	// Steps by run-time pc; a program has few at which goroutines stand.
	steps map[uint64]step
	owns  map[uint64]bool // by startpc: one of the runtime's own goroutines
}

// step is how to get from a pc to its caller.
type step struct {
	ok       bool
	top      bool // the outermost frame
	injected bool // the caller did not call it: it was interrupted there
	wrapper  bool // made by the compiler, and nothing else: tracebacks hide it
	entry    bool // the pc is the function's first instruction
	switches bool // the function sets the stack pointer by itself: nothing is known inside it
	mapless  bool // it is called where the compiler says nothing of what is alive
	assembly bool
	delta    int32 // frame size at this pc
}

// withoutMap says that the compiler says nothing of what is alive where this was called: calls of write barriers,
// of the assembly that zeroes and copies, and those that the caller did not make have no maps.
func (s *step) withoutMap(interrupted bool) bool {
	return s.injected || s.mapless || s.assembly && interrupted
}

// size is what a frame takes of the stack, its return address included.
func (u *unwinder) size(s step) uint32 {
	size := uint32(max(s.delta, 0))
	if u.links {
		return size
	}
	return size + 8
}

// maxSteps bounds the cache of steps.
const maxSteps = 1 << 20

func newUnwinder(bin *gobin.Binary, bias uint64) unwinder {
	u := unwinder{bin: bin, bias: bias, links: bin.Arch == "arm64", steps: make(map[uint64]step), owns: make(map[uint64]bool)}
	for _, s := range []string{"-race", "-msan", "-asan"} {
		u.sanitized = u.sanitized || bin.Settings[s] == "true"
	}
	return u
}

// forget drops what was looked up when fewer functions were known.
func (u *unwinder) forget() {
	clear(u.steps)
	clear(u.owns)
}

// step looks up a run-time pc.
func (u *unwinder) step(pc uint64) step {
	if s, ok := u.steps[pc]; ok {
		return s
	}
	s := u.lookUp(pc - u.bias)
	if len(u.steps) < maxSteps {
		u.steps[pc] = s
	}
	return s
}

func (u *unwinder) lookUp(pc uint64) step {
	f, ok := u.bin.FuncAt(pc)
	if !ok {
		return step{}
	}
	s := step{ok: true, top: f.TopFrame, entry: pc == f.Entry, switches: f.SPWrite, assembly: f.Assembly}
	switch f.Name() {
	case "runtime.asyncPreempt", "runtime.sigpanic", "runtime.debugCallV2": // runtime/traceback.go, isInjectedCall
		s.injected = true
	case "runtime.wbZero", "runtime.wbMove", // cmd/compile/internal/liveness/plive.go, hasStackMap
		"runtime.typedmemclr", "runtime.typedmemmove": // to Go 1.20
		s.mapless = true
	}
	if f.Wrapper { // which may have the function that it wraps inlined into it
		calls := u.bin.Frames(nil, pc-1)
		s.wrapper = len(calls) == 1 && calls[0].Wrapper
	}
	delta, ok := f.SPDelta(pc)
	s.delta, s.top = delta, s.top || !ok
	return s
}

// system says whether the runtime/pprof goroutine profile leaves g out: it was
// started by the runtime and runs none of the program's code
// (runtime/traceback.go, isSystemGoroutine).
func (u *unwinder) system(g *Goroutine, finalizing bool) bool {
	own, ok := u.owns[g.StartPC]
	if ok {
		return own
	}
	f, _ := u.bin.FuncAt(g.StartPC - u.bias)
	switch f.Name() {
	case "runtime.runfinq", "runtime.runFinalizers": // to Go 1.24; since
		return !finalizing
	case "runtime.runCleanups": // since Go 1.25
		return !g.cleaning
	case "runtime.main", "runtime.corostart", "runtime.handleAsyncEvent":
	default:
		own = strings.HasPrefix(f.Name(), "runtime.")
	}
	u.owns[g.StartPC] = own
	return own
}

// Walk unwinds one goroutine after the other through one buffer.
type Walk struct {
	code   *unwinder
	mem    Memory
	begin  []byte // of the next goroutine's stack from sp on, as far as it was read
	stack  []byte // the bytes from sp on
	PCs    []uint64
	Frames []uint32 // bytes of each pc's frame

	Registers Registers // nil: running goroutines get no stack
	Ended     bool      // nothing of the process runs any more
	threads   threadPlaces
	searched  int  // words of stacks, for frames (unwind_outer.go)
	foreign   bool // there are functions that code does not know
}

// Unwind appends the goroutine's program counters to w.pcs. A running
// goroutine's saved registers are stale: it gets nothing, as does whatever cannot be followed to an end. One whose
// stack is being moved has left its place in g.sched (runtime/asm_amd64.s, morestack), which goes with g.stack
// from the old one to the new (runtime/stack.go, copystack): that holds where the process stands still.
func (w *Walk) Unwind(g *Goroutine) {
	switch g.Status {
	case StatusRunnable, StatusSyscall, StatusWaiting, StatusPreempted, StatusLeaked:
	case StatusCopying:
		if !w.Ended && w.Registers == nil {
			return // what was its stack may be another's by the time that it is read
		}
	case StatusRunning:
		at, ok := w.Running(g)
		if !ok {
			if w.Ended {
				w.outer(g)
			}
			return
		}
		g = &at
	default:
		return
	}
	if g.SP < g.Lo || g.SP >= g.Hi || g.SP%8 != 0 {
		return
	}
	from := len(w.PCs)
	w.stack = append(w.stack[:0], w.begin...)
	if !w.follow(g) {
		w.PCs, w.Frames = w.PCs[:from], w.Frames[:from]
	}
}

// follow walks the frames; it reports false where the stack makes no sense.
func (w *Walk) follow(g *Goroutine) bool {
	pc, sp, link := g.PC, g.SP, uint64(0)
	interrupted := g.exact
	first := true
	hidden := uint32(0) // bytes of wrappers below
	for n := 0; n < maxStackFrames; {
		s := w.code.step(pc)
		if !s.ok {
			if w.foreign {
				w.PCs, w.Frames = append(w.PCs, shown(pc, first, interrupted)), append(w.Frames, 0)
				return true
			}
			return !first
		}
		if !s.wrapper {
			w.PCs = append(w.PCs, shown(pc, first, interrupted || s.entry))
			w.Frames = append(w.Frames, w.code.size(s)+hidden)
			first, hidden = false, 0
			n++
		} else {
			hidden += w.code.size(s)
		}
		if s.top || s.delta < 0 {
			return true
		}
		var ok bool
		if pc, sp, link, ok = w.caller(g, s, sp, link); !ok {
			return !first
		}
		interrupted = s.injected
	}
	return true
}

// caller is where a frame returns to, and the stack pointer and the link register
// there, 0 where that is not known: a function of arm64 has no frame before it has
// saved the register, and a leaf never has.
func (w *Walk) caller(g *Goroutine, s step, sp, link uint64) (pc, at, saved uint64, ok bool) {
	at = sp + uint64(s.delta)
	switch {
	case !w.code.links:
		pc, ok = w.word(g, at)
		at += 8
	case s.delta == 0:
		pc, ok = link, true
	default:
		pc, ok = w.word(g, sp)
	}
	if !ok || pc == 0 || !w.code.links || !s.injected {
		return pc, at, 0, ok && pc != 0
	}
	// Before the call the signal handler has put the register on the stack, which it
	// keeps aligned to 16 bytes (runtime/signal_arm64.go, preparePanic).
	saved, ok = w.word(g, at)
	return pc, at + 16, saved, ok
}

// shown is how a pc stands in a group's stack. All saved pcs but those of
// interrupted frames are return addresses, also the innermost, which returns
// from the call that parked the goroutine.
func shown(pc uint64, first, exact bool) uint64 {
	switch {
	case first && !exact:
		return pc - 1
	case !first && exact:
		return pc + 1
	}
	return pc
}

// word is the word at addr of the goroutine's stack.
func (w *Walk) word(g *Goroutine, addr uint64) (uint64, bool) {
	if addr < g.SP || addr+8 > g.Hi || addr+8 < addr {
		return 0, false
	}
	for end := addr - g.SP + 8; uint64(len(w.stack)) < end; {
		have := uint64(len(w.stack))
		piece := min(max(stackPiece, have), g.Hi-g.SP-have)
		w.stack = slices.Grow(w.stack, int(piece))[:have+piece]
		if w.mem.Read(g.SP+have, w.stack[have:]) != nil {
			w.stack = w.stack[:have]
			return 0, false
		}
	}
	return Word(w.stack, addr-g.SP), true
}
