package lastbreath

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// drain handles everything that there is to report.
func (h *OSThread) drain() {
	for {
		tid, ws, ok := h.next()
		if !ok {
			return
		}
		h.handle(tid, ws)
	}
}

// next takes the next report. Children that other parts of this process started
// are never taken, though the kernel hands them to this thread when the thread
// that forked them ends: those are told by having no tracer.
func (h *OSThread) next() (int, unix.WaitStatus, bool) {
	tid := peek(unix.P_ALL, 0)
	if tid == 0 {
		return 0, 0, false
	}
	if h.isOurs(tid) {
		if ws, ok := take(tid, false); ok {
			return tid, ws, true
		}
	}
	return h.nextKnown()
}

// nextKnown asks our threads and children one by one: a foreign child is in the way.
func (h *OSThread) nextKnown() (int, unix.WaitStatus, bool) {
	for tid := range h.tasks {
		if ws, ok := take(tid, false); ok {
			return tid, ws, true
		}
	}
	for pid, p := range h.procs {
		if p.child {
			if ws, ok := take(pid, false); ok {
				return pid, ws, true
			}
		}
	}
	return 0, 0, false
}

func (h *OSThread) isOurs(tid int) bool {
	if h.tasks[tid] != nil {
		return true
	}
	if p := h.procs[tid]; p != nil && p.child {
		return true
	}
	return h.isNewborn(tid)
}

// handle handles one report of a thread or child, in its Tracer's turn.
func (h *OSThread) handle(tid int, ws unix.WaitStatus) {
	p := h.procs[tid]
	if k := h.tasks[tid]; k != nil {
		p = k.proc
	}
	if p == nil {
		h.handleNow(tid, ws)
		return
	}
	p.tracer.inTurn(func() { h.handleNow(tid, ws) })
}

func (h *OSThread) handleNow(tid int, ws unix.WaitStatus) {
	k := h.tasks[tid]
	if event(ws) == unix.PTRACE_EVENT_EXEC {
		k = h.execTask(tid, k)
	}
	switch {
	case ws.Exited() || ws.Signaled():
		h.ended(tid, k, ws)
	case !ws.Stopped():
	case k == nil && h.leaving:
		detach(tid, 0)
	case k == nil:
		h.unknown(tid, ws)
	case h.leaving || k.proc.stranger:
		h.letGo(k, signalOf(k, ws))
	default:
		k.proc.tracer.stopped(k, ws)
	}
}

// signalOf is the signal that a stopped thread is to get when it goes on.
func signalOf(k *task, ws unix.WaitStatus) unix.Signal {
	if event(ws) != 0 {
		return 0
	}
	sig := ws.StopSignal()
	if sig == k.swallow {
		k.swallow = 0
		return 0
	}
	return sig
}

// stopped handles a stop of a thread that is traced.
func (t *Tracer) stopped(k *task, ws unix.WaitStatus) {
	if k.options != 0 {
		t.setOptions(k.tid, k.options)
		k.options = 0
	}
	switch event(ws) {
	case unix.PTRACE_EVENT_STOP:
		t.paused(k, ws.StopSignal())
	case unix.PTRACE_EVENT_CLONE:
		t.cloned(k)
	case unix.PTRACE_EVENT_FORK, unix.PTRACE_EVENT_VFORK:
		t.forked(k, event(ws) == unix.PTRACE_EVENT_VFORK)
	case unix.PTRACE_EVENT_EXEC:
		t.begin(k)
	case unix.PTRACE_EVENT_EXIT:
		t.exiting(k)
	default:
		t.signalled(k, signalOf(k, ws))
	}
}

// goOn lets a stopped thread go on, for good if it is leaving.
func (t *Tracer) goOn(k *task, sig unix.Signal) {
	if k.leaving {
		if p := k.proc; t.letGo(k, sig) && p.again {
			p.again = false
			t.follow(p, 0)
		}
		return
	}
	resume(k.tid, sig)
}

// signalled handles a signal on its way to a thread. Those that say that a child
// has ended are a part of following children, and cost nothing.
func (t *Tracer) signalled(k *task, sig unix.Signal) {
	if sig != unix.SIGCHLD {
		t.spend(k.proc)
	}
	t.goOn(k, sig)
}

// paused handles a stop that is neither a signal's nor a system call's.
func (t *Tracer) paused(k *task, sig unix.Signal) {
	switch {
	case k.caught && !isGroupStop(sig):
		t.begin(k)
	case isGroupStop(sig) && !k.leaving:
		listen(k.tid)
	default:
		t.goOn(k, 0)
	}
}

// execTask is the thread that has exec'ed, which is the process's only one and
// has taken over its pid.
func (h *OSThread) execTask(pid int, k *task) *task {
	if former, err := unix.PtraceGetEventMsg(pid); err == nil && int(former) != pid {
		if old := h.tasks[int(former)]; old != nil {
			k = old
			h.dropTask(k)
			k.tid = pid
		}
	}
	if k == nil {
		return nil
	}
	for tid := range k.proc.tasks {
		delete(h.tasks, tid)
	}
	k.proc.tasks = map[int]*task{pid: k}
	h.tasks[pid] = k
	return k
}

// ended handles the end of a thread or a child.
func (h *OSThread) ended(tid int, k *task, ws unix.WaitStatus) {
	p := h.procs[tid]
	if k != nil {
		p = k.proc
		h.dropTask(k)
	}
	delete(h.newborns, tid)
	switch {
	case p == nil:
	case tid == p.pid:
		p.tracer.gone(p, sample.Some(statusOf(uint(ws))))
	case len(p.tasks) == 0 && !p.child:
		p.tracer.gone(p, p.status)
	}
	h.adopt()
}

// gone forgets a process and tells of its end.
func (t *Tracer) gone(p *proc, status sample.Opt[Status]) {
	for tid := range p.tasks {
		delete(t.tasks, tid)
	}
	if p.stranger {
		return
	}
	delete(t.procs, p.pid)
	t.rememberMaker(p)
	if t.handler.Gone != nil {
		t.handler.Gone(p.pid, status)
	}
}

// deadline is until when a death may be held. The kernel kills the processes of
// a cgroup together, and while the first is held the others wait, for the same
// reaper: their time began when we last had nothing to do, or later.
func (t *Tracer) deadline(s Status) time.Time {
	if s.Signal != int(unix.SIGKILL) {
		return time.Time{}
	}
	return t.woke.Add(HoldOOM)
}
