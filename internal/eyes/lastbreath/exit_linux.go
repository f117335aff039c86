package lastbreath

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// exit is why a thread stands at its exit.
type exit int

const (
	exitProcess exit = iota // the whole process ends
	exitThread              // this thread alone
	exitExec                // another thread has called execve
)

// exiting handles a thread that stands at its exit, its memory being there still.
func (t *Tracer) exiting(k *task) {
	p := k.proc
	msg, err := unix.PtraceGetEventMsg(k.tid)
	if err != nil || p.dying {
		resume(k.tid, 0)
		return
	}
	switch why := whyExit(p.pid, k.tid, msg); {
	case why == exitExec && len(p.tasks) == 1:
		t.regain(k)
		return
	case why != exitProcess:
		// Let go, not resumed: nobody then has to wait for the thread, and an
		// execve can go on.
		if t.letGo(k, 0) {
			t.threadGone(p, k.tid)
		}
		return
	}
	p.dying = true
	p.status = sample.Some(statusOf(msg))
	if t.handler.Dying == nil || p.borrowed {
		resume(k.tid, 0)
		return
	}
	t.reading = k
	d := Death{PID: p.pid, TID: k.tid, Status: p.status.V, Deadline: t.deadline(p.status.V)}
	t.deaths.Go(func() { t.look(k, d) })
}

// look has the Handler look at a death, beside the OSThread, gives the memory of a killed
// process back and lets its thread go. To give it back takes some 0.2 s a GiB: others
// may be dying with it, whose time runs, or be stopped for a signal.
func (t *Tracer) look(k *task, d Death) {
	t.handler.Dying(d)
	killed := d.Status.Signal == int(unix.SIGKILL)
	_ = t.OSThread.do(func() {
		t.drain() // what died meanwhile has no more time than this one had
		if t.reading != k || t.stuck() {
			return // it is let go
		}
		if !killed {
			resume(d.TID, 0)
		}
		t.goOnWith()
	})
	if killed {
		giveBack(d.PID)
		_ = t.OSThread.do(func() { resume(d.TID, 0) }) // an OSThread that has ended has let go of it
	}
}

// giveBack frees the memory of a process that SIGKILL ends while it is still held
// (process_mrelease(2), Linux 5.15; before that it does nothing). The kernel refuses it
// where a process that lives on uses the same memory, as between vfork and exec, or
// where the memory is being dumped.
//
// Held, it is the victim whose memory others of a full cgroup wait for. Resumed, it
// first stops to count as one and then frees (kernel/exit.c, do_exit): who waits asks
// for another victim in between, and a program is killed that would have lived.
func giveBack(pid int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	for range 10 { // what it could not free at once it frees when asked again
		if _, _, errno := unix.Syscall(unix.SYS_PROCESS_MRELEASE, uintptr(fd), 0, 0); errno != unix.EAGAIN {
			return
		}
	}
}

// threadGone keeps a process followed of which a thread has ended.
func (t *Tracer) threadGone(p *proc, tid int) {
	switch {
	case len(p.tasks) == 0:
		t.follow(p, tid)
	case p.narrow && p.quiet == nil:
		t.narrow(p) // the thread that was to stay is gone
	default:
		t.spend(p)
	}
}

// whyExit tells the end of a process from that of a thread. The message is the
// exit code of the process when it ends, that of the thread when it ends alone,
// and 0 when another thread has called execve (kernel/exit.c, do_group_exit).
func whyExit(pid, tid int, msg uint) exit {
	if statusOf(msg).Signal != 0 {
		return exitProcess // threads are not killed alone
	}
	switch nr, _ := systemCall(pid, tid); {
	case nr == unix.SYS_EXIT && hasOthers(pid, tid):
		return exitThread
	case nr == unix.SYS_EXIT, nr == unix.SYS_EXIT_GROUP, msg != 0:
		return exitProcess
	}
	// Another thread is the cause: it calls exit_group, and is soon gone with the
	// rest, or execve, and waits for us.
	for range 1000 {
		if why, known := causeOf(pid, tid); known {
			return why
		}
		time.Sleep(100 * time.Microsecond)
	}
	return exitProcess
}

// others lists the threads of a process that have not ended, but for one.
func others(pid, but int) []int {
	return slices.DeleteFunc(threads(pid), func(tid int) bool { return tid == but || !lives(tid) })
}

// firstLiving is the first n threads of a process that have not ended, but for
// one, in the order in which they were made, which is the kernel's: of ten
// thousand it lists some hundred.
func firstLiving(pid, but, n int) (living []int) {
	dir, err := os.Open(filepath.Join(procRoot, strconv.Itoa(pid), "task"))
	if err != nil {
		return nil
	}
	defer dir.Close()
	for {
		names, err := dir.Readdirnames(64)
		for _, name := range names {
			tid, _ := strconv.Atoi(name)
			if tid != but && lives(tid) {
				living = append(living, tid)
			}
			if len(living) == n {
				return living
			}
		}
		if err != nil {
			return living
		}
	}
}

// hasOthers says whether there is such a thread.
func hasOthers(pid, but int) bool {
	return slices.ContainsFunc(threads(pid), func(tid int) bool { return tid != but && lives(tid) })
}

func lives(tid int) bool {
	st, err := procfs.StateOf(procRoot, tid)
	return err == nil && !st.Ended()
}

// threads lists the threads of a process. The kernel's listing stops short where
// the thread it has just named ends (fs/proc/base.c, next_tid), and so is
// repeated until it has as many as the directory has links for.
func threads(pid int) (all []int) {
	var dir unix.Stat_t
	for range 100 {
		if unix.Stat(filepath.Join(procRoot, strconv.Itoa(pid), "task"), &dir) != nil {
			return nil
		}
		all, _ = procfs.Threads(procRoot, pid)
		if len(all) >= int(dir.Nlink)-2 {
			break
		}
	}
	return all
}

// causeOf is why another thread makes this one end; it is not known while one is
// running, of which nothing can be seen.
func causeOf(pid, tid int) (why exit, known bool) {
	known = true
	for _, other := range others(pid, tid) {
		nr, stands := systemCall(pid, other)
		switch {
		case !stands:
			known = false
		case nr == unix.SYS_EXECVE || nr == unix.SYS_EXECVEAT:
			return exitExec, true
		case nr == unix.SYS_EXIT_GROUP:
			return exitProcess, true
		}
	}
	return exitProcess, known
}

// systemCall is the number of the system call that a standing thread is in, -1
// for none (/proc/PID/task/TID/syscall, proc_pid_syscall(5)); unknown while it
// is running.
func systemCall(pid, tid int) (nr int, known bool) {
	b, err := os.ReadFile(filepath.Join(procRoot, strconv.Itoa(pid), "task", strconv.Itoa(tid), "syscall"))
	if err != nil {
		return -1, true // it has ended, or may not be read
	}
	word, _, _ := bytes.Cut(bytes.TrimSpace(b), []byte(" "))
	nr, err = strconv.Atoi(string(word))
	return nr, err == nil
}

// follow traces a process again of which no thread is traced any more. One may
// be ending (0: none is).
func (t *Tracer) follow(p *proc, ending int) {
	t.followed(p, t.attach(p, ending))
}

// regain gives up the thread of a process in which another thread has called
// execve, which waits for it to end, and traces the new program. It is
// interrupted in case that it runs already.
func (t *Tracer) regain(k *task) {
	p := k.proc
	if !t.letGo(k, 0) {
		return
	}
	if err := t.seizeExec(p.pid); err != nil {
		t.followed(p, err)
		return
	}
	k = t.addTask(p, p.pid)
	k.caught = true
	interrupt(p.pid)
}

// seizeExec traces a process in the midst of an execve. PTRACE_SEIZE waits until
// the old program is gone and returns, as a rule, before the new one is loaded.
// For a moment the pid may still belong to a thread that has ended, which is
// EPERM.
func (t *Tracer) seizeExec(pid int) error {
	err := t.seize(pid, traceAll)
	for try := 0; errors.Is(err, unix.EPERM) && try < 200; try++ {
		if try > 20 {
			time.Sleep(500 * time.Microsecond)
			if peek(unix.P_PID, pid) != 0 {
				return unix.ESRCH // a child that has ended already
			}
		}
		err = t.seize(pid, traceAll)
	}
	return err
}

// followed tells of a process that could not be traced again.
func (t *Tracer) followed(p *proc, err error) {
	switch {
	case err == nil:
	case errors.Is(err, unix.ESRCH) || errors.Is(err, procfs.ErrGone):
		if !p.child { // of a child, wait tells
			t.gone(p, p.status)
		}
	default:
		t.lost(p, fmt.Errorf("follow process %d: %w", p.pid, err))
	}
}

// lost tells that a process is not traced any more. A child's end is still told.
func (t *Tracer) lost(p *proc, why error) {
	if !p.child {
		delete(t.procs, p.pid)
	}
	if t.handler.Lost != nil {
		t.handler.Lost(p.pid, why)
	}
}
