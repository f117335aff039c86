package lastbreath

import (
	"errors"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

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
	hung    chan struct{} // closed: a Handler did not return

	releases sync.WaitGroup // of killed processes, see release

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
	// leaves: what it starts is not followed, as Handler.Leaves tells.
	leaves bool
	// births: its first thread is held when it makes another, as Handler.Thread tells.
	births bool
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
		options:  o,
		work:     make(chan func()),
		sigchld:  make(chan os.Signal, 1),
		closing:  make(chan struct{}),
		done:     make(chan struct{}),
		hung:     make(chan struct{}),
		tasks:    map[int]*task{},
		procs:    map[int]*proc{},
		newborns: map[int]unix.WaitStatus{},
	}
	t.handler = t.patient(h)
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
		if t.stuck() {
			t.leave()
			return
		}
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
	t.releases.Wait()
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
