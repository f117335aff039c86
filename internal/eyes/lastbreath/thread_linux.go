package lastbreath

import (
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// OSThread is the OS thread of one Tracer or of many: all of ptrace belongs to the thread
// that attached, so one goroutine keeps a thread of its own.
//
// What happens to the processes of one Tracer is handled in order. While its Handler looks
// at a death, what comes for that Tracer waits, and the others go on: of programs that
// are killed together each is held from its own exit on.
type OSThread struct {
	work    chan func()
	sigchld chan os.Signal
	done    chan struct{}
	// retiring means that it ends with its last Tracer, whose processes are let go by that.
	retiring atomic.Bool

	tid int // set before done is closed

	// The rest belongs to the thread.
	tracers  map[*Tracer]bool
	woke     time.Time // when it last had nothing to do
	tasks    map[int]*task
	procs    map[int]*proc
	newborns map[int]unix.WaitStatus // first stops of threads whose birth is not yet reported
	makers   map[int]*Tracer         // of processes that have ended and may have left newborns
	leaving  bool
}

// NewOSThread starts an OSThread for Tracers that are made with it. Retire has it end.
func NewOSThread() *OSThread {
	h := &OSThread{
		work:     make(chan func()),
		sigchld:  make(chan os.Signal, 1),
		done:     make(chan struct{}),
		tracers:  map[*Tracer]bool{},
		tasks:    map[int]*task{},
		procs:    map[int]*proc{},
		newborns: map[int]unix.WaitStatus{},
		makers:   map[int]*Tracer{},
	}
	signal.Notify(h.sigchld, unix.SIGCHLD)
	go h.run()
	return h
}

// Retire says that all Tracers are about to be closed: the thread ends with the last of
// them, or now. So nobody has to stop to be let go.
func (h *OSThread) Retire() {
	h.retiring.Store(true)
	h.endIfUnused()
}

// endIfUnused ends the thread where it has no Tracer, and waits for that.
func (h *OSThread) endIfUnused() {
	unused := false
	_ = h.do(func() { unused = len(h.tracers) == 0; h.leaving = h.leaving || unused })
	if !unused {
		return
	}
	<-h.done
	for unix.Tgkill(os.Getpid(), h.tid, 0) == nil {
		time.Sleep(50 * time.Microsecond)
	}
}

// run is the life of the thread. It is never unlocked: the thread ends
// with the goroutine, and whatever it may still trace then is let go by the
// kernel.
func (h *OSThread) run() {
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		// The process's first thread cannot end before the process.
		go h.run()
		<-h.done
		return
	}
	defer close(h.done)
	defer signal.Stop(h.sigchld)
	h.tid = unix.Gettid()
	for {
		h.drain()
		if h.forsake(); h.leaving {
			h.leave()
			return
		}
		select {
		case f := <-h.work:
			h.woke = time.Now()
			f()
		case <-h.sigchld:
			h.woke = time.Now()
		}
	}
}

// do runs f on the thread.
func (h *OSThread) do(f func()) error {
	ran := make(chan struct{})
	select {
	case h.work <- func() { f(); close(ran) }:
	case <-h.done:
		return errClosed
	}
	<-ran
	return nil
}

// forsake has those Tracers take leave whose Handler hangs.
func (h *OSThread) forsake() {
	for t := range h.tracers {
		if t.stuck() {
			t.leave()
			h.leaving = h.leaving || len(h.tracers) == 0 && h.retiring.Load()
		}
	}
}

// leave lets the threads go that stand, each with its signal. The others need not
// stop for it, as they would for PTRACE_DETACH: the kernel detaches from them
// when our thread ends (kernel/ptrace.c, exit_ptrace), which they do not notice.
func (h *OSThread) leave() {
	h.leaving = true
	for tid := range h.newborns {
		detach(tid, 0)
	}
	h.drain()
}

// leave lets the processes of one Tracer go. Where the thread goes on they have to stop for it.
func (t *Tracer) leave() {
	if t.left {
		return
	}
	t.left = true
	delete(t.tracers, t)
	for pid, p := range t.procs {
		if p.tracer == t {
			delete(t.procs, pid)
			t.sendAway(p, !t.retiring.Load())
		}
	}
	if k := t.reading; k != nil {
		t.reading = nil
		t.letGo(k, 0)
	}
	for waiting := t.waiting; len(waiting) > 0; waiting = waiting[1:] {
		waiting[0]()
	}
	t.waiting = nil
}

// inTurn calls f once what came before it is handled.
func (t *Tracer) inTurn(f func()) {
	if t.reading != nil {
		t.waiting = append(t.waiting, f)
		return
	}
	t.woke = t.OSThread.woke
	f()
}

// goOnWith handles what came while a death was looked at.
func (t *Tracer) goOnWith() {
	t.reading = nil
	for t.reading == nil && len(t.waiting) > 0 {
		f := t.waiting[0]
		t.waiting = t.waiting[1:]
		f()
	}
}
