package lastbreath

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/eyes/procfs"
)

// ErrFreeze says that not all threads of a process stood still in time.
var ErrFreeze = errors.New("its threads did not all stop in time")

// maxFrozen bounds the threads of a process: kernel.threads-max is below it.
const maxFrozen = 1 << 20

// WhileFrozen stops all threads of a process, calls look, and lets them go on. look
// must be back by the end of its context, which is limit after the first thread
// stood. The process sees no signal: its threads are seized and interrupted
// (ptrace(2)), and if this process dies they go on at once. A thread in a system
// call that is not to be restarted may see it end with EINTR, as after any stop.
//
// It returns for how long the process stood. A thread that cannot be stopped, in an
// uninterruptible call, makes it fail with ErrFreeze, and nothing was looked at.
func WhileFrozen(pid int, limit time.Duration, look func(context.Context, *Freeze) error) (stood time.Duration, err error) {
	onOwnThread(func() {
		z := freezer{pid: pid, limit: limit, tids: make(map[int]bool)}
		stood, err = z.run(look)
	})
	if err != nil {
		return stood, fmt.Errorf("stop process %d: %w", pid, err)
	}
	return stood, nil
}

// onOwnThread calls f on a thread that ends afterwards, and with which whatever it
// still traces is let go. The process's first thread cannot end before the process.
func onOwnThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked
		if unix.Gettid() == os.Getpid() {
			onOwnThread(f)
			runtime.UnlockOSThread()
			return
		}
		f()
	}()
	<-done
}

// freezer stops one process.
type freezer struct {
	pid      int
	limit    time.Duration
	tids     map[int]bool            // seized; true: it stands
	kept     map[int]unix.WaitStatus // threads that a Tracer follows, and what each stopped with
	pending  map[int]unix.Signal
	deadline time.Time
	freeze   Freeze
}

func (z *freezer) run(look func(context.Context, *Freeze) error) (time.Duration, error) {
	defer z.thaw()
	z.pending = make(map[int]unix.Signal)
	if err := z.stop(); err != nil {
		return z.stood(), err
	}
	return z.look(look)
}

// look calls back while all threads stand, and lets them go on.
func (z *freezer) look(look func(context.Context, *Freeze) error) (time.Duration, error) {
	z.freeze.Whole = time.Now()
	for tid := range z.tids {
		z.freeze.Threads = append(z.freeze.Threads, registersOf(tid))
	}
	for tid := range z.kept {
		z.freeze.Threads = append(z.freeze.Threads, registersOf(tid))
	}
	ctx, cancel := context.WithDeadline(context.Background(), z.deadline)
	defer cancel()
	err := look(ctx, &z.freeze)
	z.thaw()
	return z.stood(), err
}

func (z *freezer) stood() time.Duration {
	if z.freeze.Stopped.IsZero() {
		return 0
	}
	return time.Since(z.freeze.Stopped)
}

// stop seizes and interrupts every thread, and lists them again until none is new:
// a thread that still ran may have started another.
func (z *freezer) stop() error {
	for {
		fresh, err := z.seizeAll()
		if err != nil {
			return err
		}
		if fresh == 0 {
			return nil
		}
		if err := z.await(); err != nil {
			return err
		}
	}
}

// seizeAll interrupts the threads that are not yet seized.
func (z *freezer) seizeAll() (fresh int, err error) {
	tids, err := procfs.Threads(procRoot, z.pid)
	if err != nil {
		return 0, err
	}
	if len(tids) > maxFrozen {
		return 0, fmt.Errorf("it has %d threads", len(tids))
	}
	for _, tid := range tids {
		_, known := z.tids[tid]
		if _, kept := z.kept[tid]; known || kept {
			continue
		}
		switch err := seize(tid, 0); {
		case errors.Is(err, unix.ESRCH), errors.Is(err, unix.EPERM) && (z.kept != nil || !lives(tid)):
			continue // it has ended, or was born to a thread that is traced
		case err != nil:
			return 0, err
		}
		z.begins()
		z.tids[tid] = false
		fresh++
		if err := interrupt(tid); err != nil && !errors.Is(err, unix.ESRCH) {
			return 0, err
		}
	}
	return fresh, nil
}

// begins notes when the first thread stood.
func (z *freezer) begins() {
	if z.freeze.Stopped.IsZero() {
		z.freeze.Stopped = time.Now()
		z.deadline = z.freeze.Stopped.Add(z.limit)
	}
}

// await waits until all seized threads stand. A stop for a signal counts: the signal
// is given to the thread when it is let go.
func (z *freezer) await() error {
	for tid, stands := range z.tids {
		for !stands {
			ws, ok := take(tid, false)
			switch {
			case ok && ws.Stopped():
				stands = true
				z.tids[tid] = true
				if event(ws) == 0 {
					z.pending[tid] = ws.StopSignal()
				}
			case ok: // it has ended
				delete(z.tids, tid)
				stands = true
			case time.Now().After(z.deadline):
				return ErrFreeze
			case !lives(tid): // a first thread reports its end after all others
				delete(z.tids, tid)
				stands = true
			default:
				time.Sleep(20 * time.Microsecond)
			}
		}
	}
	return nil
}

// thaw lets the threads go on. One that does not stand yet goes when this thread
// ends.
func (z *freezer) thaw() {
	for tid, stands := range z.tids {
		if stands {
			detach(tid, z.pending[tid])
		}
	}
	clear(z.tids)
}
