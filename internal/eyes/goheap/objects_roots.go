package goheap

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// RootKind is why objects live that no other object points to.
type RootKind uint8

// The roots.
const (
	RootVariable  RootKind = iota + 1 // a variable of the program or a library
	RootGoroutine                     // a goroutine and its stack
	RootFinalizer                     // a finalizer or cleanup, or what it needs
)

// Root is one of the places from which the collector starts.
type Root struct {
	Kind RootKind
	// Name is a variable's, or that of the function that a goroutine runs; of a
	// variable without a name its address in the executable.
	Name string
	typ  int32
	addr uint64  // of a variable
	Pool *PoolIn // of a sync.Pool that is not a variable of its own

	// Of a goroutine:
	ID      uint64                    // goid; 1 is main's
	Creator string                    // the function with its go statement, "" of main's
	Waits   sample.Opt[time.Duration] // at least for so long; absent: it does not wait, or no collection has seen it wait
}

// Thread is what the registers of a thread held.
type Thread struct {
	TID    int
	PC, SP uint64
	Words  []uint64 // all of them
}

// rooter adds the roots behind the objects.
type rooter struct {
	o         *Objects
	c         *heapCopy
	types     *Types
	variables []gobin.Variable // by address
	threads   []Thread
	own       []uint64 // see ownRoots
	ps        uint32   // the list of Ps
	frames    map[string]uint32
	creators  map[uint64]string // functions by pc
	statics   []static          // by address
	pools     pools
	ofPools   []poolWord // in the order of their addresses
}

// add begins a root; its pointers follow.
func (ro *rooter) add(r Root) {
	o := ro.o
	ro.end()
	o.Roots = append(o.Roots, r)
}

// end closes the last root.
func (ro *rooter) end() {
	if o := ro.o; len(o.First) < o.Count-o.Leaves+1+len(o.Roots) {
		o.First = append(o.First, uint32(len(o.To)))
	}
}

// later begins another class of roots.
func (ro *rooter) later() {
	ro.end()
	ro.o.Later = append(ro.o.Later, uint32(ro.o.Count+len(ro.o.Roots)))
}

func (ro *rooter) point(slot uint32, p uint64) {
	id, ok := ro.o.At(p)
	if !ok {
		id, ok = ro.o.standInAt(p)
	}
	if ok && ro.own[id/64]>>(id%64)&1 == 0 {
		ro.lead(slot, id)
	}
}

func (ro *rooter) lead(slot, to uint32) {
	ro.o.To = append(ro.o.To, to)
	ro.o.slot = append(ro.o.slot, 0)
	ro.o.setSlot(uint32(len(ro.o.slot)-1), slot)
}

// roots adds all of them.
func (ro *rooter) roots() error {
	ro.frames, ro.creators = make(map[string]uint32), make(map[uint64]string)
	ro.known()
	ro.findStatics()
	for i := range ro.c.modules {
		for _, v := range ro.c.modules[i].variables {
			if err := ro.masked(v.Start, v.End, v.Mask); err != nil {
				return err
			}
		}
	}
	ro.later()
	ro.goroutines()
	ro.later()
	ro.addPools()
	ro.later()
	ro.timers()
	ro.later()
	ro.finalizers()
	ro.end()
	ro.nameUsers()
	if len(ro.o.To) > maxGraph {
		return errHeapTooLarge
	}
	return nil
}

// masked adds the variables of a module's data or bss. Its pointer mask has a bit a
// word (runtime.bitvector).
func (ro *rooter) masked(start, end, mask uint64) error {
	b := ro.c.at(start)
	if uint64(len(b)) < end-start {
		return nil
	}
	bits := make([]byte, ((end-start)/8+7)/8)
	if n, err := ro.c.ReadAt(bits, int64(mask)); n < len(bits) {
		return fmt.Errorf("the pointer mask at %#x: %w", mask, err)
	}
	var in *gobin.Variable
	var root Root
	for k := range (end - start) / 8 {
		if bits[k/8]>>(k%8)&1 == 0 {
			continue
		}
		addr := start + 8*k
		if addr == ro.c.marker.allp {
			continue // see timers
		}
		if in == nil || addr-ro.c.bias-in.Addr >= in.Size {
			in = ro.variable(addr - ro.c.bias)
			typ := ro.typeOf(in)
			if s := ro.staticAt(addr); s != nil && in.Name == nameless(in.Addr) {
				in, typ = &gobin.Variable{Name: s.of.Name, Addr: s.addr - ro.c.bias, Size: s.size}, s.typ
			}
			root = Root{Kind: RootVariable, Name: in.Name, typ: typ, addr: in.Addr + ro.c.bias}
			ro.add(root)
		}
		if slot := uint32((addr - ro.c.bias - in.Addr) / 8); ro.pools.words[addr] {
			ro.ofPools = append(ro.ofPools, poolWord{root, slot, gomem.Word(b, 8*k)})
		} else {
			ro.point(slot, gomem.Word(b, 8*k))
		}
	}
	return nil
}

// timers adds the runtime's Ps, which have the timers. A server that a goroutine runs is
// held by that one, though a timer will call it, too.
func (ro *rooter) timers() {
	addr := ro.c.marker.allp
	v := ro.variable(addr - ro.c.bias)
	ro.add(Root{Kind: RootVariable, Name: v.Name, typ: ro.typeOf(v), addr: addr})
	if ro.ps != noPs {
		ro.lead(0, ro.ps)
	}
}

// typeOf is a variable's type, 0 if it is not known.
func (ro *rooter) typeOf(v *gobin.Variable) int32 {
	switch v.Interface {
	case "iface":
		return ro.types.as(0, roleInterface)
	case "eface":
		return ro.types.as(0, roleEmpty)
	}
	t := ro.types.at(v.Type)
	if v.Pointer && t != 0 {
		return ro.types.pointerTo(t)
	}
	return t
}

// runtimeVariables are shown by name where the program has no symbol table: the
// runtime's own code tells where they are.
var runtimeVariables = map[string]uint64{"runtime.allp": 24, "runtime.allgs": 24, "runtime.allm": 8, "runtime.sched": 8, "runtime.mheap_": 8}

// known adds the variables of the runtime that are known without symbols.
func (ro *rooter) known() {
	if len(ro.variables) > 0 {
		return
	}
	for name, size := range runtimeVariables {
		if addr, ok := ro.c.bin.Symbol(name); ok {
			ro.variables = append(ro.variables, gobin.Variable{Name: name, Addr: addr, Size: size})
		}
	}
	slices.SortFunc(ro.variables, func(a, b gobin.Variable) int { return cmp.Compare(a.Addr, b.Addr) })
}

// variable is the one that holds a link-time address.
func (ro *rooter) variable(addr uint64) *gobin.Variable {
	i, ok := slices.BinarySearchFunc(ro.variables, addr, func(v gobin.Variable, a uint64) int { return cmp.Compare(v.Addr, a) })
	if !ok {
		i--
	}
	if i >= 0 && addr-ro.variables[i].Addr < ro.variables[i].Size {
		v := ro.variables[i]
		if v.Type != 0 {
			v.Type += ro.c.modules[0].types
		}
		return &v
	}
	return &gobin.Variable{Name: nameless(addr), Addr: addr, Size: 8}
}

// nameUsers says of variables without a name that hold something which function uses
// them.
func (ro *rooter) nameUsers() {
	var addrs []uint64
	var holders []*Root
	for i := range ro.o.Roots {
		r := &ro.o.Roots[i]
		first, end := ro.o.Pointers(uint32(ro.o.Count + i))
		addr := r.addr - ro.c.bias
		if s := ro.staticAt(r.addr); s != nil && r.Name == nameless(s.of.Addr) {
			addr = s.of.Addr
		}
		if first < end && r.Kind == RootVariable && r.Name == nameless(addr) {
			addrs, holders = append(addrs, addr), append(holders, r)
		}
	}
	users, _ := ro.c.bin.Users(addrs) // without any they are told by their addresses
	for i, r := range holders {
		if f, ok := users[addrs[i]]; ok {
			r.Name += " (" + f + " uses it)"
		}
	}
}

// nameless is what a variable is called that has no name: by its address in the executable.
func nameless(addr uint64) string { return fmt.Sprintf("a variable at %#x", addr) }

// goroutines adds every goroutine: what its descriptor holds, and its stack by frames.
func (ro *rooter) goroutines() {
	stacks := gomem.NewStackReader(ro.c.r, ro.c.memory(), &ro.o.Frames)
	stacks.Label = func(pc uint64) uint32 { return ro.frame(ro.function(pc)) }
	stacks.Point = ro.point
	w := &stacks.Walk
	w.Ended = ro.c.ended != nil
	for i := range ro.c.goroutines {
		g := &ro.c.goroutines[i]
		ro.add(ro.goroutine(g))
		if id, ok := ro.o.At(g.Addr); ok {
			ro.lead(ro.frame("its descriptor"), id)
		}
		t := ro.threadOf(g, w)
		w.Registers, w.PCs, w.Frames = t.place, w.PCs[:0], w.Frames[:0]
		at, known := *g, g.Stands()
		if g.Status == gomem.StatusRunning {
			at, known = w.Running(g)
		}
		var registers []uint64
		if t != nil && !w.OnThreadStack(g.M, t.SP) {
			registers = t.Words
		}
		if e, ok := ro.c.ended[g.Addr]; ok {
			ro.o.Framed = append(ro.o.Framed, uint32(ro.o.Count+len(ro.o.Roots)-1))
			ro.endedStack(g, &e)
			continue
		}
		if !ro.c.moved && known && stacks.Live(&at, ro.c.at(at.SP), registers) {
			ro.o.Framed = append(ro.o.Framed, uint32(ro.o.Count+len(ro.o.Roots)-1))
		} else {
			w.Unwind(g)
			ro.stack(g, w)
		}
		ro.registers(registers)
	}
}

// goroutine is a root that is one.
func (ro *rooter) goroutine(g *gomem.Goroutine) Root {
	root := Root{Kind: RootGoroutine, Name: ro.function(g.StartPC), ID: g.ID}
	if g.GoPC != 0 {
		name, ok := ro.creators[g.GoPC]
		if !ok {
			name = ro.function(g.GoPC)
			ro.creators[g.GoPC] = name
		}
		root.Creator = name
	}
	if g.Waits() && g.WaitSince > 0 && g.WaitSince < ro.c.now {
		root.Waits = sample.Some(time.Duration(ro.c.now - g.WaitSince))
	}
	return root
}

// threadOf is the one that runs a goroutine, nil if it is not known. In a container the
// program's number of it is another than ours: then its stack tells.
func (ro *rooter) threadOf(g *gomem.Goroutine, w *gomem.Walk) *Thread {
	if g.Status != gomem.StatusRunning || g.M == 0 {
		return nil
	}
	number := w.Thread(g)
	for i := range ro.threads {
		t := &ro.threads[i]
		if uint64(t.TID) == number || g.On(t.SP) || w.OnThreadStack(g.M, t.SP) {
			return t
		}
	}
	return nil
}

// place is where a thread stands.
func (t *Thread) place(int) (pc, sp uint64, ok bool) {
	if t == nil {
		return 0, 0, false
	}
	return t.PC, t.SP, true
}

// registers adds what the thread that runs a goroutine has in its registers. Those of
// other threads hold nothing: a goroutine that stands, is in a system call, or has the
// runtime work on the thread's own stack, has put on its stack what it still needs
// (runtime/mgcmark.go, scanstack), and what a thread without one did last is over. What
// the collector's workers have in hand is not theirs.
func (ro *rooter) registers(words []uint64) {
	slot := ro.frame("its registers")
	for _, w := range words {
		ro.point(slot, w)
	}
}

// stack adds all words of a goroutine's stack, with the function in whose frame each
// lies.
func (ro *rooter) stack(g *gomem.Goroutine, w *gomem.Walk) {
	from := g.SP
	if g.Status == gomem.StatusRunning || from < g.Lo || from > g.Hi {
		from = g.Lo
		if at, ok := w.Running(g); ok && g.Status == gomem.StatusRunning {
			from = at.SP
		}
	}
	b := ro.c.at(from &^ 7)
	at := from &^ 7
	b = b[:min(uint64(len(b)), g.Hi-min(at, g.Hi))&^7]
	ro.o.Frames.Whole += max(len(w.PCs), 1)
	for i, pc := range w.PCs {
		n := min(uint64(w.Frames[i]+7)&^7, uint64(len(b)))
		ro.words(ro.frame(ro.function(pc)), b[:n])
		b = b[n:]
	}
	name := sample.WholeStack
	if len(w.PCs) > 0 {
		name = ro.function(w.PCs[len(w.PCs)-1])
	}
	ro.words(ro.frame(name), b)
}

func (ro *rooter) words(slot uint32, b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		if p := gomem.Word(b, 0); p != 0 {
			ro.point(slot, p)
		}
	}
}

// frame numbers the name of a stack's frame among the labels of types.
func (ro *rooter) frame(name string) uint32 {
	i, ok := ro.frames[name]
	if !ok {
		i = uint32(ro.types.label(" in " + name))
		ro.frames[name] = i
	}
	return i
}

func (ro *rooter) function(pc uint64) string {
	f, ok := ro.c.bin.FuncAt(pc - ro.c.bias)
	if !ok {
		return "code that is not Go's"
	}
	return f.Name()
}

// finalizers adds what special records and queued finalizers point to. What an
// object with a finalizer points to lives, the object itself does not for that
// (runtime/mgcmark.go, markrootSpans).
func (ro *rooter) finalizers() {
	mk := ro.c.marker
	ro.add(Root{Kind: RootFinalizer, Name: "finalizers and cleanups"})
	for i := range ro.c.specials {
		sp := &ro.c.specials[i]
		id, ok := ro.o.At(sp.object)
		if uint64(sp.kind) == mk.profileKind {
			if ok {
				ro.o.Samples = append(ro.o.Samples, Sample{id, sp.words[mk.bucket/8]})
			}
			continue
		}
		if ok && uint64(sp.kind) == mk.finalizer {
			for e, end := ro.o.Pointers(id); e < end; e++ {
				ro.o.To, ro.o.slot = append(ro.o.To, ro.o.To[e]), append(ro.o.slot, 0)
			}
		}
		for _, w := range sp.words[mk.bucket/8:] {
			ro.point(0, w)
		}
	}
	ro.add(Root{Kind: RootFinalizer, Name: "finalizers that wait to be run"})
	block, err := ro.c.memory().U64(mk.finBlocks)
	for n := 0; err == nil && block != 0 && n < maxFinBlocks; n++ {
		b := ro.c.at(block)
		if len(b) < finBlockSize {
			return
		}
		ro.words(0, b[:finBlockSize])
		block = gomem.Word(b, 0)
	}
}
