package gomem

import (
	"cmp"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
)

// StackFrames counts the frames of the goroutines' stacks by what is known of them.
type StackFrames struct {
	Exact int // by the compiler's maps of which words are alive
	Whole int // every word counts: interrupted, running, assembly
}

// StackReader finds what of goroutines' stacks is alive.
type StackReader struct {
	r      *Runtime
	Walk   Walk
	maps   map[uint64]mapAt             // of frames, by pc
	Label  func(pc uint64) uint32       // of the function that a pc lies in
	Point  func(label uint32, p uint64) // takes what a word in a function's frame points to
	frames *StackFrames
	Buf    []byte // for a stack
}

// NewStackReader reads stacks that lie in mem, which may be a copy, and counts their frames. Label and Point
// have to be set.
func NewStackReader(r *Runtime, mem Memory, frames *StackFrames) *StackReader {
	w := Walk{code: &r.goroutines.code, mem: mem, threads: r.goroutines.threads, foreign: true}
	return &StackReader{r: r, Walk: w, maps: make(map[uint64]mapAt), frames: frames}
}

// liveStack finds what of a goroutine's stack is alive, as the collector does
// (runtime/mgcmark.go, scanstack): of each frame the words that the compiler calls
// alive where the function goes on, and the variables on the stack that pointers lead
// to. Of frames that have no such map all words count, and of a function that was
// interrupted between its calls.
type liveStack struct {
	in      *StackReader
	g       *Goroutine
	at      uint64 // of b
	b       []byte // the stack from there to its end
	objects []stackObject
	into    []uint64   // pointers into the stack
	out     []heldWord // pointers to elsewhere
	frames  []stackFrame
}

// heldWord is what a word of a stack points to, and the frame that it lies in: an index, outer frames come later.
type heldWord struct {
	frame int
	p     uint64
}

// stackFrame is one function's part of a stack.
type stackFrame struct {
	pc, sp, end uint64 // run-time; the return address is the last word where a call pushes it
	step        step
	label       uint32
}

// stackObject is a variable on the stack, and the index of its frame.
type stackObject struct {
	addr, end uint64
	frame     int
	seen      bool
}

// Stands says whether a goroutine's stack can be followed from what it has left: not of
// one that runs, nor while its stack moves, with some of its records there already.
func (g *Goroutine) Stands() bool {
	return g.Status != StatusRunning && g.Status != StatusCopying && g.SP >= g.Lo && g.SP < g.Hi && g.SP%8 == 0
}

// Live passes on what is alive of the stack of a goroutine that stands, or whose thread
// does, of which b is the bytes from its stack pointer on: outermost frame first, so that of what several lead to
// the one that returns last comes first. Of its registers what points
// to the stack is followed. It reports false for one that cannot be followed.
func (sr *StackReader) Live(g *Goroutine, b []byte, registers []uint64) bool {
	if uint64(len(b)) < g.Hi-g.SP {
		return false
	}
	b = b[:g.Hi-g.SP]
	frames, rest := sr.framesOf(g, b)
	if len(frames) == 0 {
		return false
	}
	l := &liveStack{in: sr, g: g, at: g.SP, b: b, frames: frames}
	l.records()
	for _, p := range registers {
		if p >= l.at && p < g.Hi {
			l.into = append(l.into, p)
		}
	}
	whole := g.exact // of an interrupted function, and because of what the frame below says
	for i := range frames {
		f := &frames[i]
		m, ok := sr.stackMap(f)
		switch {
		case whole || f.step.injected || !ok:
			l.words(f.sp, f.end, i)
			l.words(l.argsOf(f), l.argsOf(f)+uint64(m.ArgsSize), i)
			sr.frames.Whole++
		default:
			l.masked(i, &m)
			sr.frames.Exact++
		}
		whole = !ok || m.NoArgs || f.step.withoutMap(i == 0 && g.exact)
	}
	if rest < g.Hi {
		l.words(rest, g.Hi, len(frames)-1)
		sr.frames.Whole++
	}
	l.follow()
	slices.SortStableFunc(l.out, func(a, b heldWord) int { return cmp.Compare(b.frame, a.frame) })
	for _, w := range l.out {
		sr.Point(frames[w.frame].label, w.p)
	}
	return true
}

// framesOf are the frames of a goroutine, the wrappers that the compiler made too, and
// where they end. There are none of one that was interrupted where it changes stacks.
func (sr *StackReader) framesOf(g *Goroutine, b []byte) (all []stackFrame, rest uint64) {
	w := &sr.Walk
	w.stack = b
	defer func() { w.stack = nil }() // b is another's
	pc, sp, link := g.PC, g.SP, uint64(0)
	named := 0 // frames that have a label: a wrapper has that of its caller
	for range (g.Hi - g.SP) / 8 {
		s := w.code.step(pc)
		end := sp + uint64(w.code.size(s))
		if !s.ok || s.delta < 0 || end > g.Hi || s.switches && len(all) == 0 && g.exact {
			break
		}
		all = append(all, stackFrame{pc: pc, sp: sp, end: end, step: s, label: sr.Label(pc)})
		if !s.wrapper {
			for ; named < len(all); named++ {
				all[named].label = all[len(all)-1].label
			}
		}
		if s.top {
			return all, g.Hi
		}
		var ok bool
		if pc, sp, link, ok = w.caller(g, s, sp, link); !ok {
			return all, min(end, g.Hi)
		}
	}
	return all, min(sp, g.Hi)
}

// stackMap is that of a frame, ok false if it says too little.
func (sr *StackReader) stackMap(f *stackFrame) (m gobin.StackMap, ok bool) {
	if known, ok := sr.maps[f.pc]; ok {
		return known.m, known.ok
	}
	u := &sr.r.goroutines.code
	pc := f.pc - u.bias
	fn, ok := u.bin.FuncAt(pc)
	if ok {
		m, ok = fn.StackMap(pc)
	}
	// A function without locals need not say of them (runtime/stkframe.go).
	least := uint64(0)
	if u.links {
		least = 16 // goarch.StackAlign
	}
	if end := sr.localsEnd(f); ok && m.NoLocals && end > f.sp && end-f.sp > least {
		ok = false
	}
	sr.maps[f.pc] = mapAt{m, ok}
	return m, ok
}

// mapAt is a map that was looked up.
type mapAt struct {
	m  gobin.StackMap
	ok bool
}

// localsEnd is where the locals of a frame end: before the return address, where a
// call pushes it, and the saved frame pointer (runtime/traceback.go; on arm64, that
// lies below the frame, which is as if it lay at its end).
func (sr *StackReader) localsEnd(f *stackFrame) uint64 {
	end := f.end
	if !sr.r.goroutines.code.links {
		end -= 8
	}
	if end > f.sp {
		end -= 8
	}
	return end
}

// argsOf is where the arguments of a frame begin, in that of its caller.
func (l *liveStack) argsOf(f *stackFrame) uint64 {
	if l.in.r.goroutines.code.links {
		return f.end + 8 // goarch.MinFrameSize
	}
	return f.end
}

// masked adds the words of a frame that its map calls alive.
func (l *liveStack) masked(frame int, m *gobin.StackMap) {
	f := &l.frames[frame]
	end, args := l.in.localsEnd(f), l.argsOf(f)
	from := end - 8*uint64(m.Locals.Words)
	for i := range m.Locals.Words {
		if m.Locals.Has(i) {
			l.word(from+8*uint64(i), frame)
		}
	}
	for i := range m.Args.Words {
		if m.Args.Has(i) {
			l.word(args+8*uint64(i), frame)
		}
	}
	for _, o := range m.Objects {
		base := args
		if o.Offset < 0 {
			base = end
		}
		if addr := base + uint64(int64(o.Offset)); addr >= f.sp { // else it is not yet there
			l.objects = append(l.objects, stackObject{addr: addr, end: addr + uint64(o.Size), frame: frame})
		}
	}
}

// records adds what the goroutine's deferred calls and panics hold that lie on its
// stack. Those in the heap are found from its descriptor.
func (l *liveStack) records() {
	layout, err := l.in.r.bin.Layout()
	if err != nil {
		return
	}
	mem := l.in.Walk.mem
	field := func(base uint64, typ, name string) (addr uint64, ok bool) {
		off, ok := layout.Offset(typ, name)
		return base + off, ok
	}
	if at, ok := field(l.g.Addr, "runtime.g", "_panic"); ok {
		if p, err := mem.U64(at); err == nil && p != 0 {
			l.into = append(l.into, p)
		}
	}
	at, ok := field(l.g.Addr, "runtime.g", "_defer")
	for range maxDefers {
		d, err := mem.U64(at)
		if !ok || err != nil || d == 0 {
			return
		}
		fn, _ := field(d, "runtime._defer", "fn")
		at, ok = field(d, "runtime._defer", "link")
		if d >= l.at && d < l.g.Hi {
			l.word(fn, len(l.frames)-1)
			l.word(at, len(l.frames)-1)
		}
	}
}

// maxDefers bounds the deferred calls of a goroutine that are followed.
const maxDefers = 1 << 24

// word adds what the word at an address of the stack points to.
func (l *liveStack) word(addr uint64, frame int) {
	if addr < l.at || addr%8 != 0 || addr+8 > l.at+uint64(len(l.b)) {
		return
	}
	switch p := Word(l.b, addr-l.at); {
	case p == 0:
	case p >= l.at && p < l.g.Hi:
		l.into = append(l.into, p)
	default:
		l.out = append(l.out, heldWord{frame, p})
	}
}

func (l *liveStack) words(from, to uint64, frame int) {
	for to = min(to, l.g.Hi); from < to; from += 8 {
		l.word(from, frame)
	}
}

// follow adds the variables on the stack that pointers lead to.
func (l *liveStack) follow() {
	slices.SortFunc(l.objects, func(a, b stackObject) int { return cmp.Compare(a.addr, b.addr) })
	for len(l.into) > 0 {
		p := l.into[len(l.into)-1]
		l.into = l.into[:len(l.into)-1]
		i, ok := slices.BinarySearchFunc(l.objects, p, func(o stackObject, p uint64) int { return cmp.Compare(o.addr, p) })
		if !ok {
			i--
		}
		if i < 0 || p >= l.objects[i].end || l.objects[i].seen {
			continue
		}
		l.objects[i].seen = true
		l.words(l.objects[i].addr, l.objects[i].end, l.objects[i].frame)
	}
}
