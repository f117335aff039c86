package lastbreath

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// begin tells of a new program, and lets it run.
func (t *Tracer) begin(k *task) {
	p := k.proc
	k.caught, k.leaving = false, false
	p.borrowed, p.dying, p.goProgram, p.narrow = false, false, false, false
	p.quiet, p.spent, p.status, p.again = nil, budget{}, sample.Opt[Status]{}, false
	if t.handler.Exec != nil {
		p.goProgram = t.handler.Exec(p.pid)
	}
	p.leaves = t.leaves(p.pid)
	if p.goProgram && t.options.FollowForks != Always && len(threads(p.pid)) > 1 {
		t.beginLate(k)
		return
	}
	p.births = !p.goProgram && !p.leaves && t.handler.Thread != nil
	t.setOptions(k.tid, t.optionsOf(p))
	resume(k.tid, 0)
}

// leaves asks whether what a program starts is left to it.
func (t *Tracer) leaves(pid int) bool { return t.handler.Leaves != nil && t.handler.Leaves(pid) }

// beginLate lets a program run that was caught late: threads of it are there
// that are not traced.
func (t *Tracer) beginLate(k *task) {
	if !t.letGo(k, 0) {
		return
	}
	t.follow(k.proc, 0)
	if k.proc.narrow && t.options.FollowForks == WithinBudget {
		t.tellNarrowed(k.proc)
	}
}

// forked handles a thread that has made a process. The kernel attached it to us
// before it could run.
func (t *Tracer) forked(k *task, borrows bool) {
	pid, err := unix.PtraceGetEventMsg(k.tid)
	if err != nil {
		return // it was killed in the stop; the newborn is adopted when it is reaped
	}
	t.addChild(k.proc, int(pid), borrows)
	t.goOn(k, 0)
	t.firstStop(int(pid))
}

// cloned handles a thread that has made another, or a process in clone's way.
// A Go program's first is its sysmon.
func (t *Tracer) cloned(k *task) {
	tid, err := unix.PtraceGetEventMsg(k.tid)
	if err != nil {
		return // as in forked
	}
	p, born := k.proc, t.addThread(k.proc, int(tid))
	switch {
	case born.proc != p:
	case !p.goProgram:
		t.birth(k, born)
	case p.narrow:
		born.leaving = true
	case t.options.FollowForks == Never || p.leaves:
		born.options = traceExit
		p.narrow, p.quiet, k.leaving = true, born, true
	case p.quiet == nil:
		p.quiet = born
	}
	t.goOn(k, 0)
	t.firstStop(int(tid))
}

// birth tells of a thread that is none of a Go program's, and is let go: the first
// stays traced alone. What exceeds the budget of stops is not told of.
func (t *Tracer) birth(k, born *task) {
	p := k.proc
	born.leaving = t.options.FollowForks != Always
	p.births = p.births && t.handler.Thread(p.pid) && p.spent.spend(time.Now())
	if !p.births {
		t.setOptions(k.tid, t.optionsOf(p))
	}
}

// addThread records a newborn thread; one made by clone may be a process too.
func (t *Tracer) addThread(p *proc, tid int) *task {
	if pid, err := procfs.ProcessOf(procRoot, tid); err == nil && pid == tid {
		return t.addChild(p, tid, true)
	}
	return t.addTask(p, tid)
}

// addChild records a newborn process and tells of it.
func (t *Tracer) addChild(parent *proc, pid int, borrowed bool) *task {
	p := &proc{tracer: t, pid: pid, goProgram: parent.goProgram, births: parent.births, borrowed: borrowed, tasks: map[int]*task{}}
	t.procs[pid] = p
	if t.handler.Fork != nil {
		t.handler.Fork(parent.pid, pid)
	}
	return t.addTask(p, pid)
}

// unknown keeps the first stop of a newborn until its birth is reported. Of a
// thread that stands at its exit it never will be: its maker was killed in the
// stop that would have told, as the whole process ends.
func (h *OSThread) unknown(tid int, ws unix.WaitStatus) {
	pid, _ := procfs.ProcessOf(procRoot, tid)
	if p := h.procs[pid]; event(ws) == unix.PTRACE_EVENT_EXIT && p != nil && pid != tid {
		delete(h.newborns, tid)
		h.addTask(p, tid)
		h.handle(tid, ws)
		return
	}
	h.newborns[tid] = ws
}

// firstStop handles the first stop of a newborn, if it came before its birth was
// reported.
func (h *OSThread) firstStop(tid int) {
	ws, ok := h.newborns[tid]
	if !ok {
		return
	}
	delete(h.newborns, tid)
	h.handle(tid, ws)
}

// adopt takes in newborns whose birth will never be reported, as their maker was
// killed first.
func (h *OSThread) adopt() {
	for tid, ws := range h.newborns {
		pid, err := procfs.ProcessOf(procRoot, tid)
		maker := pid
		if pid == tid {
			maker, _ = procfs.Parent(procRoot, tid)
		}
		switch {
		case h.procs[maker] != nil && len(h.procs[maker].tasks) > 0:
			continue // it will report
		}
		delete(h.newborns, tid)
		t := h.tracerOf(maker)
		if err != nil || pid != tid || t == nil { // it goes with its process
			detach(tid, 0)
			continue
		}
		t.inTurn(func() {
			t.addChild(&proc{tracer: t, pid: maker}, pid, true)
			h.handle(tid, ws)
		})
	}
}

// mostMakers bounds what is remembered of processes that have ended.
const mostMakers = 1000

// rememberMaker notes whose a process was that has ended: a newborn of it may not have been told of.
func (t *Tracer) rememberMaker(p *proc) {
	if len(t.tracers) < 2 {
		return
	}
	if len(t.makers) >= mostMakers {
		clear(t.makers)
	}
	t.makers[p.pid] = t
}

// tracerOf is the Tracer of a process that has ended or is about to; nil: not known.
func (h *OSThread) tracerOf(maker int) *Tracer {
	if p := h.procs[maker]; p != nil {
		return p.tracer
	}
	if t := h.makers[maker]; h.tracers[t] {
		return t
	}
	if len(h.tracers) == 1 {
		for t := range h.tracers {
			return t
		}
	}
	return nil
}
