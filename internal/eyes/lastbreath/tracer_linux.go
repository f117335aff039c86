package lastbreath

import (
	"errors"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/words/sample"
)

const procRoot = "/proc"

// errClosed is the error of a method called after Close.
var errClosed = errors.New("tracer is closed")

// Tracer follows processes. The methods hand their work to its OSThread, and may be called
// from anywhere but a Handler.
type Tracer struct {
	*OSThread
	handler Handler
	options Options

	once   sync.Once     // of Close
	hung   chan struct{} // closed: a Handler did not return
	deaths sync.WaitGroup

	// The rest belongs to the OSThread.
	woke    time.Time // when the OSThread last had nothing to do, as it was when our turn began
	reading *task     // held at its exit while the Handler looks; nil: none
	waiting []func()  // what came meanwhile, in order
	left    bool      // it was closed, or its Handler hangs
}

// proc is a process that is followed.
type proc struct {
	tracer    *Tracer
	pid       int
	child     bool // of this process: we take its wait status
	goProgram bool
	// leaves means that what it starts is not followed, as Handler.Leaves tells.
	leaves bool
	// births means that its first thread is held when it makes another, as Handler.Thread tells.
	births bool
	// borrowed means that it uses its parent's memory, as between vfork and exec.
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

// NewTracer makes a Tracer, on Options.OSThread or one of its own. Close ends it.
func NewTracer(h Handler, o Options) (*Tracer, error) {
	t := &Tracer{OSThread: o.OSThread, options: o, hung: make(chan struct{})}
	if t.OSThread == nil {
		t.OSThread = NewOSThread()
		t.retiring.Store(true)
	}
	t.handler = t.patient(h)
	return t, t.OSThread.do(func() { t.tracers[t] = true })
}

// do runs f on the OSThread, in our turn.
func (t *Tracer) do(f func() error) error {
	result := make(chan error, 1)
	inTurn := func() {
		if t.left {
			result <- errClosed
			return
		}
		result <- f()
	}
	if err := t.OSThread.do(func() { t.inTurn(inTurn) }); err != nil {
		return err
	}
	select {
	case err := <-result:
		return err
	case <-t.done:
	case <-t.hung:
	}
	select {
	case err := <-result: // it was the last
		return err
	default:
		return errClosed
	}
}

// Close lets every process go and ends the Tracer; the programs live on. The
// status of those it started is not waited for any more. A second Close does
// nothing.
func (t *Tracer) Close() error {
	t.once.Do(func() {
		_ = t.do(func() error { t.leave(); return nil }) // one that hangs has taken leave
		t.deaths.Wait()
		if t.retiring.Load() {
			t.endIfUnused()
		}
	})
	return nil
}

func (h *OSThread) addTask(p *proc, tid int) *task {
	k := &task{tid: tid, proc: p}
	p.tasks[tid] = k
	h.tasks[tid] = k
	return k
}

func (h *OSThread) dropTask(k *task) {
	delete(k.proc.tasks, k.tid)
	delete(h.tasks, k.tid)
	if k.proc.quiet == k {
		k.proc.quiet = nil
	}
}

// letGo detaches from a stopped thread. It does not if the thread was killed
// while it stood, and has more to report: its exit (see resume).
func (h *OSThread) letGo(k *task, sig unix.Signal) (gone bool) {
	if peek(unix.P_PID, k.tid) != 0 || detach(k.tid, sig) != nil {
		return false
	}
	h.dropTask(k)
	return true
}
