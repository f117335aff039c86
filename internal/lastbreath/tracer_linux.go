package lastbreath

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/procfs"
	"github.com/highwater-go/highwater/internal/sample"
)

const procRoot = "/proc"

// Tracer follows processes. All of ptrace belongs to the OS thread that
// attached, so one goroutine keeps a thread of its own for the Tracer's life;
// the methods hand their work to it and may be called from anywhere but a
// Handler.
type Tracer struct {
	handler Handler
	options Options

	work    chan func()
	sigchld chan os.Signal
	closing chan struct{}
	once    sync.Once // closes closing
	done    chan struct{}

	tid int // of the Tracer's thread, set before done is closed

	// The rest belongs to the Tracer's thread.
	woke     time.Time // when it last had nothing to do
	tasks    map[int]*task
	procs    map[int]*proc
	newborns map[int]unix.WaitStatus // first stops of threads whose birth is not yet reported
	leaving  bool
}

// proc is a process that is followed.
type proc struct {
	pid       int
	child     bool // of this process: we take its wait status
	goProgram bool
	// borrowed: it uses its parent's memory, as between vfork and exec.
	borrowed bool
	dying    bool // Dying was told
	stranger bool // seized by mistake, and to be let go without a word
	again    bool // its thread is to be let go and another chosen
	status   sample.Opt[Status]
	tasks    map[int]*task

	// All threads of a Go program are traced, or it is narrow.
	narrow bool
	quiet  *task // the thread that stays when it is narrowed; nil: not known
	spent  budget
}

// task is a thread that is traced.
type task struct {
	tid     int
	proc    *proc
	options int         // to be set at its first stop; 0: set already
	swallow unix.Signal // sent by us, not to be seen by the program
	caught  bool        // attached in the midst of an execve, its new program not yet told of
	leaving bool        // to be let go when it stops
}

// NewTracer starts a Tracer. Close ends it.
func NewTracer(h Handler, o Options) (*Tracer, error) {
	t := &Tracer{
		handler:  h,
		options:  o,
		work:     make(chan func()),
		sigchld:  make(chan os.Signal, 1),
		closing:  make(chan struct{}),
		done:     make(chan struct{}),
		tasks:    map[int]*task{},
		procs:    map[int]*proc{},
		newborns: map[int]unix.WaitStatus{},
	}
	signal.Notify(t.sigchld, unix.SIGCHLD)
	go t.run()
	return t, nil
}

// run is the life of the Tracer's thread. It is never unlocked: the thread ends
// with the goroutine, and whatever it may still trace then is let go by the
// kernel.
func (t *Tracer) run() {
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		// The process's first thread cannot end before the process.
		go t.run()
		<-t.done
		return
	}
	defer close(t.done)
	defer signal.Stop(t.sigchld)
	t.tid = unix.Gettid()
	for {
		t.drain()
		select {
		case f := <-t.work:
			t.woke = time.Now()
			f()
		case <-t.sigchld:
			t.woke = time.Now()
		case <-t.closing:
			t.leave()
			return
		}
	}
}

// errClosed is the error of a method called after Close.
var errClosed = errors.New("tracer is closed")

// do runs f on the Tracer's thread.
func (t *Tracer) do(f func() error) error {
	result := make(chan error, 1)
	select {
	case t.work <- func() { result <- f() }:
		return <-result
	case <-t.done:
		return errClosed
	}
}

// Close lets every process go and ends the Tracer; the programs live on. The
// status of those it started is not waited for any more. A second Close does
// nothing.
func (t *Tracer) Close() error {
	t.once.Do(func() { close(t.closing) })
	<-t.done
	for unix.Tgkill(os.Getpid(), t.tid, 0) == nil {
		time.Sleep(50 * time.Microsecond)
	}
	return nil
}

// leave lets the threads go that stand, each with its signal. The others need not
// stop for it, as they would for PTRACE_DETACH: the kernel detaches from them
// when our thread ends (kernel/ptrace.c, exit_ptrace), which they do not notice.
func (t *Tracer) leave() {
	t.leaving = true
	for tid := range t.newborns {
		detach(tid, 0)
	}
	t.drain()
}

// Seize follows a process that runs already, and is told of nothing that
// happened before. One that is stopped stays stopped. A process that is followed
// already stays as it is. The error is procfs.ErrGone where the process has
// ended, though another may have its pid, and EPERM where it may not be traced
// or somebody else traces it.
func (t *Tracer) Seize(key sample.ProcessKey, goProgram bool) error {
	return t.do(func() error {
		if t.procs[key.PID] != nil {
			return nil
		}
		p := &proc{pid: key.PID, goProgram: goProgram, tasks: map[int]*task{}}
		err := t.attach(p, 0)
		switch {
		case err == unix.EPERM && t.isNewborn(key.PID):
			return nil
		case err == nil && !p.is(key):
			t.sendAway(p)
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
func (t *Tracer) isNewborn(pid int) bool {
	tracer, err := procfs.TracerOf(procRoot, pid)
	return err == nil && tracer == t.tid
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

// sendAway lets a process go as soon as it has stopped.
func (t *Tracer) sendAway(p *proc) {
	p.stranger = true
	for tid := range p.tasks {
		interrupt(tid)
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
	if err := seize(tid, options); err == unix.EPERM && !lives(tid) {
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
	if p.goProgram || t.options.FollowForks == Always {
		return traceAll
	}
	return traceFork
}

func (t *Tracer) addTask(p *proc, tid int) *task {
	k := &task{tid: tid, proc: p}
	p.tasks[tid] = k
	t.tasks[tid] = k
	return k
}

func (t *Tracer) dropTask(k *task) {
	delete(k.proc.tasks, k.tid)
	delete(t.tasks, k.tid)
	if k.proc.quiet == k {
		k.proc.quiet = nil
	}
}

// letGo detaches from a stopped thread. It does not if the thread was killed
// while it stood, and has more to report: its exit (see resume).
func (t *Tracer) letGo(k *task, sig unix.Signal) (gone bool) {
	if peek(unix.P_PID, k.tid) != 0 || detach(k.tid, sig) != nil {
		return false
	}
	t.dropTask(k)
	return true
}
