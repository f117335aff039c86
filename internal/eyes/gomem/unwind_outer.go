package gomem

import (
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
)

const (
	// outerBytes bounds what is read of a stack whose stack pointer is not known: its outermost part.
	outerBytes = 256 << 10
	// outerFrame bounds one frame of it.
	outerFrame = 64 << 10
	// outerWords bounds the search for frames on all stacks of a process: some 0.1 s.
	outerWords = 2 << 20
	// outerTop is where the outermost return address is looked for, from the end of the stack on
	// (runtime/proc.go, newproc1, leaves room for a few words above it).
	outerTop = 256
)

// EndedStack is what is known of the stack of a goroutine that ran when its process ended: its outermost frames,
// innermost first.
type EndedStack struct {
	PCs   []uint64
	Sizes []uint32 // of the frames, bytes
	Top   uint64   // where the outermost of them ends
	Leaf  uint64   // what the innermost called, 0: not known
}

// EndedStacks are those of the goroutines that ran their own code when the process ended, by the addresses of their
// descriptors, on amd64. It is held at its exit.
func (r *Runtime) EndedStacks(all []Goroutine) (map[uint64]EndedStack, error) {
	modules, err := r.LearnModules()
	if err != nil {
		return nil, err
	}
	w := Walk{code: &r.goroutines.code, mem: r.mem, threads: r.goroutines.threads, foreign: modules > 1, Ended: true}
	ended := make(map[uint64]EndedStack)
	for i := range all {
		g := &all[i]
		if _, known := w.Running(g); g.Status != StatusRunning || known {
			continue
		}
		w.PCs, w.Frames = w.PCs[:0], w.Frames[:0]
		if top, ok := w.outer(g); ok {
			ended[g.Addr] = EndedStack{slices.Clone(w.PCs), slices.Clone(w.Frames), top, w.target(w.PCs[0] + 1)}
		}
	}
	return ended, nil
}

// outer appends the outermost frames of a goroutine that ran when its process ended, so that its stack pointer is
// lost. A frame of Go has one size at each call (the pcsp table), so that below a return address the next one lies
// at a known distance, from runtime.goexit inwards. Where the code before a return address names the function
// that was called, the next frame must be of that one. What the innermost of these functions called last may have returned
// since: the stack keeps the address until something else is called. Top is the address where the outermost frame
// ends; ok is false where no frame was found.
func (w *Walk) outer(g *Goroutine) (top uint64, ok bool) {
	if w.code.links || w.foreign || g.Hi <= g.Lo {
		return 0, false // a function of arm64 keeps its return address elsewhere
	}
	size := min(g.Hi-g.Lo, outerBytes)
	low := g.Hi - size
	w.stack = slices.Grow(w.stack[:0], int(size))[:size]
	if w.mem.Read(low, w.stack) != nil {
		return 0, false
	}
	o := outerWalk{Walk: w, low: low, high: g.Hi}
	at, ok := o.exit()
	if !ok {
		return 0, false
	}
	top = at + 8
	from := len(w.PCs)
	w.PCs, w.Frames = append(w.PCs, o.word(at)), append(w.Frames, 8)
	for _, f := range o.chain(at, g.StartPC, 0) {
		if s := w.code.step(o.word(f.at)); s.wrapper {
			w.Frames[len(w.Frames)-1] += f.size // its caller's
		} else {
			w.PCs, w.Frames = append(w.PCs, o.word(f.at)), append(w.Frames, f.size)
		}
	}
	if len(w.PCs)-from < 2 {
		w.PCs, w.Frames = w.PCs[:from], w.Frames[:from]
		return 0, false
	}
	slices.Reverse(w.PCs[from:])
	slices.Reverse(w.Frames[from:])
	w.PCs[from]-- // of the innermost it is the call itself
	return top, true
}

// outerWalk is a stack as far as it was read, and what it is walked with.
type outerWalk struct {
	*Walk
	low, high uint64
}

// outerFound is a frame: where the return address lies that leads into its function, and the bytes from there to
// that of its caller.
type outerFound struct {
	at    uint64
	size  uint32
	entry uint64 // the function's first instruction, link-time
}

// chain is the frames below the one whose return address lies at a place, outermost first; called is the first
// instruction of what it called, 0: not known. Where a function calls through a register, frames of what it called
// before may still lie there: those that it calls by name are left out, and of the others the longest way is
// taken, since of what runs all frames are there.
func (o *outerWalk) chain(at, called uint64, depth int) []outerFound {
	if depth >= maxStackFrames || o.searched >= outerWords || o.ofRuntime(called, depth) {
		return nil
	}
	var best []outerFound
	found := o.callees(at, called)
	if called == 0 && len(found) > 1 {
		found = o.notNamed(found, at)
	}
	for _, f := range found {
		way := append([]outerFound{f}, o.chain(f.at, o.target(o.word(f.at)), depth+1)...)
		if len(way) > len(best) {
			best = way
		}
	}
	return best
}

func (o *outerWalk) word(addr uint64) uint64 { return Word(o.stack, addr-o.low) }

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

// callees are the frames that may lie below the one whose return address lies at a place: of the function that was
// called, where that is known, else of any but the runtime's, which program code does not call through a register.
// The runtime so calls main.main (runtime/proc.go, main).
func (o *outerWalk) callees(at, called uint64) (found []outerFound) {
	may := func(f *gobin.Func) bool { return f.Entry == called-o.code.bias }
	switch {
	case called != 0:
	case o.returnsTo(at, "runtime.main"):
		may = func(f *gobin.Func) bool { return f.Name() == "main.main" }
	default:
		may = func(f *gobin.Func) bool { return !strings.HasPrefix(f.Name(), "runtime.") }
	}
	for below := at - 8; below >= o.low && at-below <= outerFrame; below -= 8 {
		o.searched++
		f, ok := o.frame(below, at, may)
		if !ok {
			continue
		}
		if found = append(found, f); called != 0 {
			break
		}
	}
	return found
}

// frame is the frame whose return address lies at a place, if it ends where another's return address lies and is of a
// function that may be there.
func (o *outerWalk) frame(below, end uint64, may func(*gobin.Func) bool) (found outerFound, ok bool) {
	pc := o.word(below)
	if pc < o.code.bias {
		return found, false
	}
	last := pc - 1 - o.code.bias // a call may be the last of its function
	f, ok := o.code.bin.FuncAt(last)
	if !ok {
		return found, false
	}
	delta, ok := f.SPDelta(last)
	if !ok || uint64(delta)+8 != end-below || !may(&f) || !o.calls(pc) {
		return found, false
	}
	return outerFound{below, uint32(delta) + 8, f.Entry}, true
}

// maxCaller bounds how much of a function's code is looked through for calls.
const maxCaller = 32 << 10

// notNamed is those of some frames whose functions the caller, into which the return address at a place leads, does
// not call by name anywhere; all of them where it calls each.
func (o *outerWalk) notNamed(found []outerFound, at uint64) (others []outerFound) {
	caller, ok := o.code.bin.FuncAt(o.word(at) - 1 - o.code.bias)
	code := make([]byte, maxCaller)
	if !ok || o.mem.Read(caller.Entry+o.code.bias, code) != nil {
		return found
	}
	named := map[uint64]bool{}
	for i := 0; i+5 <= len(code); i++ {
		if code[i] != callNear {
			continue
		}
		to := caller.Entry + uint64(i) + 5 + uint64(int64(int32(Half(code, uint64(i+1)))))
		if !slices.ContainsFunc(found, func(f outerFound) bool { return f.entry == to }) {
			continue
		}
		if f, ok := o.code.bin.FuncAt(caller.Entry + uint64(i)); ok && f.Entry == caller.Entry {
			named[to] = true
		}
	}
	others = slices.DeleteFunc(slices.Clone(found), func(f outerFound) bool { return named[f.entry] })
	if len(others) == 0 {
		return found
	}
	return others
}

// returnsTo reports whether the return address at a place leads into a function.
func (o *outerWalk) returnsTo(at uint64, function string) bool {
	f, ok := o.code.bin.FuncAt(o.word(at) - 1 - o.code.bias)
	return ok && f.Name() == function
}

// Instructions of amd64 that call: a distance of 32 bits, or through a register or memory (opcode FF /2).
const (
	callNear     = 0xe8
	callIndirect = 0xff
)

// calls reports whether a call ends before pc.
func (o *outerWalk) calls(pc uint64) bool {
	var b [7]byte
	if o.mem.Read(pc-7, b[:]) != nil {
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
func (w *Walk) target(pc uint64) uint64 {
	var b [5]byte
	if w.mem.Read(pc-5, b[:]) != nil || b[0] != callNear {
		return 0
	}
	to := pc + uint64(int64(int32(Half(b[:], 1))))
	if f, ok := w.code.bin.FuncAt(to - w.code.bias); !ok || f.Entry != to-w.code.bias {
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
