// Package lastbreath follows programs to their end. It starts a program, or
// takes one that runs, follows it through exec and fork, and holds each process
// at its exit, when it can do nothing any more but its memory is still there to
// be read: after SIGKILL, a crash, or a plain return from main.
//
// It does so by ptrace (PTRACE_SEIZE and PTRACE_O_TRACEEXIT, ptrace(2)). To hold
// a process one traced thread is enough; to follow a child from its first
// instruction the thread that forks must be traced, in Go programs any. But
// every signal to a traced thread stops it for a moment, and Go's scheduler
// preempts by signals: hardly any in a program that starts others and waits
// for them, 50 a second in each busy thread. So all threads of a Go program are
// traced from its exec on, within a budget of stops. A program that exceeds it is
// narrowed: the runtime's second thread, sysmon, which is never preempted, stays
// traced, the others are let go, for good. (To widen again would be to seize
// threads while one is traced, which can deadlock with an execve.) Of any
// program that is no Go program the first thread is traced, and within the same
// budget held when it makes another, which is let go: it may be that of a Go library.
//
// The program is sacred. It sees no signal that is not its own, and if the
// tracing process dies, also by kill -9, the kernel lets the programs go and
// they live on; PTRACE_O_EXITKILL is used where Options.EndWithUs asks for it alone.
// Nobody is held by a Handler that hangs, as a read of memory that never answers may:
// the Tracer waits for it elsewhere than on its own thread, and after two seconds in
// which it did nothing lets go of all.
// The one exception is the start: a program that has not run an instruction is
// held by a SIGSTOP for 30 us, and stays stopped if the tracing process is killed
// right then.
//
// What it does not do: it reads no memory, says nothing of who sent a signal
// (the cgroup's oom_kill counter knows), and does not debug. Linux only.
package lastbreath

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// HoldOOM is how long a process that was killed by SIGKILL may be held: the
// kernel's OOM reaper takes its pages 2 s after the kill, held or not
// (mm/oom_kill.c, OOM_REAPER_DELAY, since Linux 5.18), and other tasks of its
// cgroup wait for its memory meanwhile.
const HoldOOM = 1800 * time.Millisecond

// Handler is what the Tracer tells, any of it may be nil. Its functions are called
// one at a time, and must not call the Tracer. Meanwhile the thread that the call is
// about stands still, and nothing that happens to other processes of the same Tracer is
// noticed: a traced thread of theirs that gets a signal waits. Those of other Tracers on
// the same OSThread wait for any function but Dying. So none may take long: of
// one that does not return the Tracer takes leave (Stuck).
type Handler struct {
	// Exec says that a process has become a new program and has not run an
	// instruction of it. The result says whether it is a Go program. Where a
	// thread that is not traced called execve, as in Go programs that have been
	// narrowed, the process may be caught some instructions later.
	Exec func(pid int) (goProgram bool)
	// Leaves is asked of a process after Exec, and when it is seized: whether what it
	// starts is not followed, because it traces that itself. A thread has one tracer.
	Leaves func(pid int) bool
	// Fork says that a process that is followed has a child, followed as well.
	Fork func(parent, child int)
	// Thread says that a program that is no Go program, and that was followed from its
	// exec, makes a thread, which has not run an instruction: both threads stand still.
	// The result says whether to tell of its next thread, too; after many no more is
	// told. Only of threads that the process's first one makes.
	Thread func(pid int) (more bool)
	// Narrowed says that one thread of a Go program stays traced from now on, so
	// that children it starts are not told of.
	Narrowed func(pid int)
	// Dying says that a process is held at its exit.
	Dying func(Death)
	// Gone says that a process has ended. The status of a process that this one
	// started is the one that wait gave; of another it is what was known when it
	// was held, absent if it was not.
	Gone func(pid int, status sample.Opt[Status])
	// Lost says that a process is no longer followed, though it may live on.
	Lost func(pid int, why error)
}

// ErrStuck says that a Handler did not return, and that every process was let go.
var ErrStuck = errors.New("a read of it hangs, as of a file server that does not answer: it was let go")

// Death is a process held at its exit. Its memory, ROOT/TID/mem and the other
// files of ROOT/TID, is complete and stands still until the handler returns.
// Files of ROOT/PID may be empty already: its first thread may have ended.
type Death struct {
	PID, TID int
	Status   Status
	// Deadline is until when the handler should have returned; zero: at leisure.
	Deadline time.Time
}

// Status is how a process ended.
type Status struct {
	Signal int // 0: by an exit
	Code   int // exit code
	Core   bool
}

// statusOf parses the code that wait and PTRACE_GETEVENTMSG give (wait(2)).
func statusOf(code uint) Status {
	return Status{Signal: int(code & 0x7f), Code: int(code >> 8 & 0xff), Core: code&0x80 != 0}
}

// String is "exit 3", "signal 9", "signal 11 (core dumped)".
func (s Status) String() string {
	switch {
	case s.Signal == 0:
		return fmt.Sprintf("exit %d", s.Code)
	case s.Core:
		return fmt.Sprintf("signal %d (core dumped)", s.Signal)
	}
	return fmt.Sprintf("signal %d", s.Signal)
}

// Options is how a Tracer follows; its zero value is what to use.
type Options struct {
	FollowForks Following
	// EndWithUs has the kernel kill every process that is traced when this process
	// dies without Close: for programs that were started to be measured, and are
	// nobody's work. Children that are not followed live on.
	EndWithUs bool
	// OSThread is shared with other Tracers; nil: the Tracer has its own.
	OSThread *OSThread
}

// Following is how long all threads of a Go program are traced, so that a child
// it starts is followed from its first instruction. Afterwards, and in programs
// that ran already when they were seized, such a child is followed once somebody
// calls Seize.
type Following int

const (
	// WithinBudget is until the program is stopped for more than 5 signals a
	// second, or 60 at once.
	WithinBudget Following = iota
	// Always costs a stop for every signal of a busy program's life.
	Always
	// Never traces sysmon alone once it is there.
	Never
)

// Command is a program to start.
type Command struct {
	Path string // of the executable; not searched for
	Args []string
	Env  []string
	Dir  string
	// Files become descriptors 0, 1, 2, ...; a nil one stays closed.
	Files []*os.File
	// Setpgid puts the program in a process group of its own, Foreground makes
	// that the foreground group of the terminal at descriptor Ctty.
	Setpgid    bool
	Foreground bool
	Ctty       int
	// BeforeRun is called on the Tracer's thread before the program's first
	// instruction and before Handler.Exec. If it fails the program is killed,
	// and Start fails with its error.
	BeforeRun func(pid int) error
}
