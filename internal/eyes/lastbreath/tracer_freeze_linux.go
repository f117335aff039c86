package lastbreath

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/eyes/procfs"
)

// WhileFrozen is what the function of that name is, for a process that the Tracer
// follows: a thread has one tracer. look is waited for by the Tracer and must not
// call the Tracer; nothing that happens to other processes is noticed meanwhile. A
// process that dies while it stands is held at its exit afterwards, as ever. One
// that is not followed is frozen all the same.
func (t *Tracer) WhileFrozen(pid int, limit time.Duration, look func(context.Context, *Freeze) error) (stood time.Duration, err error) {
	err = t.do(func() error {
		z := freezer{pid: pid, limit: limit, tids: map[int]bool{}, kept: map[int]unix.WaitStatus{}, pending: map[int]unix.Signal{}}
		stood, err = t.freeze(&z, t.looked(limit, look))
		return err
	})
	if err != nil {
		return stood, fmt.Errorf("stop process %d: %w", pid, err)
	}
	return stood, nil
}

// errEnding says that a process cannot be frozen, as it is at its end.
var errEnding = errors.New("it is ending")

// freeze stops the threads that are followed, then the others. What the first had to
// report is handled when they go on.
func (t *Tracer) freeze(z *freezer, look func(context.Context, *Freeze) error) (time.Duration, error) {
	p := t.procs[z.pid]
	defer t.handOver(z)
	defer z.thaw()
	defer t.leaveLate(z)
	if p == nil {
		p = &proc{tracer: t}
	}
	if p.dying || p.borrowed {
		return 0, errEnding
	}
	if err := t.stopFollowed(z, p); err != nil {
		return z.stood(), err
	}
	if err := t.stopRest(z, p); err != nil {
		return z.stood(), err
	}
	return z.look(look)
}

// stopFollowed stops the threads of a process that are traced. Where one is at its
// exit or at an execve there is something better to do.
func (t *Tracer) stopFollowed(z *freezer, p *proc) error {
	for tid := range p.tasks {
		z.begins()
		interrupt(tid)
	}
	for tid := range p.tasks {
		if err := z.keep(tid); err != nil {
			return err
		}
	}
	return nil
}

// keep waits for the report of a traced thread, and keeps it.
func (z *freezer) keep(tid int) error {
	for {
		ws, ok := take(tid, false)
		switch {
		case ok:
			z.kept[tid] = ws
			if e := event(ws); !ws.Stopped() || e == unix.PTRACE_EVENT_EXIT || e == unix.PTRACE_EVENT_EXEC {
				return errEnding
			}
			return nil
		case time.Now().After(z.deadline):
			return ErrFreeze
		case !lives(tid):
			return errEnding
		}
		time.Sleep(20 * time.Microsecond)
	}
}

// stopRest stops the threads that the kernel has attached to us at their birth, and
// seizes those that are not traced, as in a Go program of which one is. An execve in
// one of these would wait, with the lock that PTRACE_SEIZE takes, for the traced ones
// to end, and they for us: while it may do that they are not held at their exit. A
// process that is killed in this millisecond has no last breath.
func (t *Tracer) stopRest(z *freezer, p *proc) error {
	for loose := false; ; {
		born, others, err := t.unstopped(z)
		if err != nil || born+others == 0 {
			return err
		}
		if others == 0 {
			continue
		}
		if !loose {
			loose = true
			t.setAll(z, func(*task) int { return 0 })
			defer t.setAll(z, t.optionsOfTask)
		}
		switch seized, err := z.seizeAll(); {
		case err != nil:
			return err
		case seized == 0 && time.Now().After(z.deadline):
			return ErrFreeze // somebody else traces one
		}
		if err := z.await(); err != nil {
			return err
		}
	}
}

// unstopped stops those that were just born, and counts the others that do not stand
// yet.
func (t *Tracer) unstopped(z *freezer) (born, others int, err error) {
	tids, err := procfs.Threads(procRoot, z.pid)
	if err != nil {
		return 0, 0, err
	}
	for _, tid := range tids {
		_, known := z.tids[tid]
		if _, kept := z.kept[tid]; kept || known {
			continue
		}
		if ws, ok := t.newborns[tid]; ok { // it stands since its birth
			z.kept[tid] = ws
			continue
		}
		if !t.isNewborn(tid) {
			if lives(tid) {
				others++
			}
			continue
		}
		born++
		if err := z.keep(tid); err != nil {
			return 0, 0, err
		}
	}
	return born, others, nil
}

// setAll sets the options of the followed threads, which stand.
func (t *Tracer) setAll(z *freezer, options func(*task) int) {
	for tid := range z.kept {
		if k := t.tasks[tid]; k != nil {
			t.setOptions(tid, options(k))
		}
	}
}

// optionsOfTask is how a thread is traced that has been so from its first stop on.
func (t *Tracer) optionsOfTask(k *task) int {
	switch {
	case k.options != 0:
		return k.options
	case k.proc.narrow:
		return traceExit
	}
	return t.optionsOf(k.proc)
}

// leaveLate lets those that did not stand in time go once they do.
func (t *Tracer) leaveLate(z *freezer) {
	p := t.procs[z.pid]
	if p == nil {
		p = &proc{tracer: t, pid: z.pid, stranger: true, tasks: map[int]*task{}}
	}
	for tid, stands := range z.tids {
		if !stands {
			t.addTask(p, tid).leaving = true
		}
	}
}

// handOver handles what was reported meanwhile.
func (t *Tracer) handOver(z *freezer) {
	for tid, ws := range z.kept {
		if _, waits := t.newborns[tid]; !waits {
			t.handle(tid, ws)
		}
	}
}
