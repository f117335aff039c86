package gomem

import (
	"slices"
	"strings"
)

const (
	// outerBytes bounds what is read of a stack whose stack pointer is not known: its outermost part.
	outerBytes = 256 << 10
	// outerFrame bounds one frame of it.
	outerFrame = 64 << 10
	// outerTop is where the outermost return address is looked for, from the end of the stack on
	// (runtime/proc.go, newproc1, leaves room for a few words above it).
	outerTop = 256
)

// outer appends the outermost frames of a goroutine that ran when its process ended, so that its stack pointer is
// lost. A frame of Go has one size at each call (the pcsp table), so that below a return address the next one lies
// at a known distance, from runtime.goexit inwards. Where the code before a return address names the function
// that was called, the next frame must be of that one. What the innermost of these functions called last may have returned
// since: the stack keeps the address until something else is called. It reports whether any was found.
func (w *walk) outer(g *goroutine) bool {
	if w.code.links || w.foreign || g.hi <= g.lo {
		return false // a function of arm64 keeps its return address elsewhere
	}
	size := min(g.hi-g.lo, outerBytes)
	low := g.hi - size
	w.stack = slices.Grow(w.stack[:0], int(size))[:size]
	if w.mem.read(low, w.stack) != nil {
		return false
	}
	o := outerWalk{walk: w, low: low, high: g.hi}
	at, ok := o.exit()
	if !ok {
		return false
	}
	from := len(w.pcs)
	w.pcs, w.frames = append(w.pcs, o.word(at)), append(w.frames, 8)
	called := g.startpc
	for n := 0; n < maxStackFrames && !o.ofRuntime(called, n); n++ {
		below, size, ok := o.callee(at, called)
		if !ok {
			break
		}
		at, called = below, o.target(o.word(below))
		if s := w.code.step(o.word(below)); !s.wrapper {
			w.pcs, w.frames = append(w.pcs, o.word(below)), append(w.frames, size)
		}
	}
	if len(w.pcs)-from < 2 {
		w.pcs, w.frames = w.pcs[:from], w.frames[:from]
		return false
	}
	slices.Reverse(w.pcs[from:])
	slices.Reverse(w.frames[from:])
	w.pcs[from]-- // of the innermost it is the call itself
	return true
}

// outerWalk is a stack as far as it was read, and what it is walked with.
type outerWalk struct {
	*walk
	low, high uint64
}

func (o *outerWalk) word(addr uint64) uint64 { return word(o.stack, addr-o.low) }

// exit is where the return address into runtime.goexit lies, the outermost of a goroutine's stack.
func (o *outerWalk) exit() (at uint64, ok bool) {
	for at = o.high - 8; at >= o.low && at+outerTop >= o.high; at -= 8 {
		pc := o.word(at)
		if f, ok := o.code.bin.FuncAt(pc - o.code.bias); ok && f.TopFrame && f.Name() == "runtime.goexit" {
			return at, true
		}
	}
	return 0, false
}

// callee is where the function whose return address lies at one place keeps the return address of what it called;
// called is its first instruction, 0: not known. Size is what its frame takes.
func (o *outerWalk) callee(at, called uint64) (below uint64, size uint32, ok bool) {
	for below = at - 8; below >= o.low && at-below <= outerFrame; below -= 8 {
		pc := o.word(below)
		if pc < o.code.bias {
			continue
		}
		f, ok := o.code.bin.FuncAt(pc - 1 - o.code.bias) // a call may be the last of its function
		if !ok || called != 0 && f.Entry != called-o.code.bias {
			continue
		}
		if delta, ok := f.SPDelta(pc - 1 - o.code.bias); ok && uint64(delta)+8 == at-below && o.calls(pc) {
			return below, uint32(delta) + 8, true
		}
	}
	return 0, 0, false
}

// Instructions of amd64 that call: a distance of 32 bits, or through a register or memory (opcode FF /2).
const (
	callNear     = 0xe8
	callIndirect = 0xff
)

// calls reports whether a call ends before pc.
func (o *outerWalk) calls(pc uint64) bool {
	var b [7]byte
	if o.mem.read(pc-7, b[:]) != nil {
		return false
	}
	if b[2] == callNear {
		return true
	}
	for _, n := range []int{2, 3, 4, 6, 7} { // lengths of an indirect call, without and with a prefix and an offset
		if b[7-n] == callIndirect && b[7-n+1]>>3&7 == 2 {
			return true
		}
	}
	return false
}

// target is the first instruction of the function that the call before pc names, 0: the code does not say.
func (o *outerWalk) target(pc uint64) uint64 {
	var b [5]byte
	if o.mem.read(pc-5, b[:]) != nil || b[0] != callNear {
		return 0
	}
	to := pc + uint64(int64(int32(half(b[:], 1))))
	if f, ok := o.code.bin.FuncAt(to - o.code.bias); !ok || f.Entry != to-o.code.bias {
		return 0
	}
	return to
}

// ofRuntime reports whether the next function is the runtime's: what it calls in turn is of no interest. A
// goroutine's first function may be, as runtime.main is.
func (o *outerWalk) ofRuntime(called uint64, n int) bool {
	if n == 0 || called == 0 {
		return false
	}
	f, ok := o.code.bin.FuncAt(called - o.code.bias)
	return ok && strings.HasPrefix(f.Name(), "runtime.")
}
