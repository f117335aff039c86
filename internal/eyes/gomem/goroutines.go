package gomem

import (
	"fmt"
	"slices"
)

const (
	// maxGoroutines bounds allgs, which never shrinks: four million goroutines
	// have 8 GiB of stacks at least.
	maxGoroutines = 1 << 22
)

// Statuses of a goroutine (runtime/runtime2.go). Since Go 1.26 there are also
// _Gleaked and _Gdeadextra.
const (
	StatusRunnable  = 1
	StatusRunning   = 2
	StatusSyscall   = 3
	StatusWaiting   = 4
	StatusCopying   = 8
	StatusPreempted = 9
	StatusLeaked    = 10
	StatusScan      = 0x1000 // a bit: the collector holds its stack
)

// stateNames are the states of goroutines that exist, in runtime/pprof's and a
// traceback's words. Others (idle, dead, moving its stack) are no goroutines or
// cannot be read; a moving one is shown as "copystack".
var stateNames = map[uint32]string{
	StatusRunnable:  "runnable",
	StatusRunning:   "running",
	StatusSyscall:   "syscall",
	StatusWaiting:   "waiting",
	StatusCopying:   "copystack",
	StatusPreempted: "preempted",
	StatusLeaked:    "leaked",
}

// goroutineReader lists and unwinds goroutines.
type goroutineReader struct {
	list, count uint64 // addresses of runtime.allgptr, allglen
	finalizer   uint64 // address of runtime.fingStatus
	lastPoll    uint64 // address of runtime.sched.lastpoll

	size    int // bytes of a runtime.g that are read
	places  gPlaces
	code    unwinder
	threads threadPlaces
	room    Room
}

// perGoroutine is what a goroutine takes of our memory where all are read at once: its
// address and its description, in a list that grows.
const perGoroutine = 8 + 2*112

// gPlaces are offsets within a runtime.g.
type gPlaces struct {
	lo, hi, sp, pc, syscallsp, syscallpc uint64
	status, waitsince, waitreason        uint64
	gopc, startpc, cleaning, runs        uint64
	m, lockedm, labels, id               uint64
	hasCleaning                          bool // since Go 1.25
}

// Goroutine is what one runtime.g says.
type Goroutine struct {
	Addr          uint64
	Lo, Hi        uint64 // its stack
	SP, PC        uint64 // where to unwind from
	StartPC, GoPC uint64
	M, Labels     uint64 // addresses of its thread's runtime.m and of its labels, 0 if none
	ID            uint64 // goid: later ones have higher numbers
	WaitSince     int64  // nanotime
	Status        uint32
	Reason        uint8
	cleaning      bool  // runs a cleanup of the program
	Locked        bool  // to its thread
	exact         bool  // pc is no return address: it is its thread's register
	runs          uint8 // how often it stopped running, to tell one park from the next
}

// attach finds the list of goroutines and looks at the first.
func (gr *goroutineReader) attach(r *Runtime, find *Resolver) error {
	gr.list, gr.count = find.Addr("allgptr"), find.Addr("allglen")
	gr.finalizer = find.Addr("fingStatus")
	g := func(field string) uint64 { return find.Offset("g", field) }
	gr.places = gPlaces{
		lo: g("stack.lo"), hi: g("stack.hi"), sp: g("sched.sp"), pc: g("sched.pc"),
		syscallsp: g("syscallsp"), syscallpc: g("syscallpc"),
		status: g("atomicstatus"), waitsince: g("waitsince"), waitreason: g("waitreason"),
		m: g("m"), lockedm: g("lockedm"), labels: g("labels"), id: g("goid"), gopc: g("gopc"), startpc: g("startpc"),
		runs: g("trackingSeq"), // runtime/proc.go, casgstatus
	}
	gr.places.cleaning, gr.places.hasCleaning = find.Layout.Offset("runtime.g", "runningCleanups")
	gr.size = int(find.Size("g"))
	gr.lastPoll = find.Addr("sched") + find.Offset("schedt", "lastpoll")
	gr.threads.attach(find)
	if err := find.Err(); err != nil {
		return err
	}
	gr.code = newUnwinder(r.bin, r.bias)
	return gr.verify(r.mem)
}

// verify refuses a list that does not begin with a goroutine that has a stack, or
// with one that is none now: a library's first is kept for the program's threads.
func (gr *goroutineReader) verify(m Memory) error {
	list, err := m.U64(gr.list)
	if err != nil {
		return err
	}
	first, err := m.U64(list)
	if err != nil {
		return err
	}
	buf := make([]byte, gr.size)
	if err := m.Read(first, buf); err != nil {
		return err
	}
	g := gr.decode(first, buf)
	unused := g.Lo == 0 && g.Hi == 0 && stateNames[g.Status] == ""
	if g.Lo >= g.Hi && !unused || g.Hi-g.Lo > 1<<40 || g.Status > 32 {
		return fmt.Errorf("the first goroutine at %#x has status %d and stack [%#x, %#x)", first, g.Status, g.Lo, g.Hi)
	}
	return nil
}

// State is what a goroutine does, in a traceback's words.
func (g *Goroutine) State() string { return stateNames[g.Status] }

// Waits says whether a goroutine waits for something.
func (g *Goroutine) Waits() bool { return g.Status == StatusWaiting || g.Status == StatusLeaked }

// ReadGoroutines reads every goroutine's descriptor, by address.
func (r *Runtime) ReadGoroutines() ([]Goroutine, error) {
	if err := r.why[FeatureGoroutines]; err != nil {
		return nil, err
	}
	return r.goroutines.readAll(r.mem)
}

// Unwind passes each goroutine that is not the runtime's own to fn, once, with its program counters, innermost
// first, and the bytes of each one's frame; both are valid during the call only, and empty where no stack could
// be read. Registers are those of a process that stands still, nil: not known. Ended means that it is held at its
// exit.
func (r *Runtime) Unwind(all []Goroutine, registers Registers, ended bool, fn func(g *Goroutine, stack []uint64, frames []uint32)) error {
	modules, err := r.LearnModules()
	if err != nil {
		return err
	}
	gr := &r.goroutines
	finalizing, err := r.mem.U32(gr.finalizer)
	if err != nil {
		return err
	}
	w := Walk{code: &gr.code, mem: r.mem, threads: gr.threads, Registers: registers, Ended: ended, foreign: modules > 1}
	b := batch{reader: gr, walk: w, records: newRecordReader()}
	b.begins = stackBegins{mem: r.mem, buf: b.records.Buf}
	b.unwind(all, func(g *Goroutine, stack []uint64, frames []uint32) {
		if !gr.code.system(g, finalizing&fingRunning != 0) {
			fn(g, stack, frames)
		}
	})
	return nil
}

// Now is the process's nanotime. In a core it is the latest time known: since
// when a goroutine waits, or the network was last polled.
func (r *Runtime) Now(all []Goroutine) int64 {
	if !r.still {
		return nanotime()
	}
	polled, _ := r.mem.U64(r.goroutines.lastPoll) // 0 while a thread polls
	latest := int64(polled)
	for i := range all {
		latest = max(latest, all[i].WaitSince)
	}
	return latest
}

// readAll reads every g that is a goroutine, by address.
func (gr *goroutineReader) readAll(m Memory) ([]Goroutine, error) {
	list, err := m.U64(gr.list)
	if err != nil {
		return nil, err
	}
	n, err := m.U64(gr.count)
	if err != nil {
		return nil, err
	}
	if n > maxGoroutines {
		return nil, fmt.Errorf("runtime.allglen is %d, more than %d", n, maxGoroutines)
	}
	if err := gr.room.fits(n * perGoroutine); err != nil {
		return nil, fmt.Errorf("%d goroutines: %w", n, err)
	}
	var records RecordReader
	defer records.Give(records.Take())
	addrs, err := m.Words(nil, list, n, records.Buf)
	if err != nil {
		records.spoiled = true
		return nil, err
	}
	slices.Sort(addrs)
	var all []Goroutine
	records.Each(m, slices.Compact(addrs), gr.size, func(i int, b []byte) {
		if g := gr.decode(addrs[i], b); stateNames[g.Status] != "" {
			all = append(all, g)
		}
	})
	return all, nil
}

// decode reads the fields of the g in b.
func (gr *goroutineReader) decode(addr uint64, b []byte) Goroutine {
	at := &gr.places
	g := Goroutine{
		Addr:      addr,
		Lo:        Word(b, at.lo),
		Hi:        Word(b, at.hi),
		SP:        Word(b, at.sp),
		PC:        Word(b, at.pc),
		StartPC:   Word(b, at.startpc),
		M:         Word(b, at.m),
		Labels:    Word(b, at.labels),
		ID:        Word(b, at.id),
		GoPC:      Word(b, at.gopc),
		WaitSince: int64(Word(b, at.waitsince)),
		Status:    Half(b, at.status) &^ StatusScan,
		Reason:    b[at.waitreason],
		runs:      b[at.runs],
		cleaning:  at.hasCleaning && b[at.cleaning] != 0,
		Locked:    Word(b, at.lockedm) != 0,
	}
	if g.Status == StatusSyscall {
		g.SP, g.PC = Word(b, at.syscallsp), Word(b, at.syscallpc)
	}
	return g
}
