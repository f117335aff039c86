package lastbreath

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestNobodyIsHeldByAHandlerThatHangs(t *testing.T) {
	for name, hang := range map[string]func(h *Handler, pid int, wait func()){
		"at an execve": func(h *Handler, _ int, wait func()) { h.Exec = func(int) bool { wait(); return true } },
		"at a death": func(h *Handler, pid int, wait func()) {
			h.Dying = func(d Death) {
				if d.PID == pid {
					wait()
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			hostile, at := startPlain(t)
			innocent, pid := startPlain(t)
			entered, never := make(chan struct{}), make(chan struct{})
			defer close(never)
			var h Handler
			hang(&h, at, func() { close(entered); <-never })
			hwtest.Slow(t, "traces a program")
			tracer, err := NewTracer(h, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range []int{at, pid} {
				if err := tracer.Seize(keyOf(t, id), true); err != nil {
					t.Fatal(err)
				}
			}
			if h.Exec != nil {
				go tracer.Start(Command{Path: target, Args: []string{target, "wait"}})
			} else {
				unix.Kill(at, unix.SIGKILL)
			}
			<-entered
			unix.Kill(pid, unix.SIGKILL) // it is traced, and its tracer waits
			var ws unix.WaitStatus
			for _, p := range []*program{innocent, hostile} {
				if p == hostile && h.Exec != nil {
					continue // it lives
				}
				for ws = 0; ; {
					if _, err := unix.Wait4(p.pid, &ws, 0, nil); err != unix.EINTR {
						break
					}
				}
				if ws.Signal() != unix.SIGKILL {
					t.Errorf("it ended with %v, want its SIGKILL", ws)
				}
			}
			<-tracer.Stuck()
			if err := tracer.Seize(sample.ProcessKey{PID: pid}, true); !errors.Is(err, errClosed) {
				t.Errorf("a Tracer that took leave says %v, want %v", err, errClosed)
			}
			if h.Exec != nil {
				until(t, func() bool { traced, _ := tracedThreads(t, at); return traced == 0 })
			}
			if err := tracer.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAHandlerThatIsAtWorkIsWaitedFor(t *testing.T) {
	l := log{news: make(chan struct{})}
	hwtest.Slow(t, "traces a program")
	tracer, err := NewTracer(Handler{
		Exec: func(int) bool {
			const long = stuckAfter + stuckAfter/2
			for began := time.Now(); time.Since(began) < long; {
			}
			return false
		},
		Gone: func(pid int, s sample.Opt[Status]) { l.add("gone %d %v", pid, s.V) },
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tracer.Close()
	pid, err := tracer.Start(Command{Path: "/bin/true", Args: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	l.wait(t, fmt.Sprintf("gone %d exit 0", pid))
}
