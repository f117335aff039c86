package lastbreath

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

var errDiedAtStart = errors.New("ended before its first instruction")

// Start starts a program and follows it. When Start returns, the program runs,
// or has ended already and Handler.Gone tells.
func (t *Tracer) Start(c Command) (pid int, err error) {
	err = t.do(func() error {
		pid, err = t.start(c)
		if err != nil {
			return fmt.Errorf("start %s: %w", c.Path, err)
		}
		return nil
	})
	return pid, err
}

func (t *Tracer) start(c Command) (int, error) {
	pid, err := t.forkStopped(c)
	if err != nil {
		return 0, err
	}
	contSent, err := t.convert(pid)
	if err != nil {
		end(pid)
		return 0, err
	}
	if c.BeforeRun != nil {
		if err := c.BeforeRun(pid); err != nil {
			end(pid)
			return 0, err
		}
	}
	p := &proc{tracer: t, pid: pid, child: true, tasks: map[int]*task{}}
	t.procs[pid] = p
	k := t.addTask(p, pid)
	if contSent {
		k.swallow = unix.SIGCONT
	}
	t.begin(k)
	return pid, nil
}

// end kills and reaps a child that is not followed yet. Its exit stop is passed.
func end(pid int) {
	unix.Kill(pid, unix.SIGKILL)
	for {
		resume(pid, 0) // from the stop that we know of, if it still stands
		ws, ok := take(pid, true)
		if !ok || ws.Exited() || ws.Signaled() {
			return
		}
	}
}

// forkStopped starts the program and leaves it stopped behind its execve, traced
// by PTRACE_TRACEME.
//
// Between that request and its execve a signal would stop the child for us
// while we wait for it to exec. So it is forked with all signals blocked, and
// gets its own mask once it stands.
func (t *Tracer) forkStopped(c Command) (int, error) {
	mask, err := blockSignals()
	if err != nil {
		return 0, err
	}
	pid, err := syscall.ForkExec(c.Path, c.Args, &syscall.ProcAttr{
		Dir:   c.Dir,
		Env:   c.Env,
		Files: descriptors(c),
		Sys:   &syscall.SysProcAttr{Ptrace: true, Pdeathsig: t.onOurDeath(), Setpgid: c.Setpgid, Foreground: c.Foreground, Ctty: c.Ctty},
	})
	runtime.KeepAlive(c.Files)
	if e := unix.PthreadSigmask(unix.SIG_SETMASK, mask, nil); e != nil && err == nil {
		err = e
	}
	if err != nil {
		return 0, err
	}
	ws, ok := take(pid, true)
	if !ok || !ws.Stopped() {
		return 0, errDiedAtStart
	}
	if err := setSigmask(pid, mask); err != nil {
		end(pid)
		return 0, err
	}
	return pid, nil
}

// blockSignals blocks all signals of this thread but SIGTRAP, by which the kernel
// reports the execve, and returns the former mask.
func blockSignals() (*unix.Sigset_t, error) {
	var all, old unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	all.Val[0] &^= 1 << (unix.SIGTRAP - 1)
	return &old, unix.PthreadSigmask(unix.SIG_SETMASK, &all, &old)
}

// descriptors are the files' descriptors.
func descriptors(c Command) []uintptr {
	fds := make([]uintptr, len(c.Files))
	for i, f := range c.Files {
		fds[i] = ^uintptr(0)
		if f != nil {
			fds[i] = f.Fd()
		}
	}
	return fds
}

// convert turns the child's PTRACE_TRACEME into PTRACE_SEIZE, without which
// there is no interrupting it and no job control. The child runs no
// instruction in between: a SIGSTOP waits for it when it is let go.
func (t *Tracer) convert(pid int) (contSent bool, err error) {
	if err := unix.Tgkill(pid, pid, unix.SIGSTOP); err != nil {
		return false, err
	}
	detach(pid, 0)
	if err := t.seize(pid, traceFork); err != nil {
		return false, err
	}
	last, contSent := settle(pid)
	if !isPause(last) {
		return false, errDiedAtStart
	}
	return contSent, nil
}

// settle takes back the SIGSTOP that was sent to a process before it was seized,
// so that it would run no instruction, whether it has obeyed already or not. The
// process is left in an interrupt's stop, in which our death would let it run;
// or it has been killed, and last tells. If contSent, a SIGCONT is on its way to
// it, which the caller swallows.
func settle(pid int) (last unix.WaitStatus, contSent bool) {
	interrupt(pid)
	for stopSeen := false; ; {
		ws, ok := take(pid, true)
		if !ok || !ws.Stopped() || event(ws) == unix.PTRACE_EVENT_EXIT {
			return ws, contSent
		}
		var pass unix.Signal
		switch sig := ws.StopSignal(); {
		case event(ws) == unix.PTRACE_EVENT_STOP && isGroupStop(sig): // it had obeyed
			stopSeen, contSent = true, true
			unix.Kill(pid, unix.SIGCONT)
			interrupt(pid)
		case event(ws) == 0 && sig == unix.SIGSTOP: // it was seized first
			stopSeen = true
			interrupt(pid)
		case event(ws) == 0:
			pass = sig
		case stopSeen && isPause(ws):
			return ws, contSent
		}
		resume(pid, pass)
	}
}
