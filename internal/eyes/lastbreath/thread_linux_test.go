package lastbreath

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// shared makes a Tracer on a thread, whose deaths are told by look.
func shared(t *testing.T, h *OSThread, l *log, look func(Death)) *Tracer {
	t.Helper()
	hwtest.Slow(t, "traces a program")
	tracer, err := NewTracer(Handler{
		Dying: look,
		Gone:  func(pid int, s sample.Opt[Status]) { l.add("gone %d %v", pid, s.V) },
	}, Options{FollowForks: Never, OSThread: h})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tracer.Close() })
	return tracer
}

// Many programs of one watcher are killed together: each is held from its own exit on,
// while the others are still looked at.
func TestDeathsOfSeveralTracersAreHeldAtTheSameTime(t *testing.T) {
	const programs = 20
	h := NewOSThread()
	l := log{news: make(chan struct{})}
	standing, all := make(chan int, programs), make(chan struct{})
	var pids []int
	for range programs {
		_, pid := startPlain(t)
		tracer := shared(t, h, &l, func(d Death) {
			standing <- d.PID
			<-all // no death ends before the last one is held
		})
		if err := tracer.Seize(keyOf(t, pid), true); err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	for _, pid := range pids {
		unix.Kill(pid, unix.SIGKILL)
	}
	held := map[int]bool{}
	for range programs {
		select {
		case pid := <-standing:
			held[pid] = isHeld(pid)
		case <-time.After(stuckAfter):
			t.Fatalf("%d of %d programs are held at once", len(held), programs)
		}
	}
	close(all)
	for _, pid := range pids {
		if !held[pid] {
			t.Errorf("%d did not stand at its exit", pid)
		}
		l.wait(t, fmt.Sprintf("gone %d signal 9", pid))
	}
}

func TestATracerThatHangsTakesNoOtherWithIt(t *testing.T) {
	h := NewOSThread()
	l := log{news: make(chan struct{})}
	never := make(chan struct{})
	defer close(never)
	_, hostile := startPlain(t)
	_, beside := startPlain(t)
	_, innocent := startPlain(t)
	hangs := shared(t, h, &l, func(Death) { <-never })
	looked := make(chan bool, 1)
	looks := shared(t, h, &l, func(d Death) { looked <- isHeld(d.PID) })
	for _, one := range []struct {
		tracer *Tracer
		pid    int
	}{{hangs, hostile}, {hangs, beside}, {looks, innocent}} {
		if err := one.tracer.Seize(keyOf(t, one.pid), true); err != nil {
			t.Fatal(err)
		}
	}
	unix.Kill(hostile, unix.SIGKILL)
	<-hangs.Stuck()
	until(t, func() bool { traced, _ := tracedThreads(t, beside); return traced == 0 })
	if err := hangs.Seize(keyOf(t, beside), true); err == nil {
		t.Error("a Tracer that took leave follows a program")
	}
	unix.Kill(innocent, unix.SIGKILL)
	if !<-looked {
		t.Error("a program of another Tracer was not held at its exit")
	}
	l.wait(t, fmt.Sprintf("gone %d signal 9", innocent))
}

func TestATracerOfSeveralLetsItsOwnProgramsGo(t *testing.T) {
	h := NewOSThread()
	l := log{news: make(chan struct{})}
	_, one := startPlain(t)
	_, other := startPlain(t)
	first, second := shared(t, h, &l, nil), shared(t, h, &l, nil)
	for tracer, pid := range map[*Tracer]int{first: one, second: other} {
		if err := tracer.Seize(keyOf(t, pid), true); err != nil {
			t.Fatal(err)
		}
	}
	if err := second.Seize(keyOf(t, one), true); err == nil {
		t.Error("a program has two Tracers")
	}
	first.Close()
	until(t, func() bool { traced, _ := tracedThreads(t, one); return traced == 0 })
	if traced, _ := tracedThreads(t, other); traced != 1 {
		t.Errorf("%d threads of the other program are traced, want 1", traced)
	}
	if err := second.Seize(keyOf(t, one), true); err != nil {
		t.Errorf("what was let go cannot be followed again: %v", err)
	}
	h.Retire()
	second.Close()
	for _, pid := range []int{one, other} {
		until(t, func() bool { traced, _ := tracedThreads(t, pid); return traced == 0 })
	}
	if _, err := NewTracer(Handler{}, Options{OSThread: h}); err == nil {
		t.Error("a thread that has ended takes a Tracer")
	}
}
