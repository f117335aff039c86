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
	statusRunnable  = 1
	statusRunning   = 2
	statusSyscall   = 3
	statusWaiting   = 4
	statusCopying   = 8
	statusPreempted = 9
	statusLeaked    = 10
	statusScan      = 0x1000 // a bit: the collector holds its stack
)

// stateNames are the states of goroutines that exist, in runtime/pprof's and a
// traceback's words. Others (idle, dead, moving its stack) are no goroutines or
// cannot be read; a moving one is shown as "copystack".
var stateNames = map[uint32]string{
	statusRunnable:  "runnable",
	statusRunning:   "running",
	statusSyscall:   "syscall",
	statusWaiting:   "waiting",
	statusCopying:   "copystack",
	statusPreempted: "preempted",
	statusLeaked:    "leaked",
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
	room    room
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

// goroutine is what one runtime.g says.
type goroutine struct {
	addr          uint64
	lo, hi        uint64 // its stack
	sp, pc        uint64 // where to unwind from
	startpc, gopc uint64
	m, labels     uint64 // addresses of its thread's runtime.m and of its labels, 0 if none
	id            uint64 // goid: later ones have higher numbers
	waitsince     int64  // nanotime
	status        uint32
	reason        uint8
	cleaning      bool  // runs a cleanup of the program
	locked        bool  // to its thread
	exact         bool  // pc is no return address: it is its thread's register
	runs          uint8 // how often it stopped running, to tell one park from the next
}

// attach finds the list of goroutines and looks at the first.
func (gr *goroutineReader) attach(r *Runtime, find *resolver) error {
	gr.list, gr.count = find.addr("allgptr"), find.addr("allglen")
	gr.finalizer = find.addr("fingStatus")
	g := func(field string) uint64 { return find.offset("g", field) }
	gr.places = gPlaces{
		lo: g("stack.lo"), hi: g("stack.hi"), sp: g("sched.sp"), pc: g("sched.pc"),
		syscallsp: g("syscallsp"), syscallpc: g("syscallpc"),
		status: g("atomicstatus"), waitsince: g("waitsince"), waitreason: g("waitreason"),
		m: g("m"), lockedm: g("lockedm"), labels: g("labels"), id: g("goid"), gopc: g("gopc"), startpc: g("startpc"), runs: g("trackingSeq"), // runtime/proc.go, casgstatus
	}
	gr.places.cleaning, gr.places.hasCleaning = find.layout.Offset("runtime.g", "runningCleanups")
	gr.size = int(find.size("g"))
	gr.lastPoll = find.addr("sched") + find.offset("schedt", "lastpoll")
	gr.threads.attach(find)
	if err := find.err(); err != nil {
		return err
	}
	gr.code = newUnwinder(r.bin, r.bias)
	return gr.verify(r.mem)
}

// verify refuses a list that does not begin with a goroutine that has a stack, or
// with one that is none now: a library's first is kept for the program's threads.
func (gr *goroutineReader) verify(m memory) error {
	list, err := m.u64(gr.list)
	if err != nil {
		return err
	}
	first, err := m.u64(list)
	if err != nil {
		return err
	}
	buf := make([]byte, gr.size)
	if err := m.read(first, buf); err != nil {
		return err
	}
	g := gr.decode(first, buf)
	unused := g.lo == 0 && g.hi == 0 && stateNames[g.status] == ""
	if g.lo >= g.hi && !unused || g.hi-g.lo > 1<<40 || g.status > 32 {
		return fmt.Errorf("the first goroutine at %#x has status %d and stack [%#x, %#x)", first, g.status, g.lo, g.hi)
	}
	return nil
}

// state is what a goroutine does, in a traceback's words.
func (g *goroutine) state() string { return stateNames[g.status] }

// waits says whether a goroutine waits for something.
func (g *goroutine) waits() bool { return g.status == statusWaiting || g.status == statusLeaked }

// readGoroutines reads every goroutine's descriptor, by address.
func (r *Runtime) readGoroutines() ([]goroutine, error) {
	if err := r.why[FeatureGoroutines]; err != nil {
		return nil, err
	}
	return r.goroutines.readAll(r.mem)
}

// unwind passes each goroutine that is not the runtime's own to fn, once, with its program counters, innermost
// first, and the bytes of each one's frame; both are valid during the call only, and empty where no stack could
// be read. Registers are those of a process that stands still, nil: not known. Ended means that it is held at its
// exit.
func (r *Runtime) unwind(all []goroutine, registers Registers, ended bool, fn func(g *goroutine, stack []uint64, frames []uint32)) error {
	modules, err := r.learnModules()
	if err != nil {
		return err
	}
	gr := &r.goroutines
	finalizing, err := r.mem.u32(gr.finalizer)
	if err != nil {
		return err
	}
	w := walk{code: &gr.code, mem: r.mem, threads: gr.threads, registers: registers, ended: ended, foreign: modules > 1}
	b := batch{reader: gr, walk: w, records: newRecordReader()}
	b.begins = stackBegins{mem: r.mem, buf: b.records.buf}
	b.unwind(all, func(g *goroutine, stack []uint64, frames []uint32) {
		if !gr.code.system(g, finalizing&fingRunning != 0) {
			fn(g, stack, frames)
		}
	})
	return nil
}

// now is the process's nanotime. In a core it is the latest time known: since
// when a goroutine waits, or the network was last polled.
func (r *Runtime) now(all []goroutine) int64 {
	if !r.still {
		return nanotime()
	}
	polled, _ := r.mem.u64(r.goroutines.lastPoll) // 0 while a thread polls
	latest := int64(polled)
	for i := range all {
		latest = max(latest, all[i].waitsince)
	}
	return latest
}

// readAll reads every g that is a goroutine, by address.
func (gr *goroutineReader) readAll(m memory) ([]goroutine, error) {
	list, err := m.u64(gr.list)
	if err != nil {
		return nil, err
	}
	n, err := m.u64(gr.count)
	if err != nil {
		return nil, err
	}
	if n > maxGoroutines {
		return nil, fmt.Errorf("runtime.allglen is %d, more than %d", n, maxGoroutines)
	}
	if err := gr.room.fits(n * perGoroutine); err != nil {
		return nil, fmt.Errorf("%d goroutines: %w", n, err)
	}
	var records recordReader
	defer records.give(records.take())
	addrs, err := m.words(nil, list, n, records.buf)
	if err != nil {
		records.spoiled = true
		return nil, err
	}
	slices.Sort(addrs)
	var all []goroutine
	records.each(m, slices.Compact(addrs), gr.size, func(i int, b []byte) {
		if g := gr.decode(addrs[i], b); stateNames[g.status] != "" {
			all = append(all, g)
		}
	})
	return all, nil
}

// decode reads the fields of the g in b.
func (gr *goroutineReader) decode(addr uint64, b []byte) goroutine {
	at := &gr.places
	g := goroutine{
		addr:      addr,
		lo:        word(b, at.lo),
		hi:        word(b, at.hi),
		sp:        word(b, at.sp),
		pc:        word(b, at.pc),
		startpc:   word(b, at.startpc),
		m:         word(b, at.m),
		labels:    word(b, at.labels),
		id:        word(b, at.id),
		gopc:      word(b, at.gopc),
		waitsince: int64(word(b, at.waitsince)),
		status:    half(b, at.status) &^ statusScan,
		reason:    b[at.waitreason],
		runs:      b[at.runs],
		cleaning:  at.hasCleaning && b[at.cleaning] != 0,
		locked:    word(b, at.lockedm) != 0,
	}
	if g.status == statusSyscall {
		g.sp, g.pc = word(b, at.syscallsp), word(b, at.syscallpc)
	}
	return g
}
