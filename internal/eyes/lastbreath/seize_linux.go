package lastbreath

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Seize follows a process that runs already, and is told of nothing that
// happened before. One that is stopped stays stopped. A process that is followed
// already stays as it is. The error is procfs.ErrGone where the process has
// ended, though another may have its pid, and EPERM where it may not be traced
// or somebody else traces it.
func (t *Tracer) Seize(key sample.ProcessKey, goProgram bool) error {
	return t.do(func() error {
		if p := t.procs[key.PID]; p != nil && p.tracer == t {
			return nil
		} else if p != nil {
			return fmt.Errorf("seize process %d: %w", key.PID, unix.EPERM)
		}
		p := &proc{tracer: t, pid: key.PID, goProgram: goProgram, leaves: t.leaves(key.PID), tasks: map[int]*task{}}
		err := t.attach(p, 0)
		switch {
		case errors.Is(err, unix.EPERM) && t.isNewborn(key.PID):
			return nil
		case err == nil && !p.is(key):
			t.sendAway(p, true)
			err = procfs.ErrGone
		}
		if err != nil {
			return fmt.Errorf("seize process %d: %w", key.PID, err)
		}
		t.procs[key.PID] = p
		return nil
	})
}

// Reseize chooses the thread of a seized process anew: it has turned out to run a
// Go program, which it became between being looked at and being seized. The one
// that is traced has to stop for it and is let go first.
func (t *Tracer) Reseize(pid int) error {
	return t.do(func() error {
		p := t.procs[pid]
		if p == nil || p.goProgram || len(p.tasks) != 1 {
			return nil // gone, or known already
		}
		p.goProgram, p.again = true, true
		for tid, k := range p.tasks {
			k.leaving = true
			interrupt(tid)
		}
		return nil
	})
}

// isNewborn says that a process is a child of one that is followed, whose birth is
// still to be reported: the kernel has attached it to us.
func (h *OSThread) isNewborn(pid int) bool {
	tracer, err := procfs.TracerOf(procRoot, pid)
	return err == nil && tracer == h.tid
}

// is says that what was seized is the process that was meant: a pid or a thread's
// id may have been used again before it was.
func (p *proc) is(key sample.ProcessKey) bool {
	now, err := procfs.KeyOf(procRoot, p.pid)
	if err != nil || now != key {
		return false
	}
	for tid := range p.tasks {
		if pid, err := procfs.ProcessOf(procRoot, tid); err != nil || pid != p.pid {
			return false
		}
	}
	return true
}

// sendAway lets a process go as soon as it has stopped, which it has to at once if now.
func (t *Tracer) sendAway(p *proc, now bool) {
	p.stranger = true
	for tid := range p.tasks {
		if now {
			interrupt(tid)
		}
	}
}

// attach traces the thread of a process that is to be traced, but not one that
// is just ending (0: none is). No thread of it may be traced at that time: an
// execve in another thread would hold the lock that PTRACE_SEIZE takes
// (cred_guard_mutex) until the traced ones have been let go, which nobody could
// do.
func (t *Tracer) attach(p *proc, ending int) error {
	tid, err := t.choose(p, ending)
	if err != nil {
		return err
	}
	options := t.optionsOf(p)
	p.narrow = p.goProgram && tid != p.pid && t.options.FollowForks != Always
	if p.narrow {
		options = traceExit
	}
	if err := t.seize(tid, options); errors.Is(err, unix.EPERM) && !lives(tid) {
		return t.attach(p, ending) // it has ended meanwhile
	} else if err != nil {
		return err
	}
	if k := t.addTask(p, tid); p.narrow {
		p.quiet = k
	}
	return nil
}

// choose is the thread to trace: the second of a Go program, else the first; but
// none that has ended, nor the one that is just ending.
func (t *Tracer) choose(p *proc, ending int) (int, error) {
	living := firstLiving(p.pid, ending, 2)
	switch {
	case len(living) == 0:
		return 0, procfs.ErrGone
	case p.goProgram && len(living) > 1 && living[0] == p.pid:
		return living[1], nil
	}
	return living[0], nil
}

// optionsOf is how the first thread of a process is traced, and with traceAll
// every other that comes.
func (t *Tracer) optionsOf(p *proc) int {
	switch {
	case p.leaves && p.goProgram:
		return traceThreads
	case p.leaves:
		return traceExit
	}
	if p.goProgram || p.births || t.options.FollowForks == Always {
		return traceAll
	}
	return traceFork
}
