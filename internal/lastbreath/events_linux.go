package lastbreath

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/sample"
)

// drain handles everything that there is to report.
func (t *Tracer) drain() {
	for {
		tid, ws, ok := t.next()
		if !ok {
			return
		}
		t.handle(tid, ws)
	}
}

// next takes the next report. Children that other parts of this process started
// are never taken, though the kernel hands them to this thread when the thread
// that forked them ends: those are told by having no tracer.
func (t *Tracer) next() (int, unix.WaitStatus, bool) {
	tid := peek(unix.P_ALL, 0)
	if tid == 0 {
		return 0, 0, false
	}
	if t.isOurs(tid) {
		if ws, ok := take(tid, false); ok {
			return tid, ws, true
		}
	}
	return t.nextKnown()
}

// nextKnown asks our threads and children one by one: a foreign child is in the way.
func (t *Tracer) nextKnown() (int, unix.WaitStatus, bool) {
	for tid := range t.tasks {
		if ws, ok := take(tid, false); ok {
			return tid, ws, true
		}
	}
	for pid, p := range t.procs {
		if p.child {
			if ws, ok := take(pid, false); ok {
				return pid, ws, true
			}
		}
	}
	return 0, 0, false
}

func (t *Tracer) isOurs(tid int) bool {
	if t.tasks[tid] != nil {
		return true
	}
	if p := t.procs[tid]; p != nil && p.child {
		return true
	}
	return t.isNewborn(tid)
}

// handle handles one report of a thread or child.
func (t *Tracer) handle(tid int, ws unix.WaitStatus) {
	k := t.tasks[tid]
	if event(ws) == unix.PTRACE_EVENT_EXEC {
		k = t.execTask(tid, k)
	}
	switch {
	case ws.Exited() || ws.Signaled():
		t.ended(tid, k, ws)
	case !ws.Stopped():
	case k == nil && t.leaving:
		detach(tid, 0)
	case k == nil:
		t.unknown(tid, ws)
	case t.leaving || k.proc.stranger:
		t.letGo(k, signalOf(k, ws))
	default:
		t.stopped(k, ws)
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
func (t *Tracer) execTask(pid int, k *task) *task {
	if former, err := unix.PtraceGetEventMsg(pid); err == nil && int(former) != pid {
		if old := t.tasks[int(former)]; old != nil {
			k = old
			t.dropTask(k)
			k.tid = pid
		}
	}
	if k == nil {
		return nil
	}
	for tid := range k.proc.tasks {
		delete(t.tasks, tid)
	}
	k.proc.tasks = map[int]*task{pid: k}
	t.tasks[pid] = k
	return k
}

// ended handles the end of a thread or a child.
func (t *Tracer) ended(tid int, k *task, ws unix.WaitStatus) {
	p := t.procs[tid]
	if k != nil {
		p = k.proc
		t.dropTask(k)
	}
	delete(t.newborns, tid)
	switch {
	case p == nil:
	case tid == p.pid:
		t.gone(p, sample.Some(statusOf(uint(ws))))
	case len(p.tasks) == 0 && !p.child:
		t.gone(p, p.status)
	}
	t.adopt()
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
