package lastbreath

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
)

// allStand checks that the threads of a process stand, each with its registers.
func allStand(t *testing.T, pid int, z *Freeze) {
	t.Helper()
	tids, err := procfs.Threads(procRoot, pid)
	if err != nil || len(z.Threads) != len(tids) {
		t.Errorf("%d threads are frozen of %d, %v", len(z.Threads), len(tids), err)
	}
	for _, tid := range tids {
		if st, err := procfs.StateOf(procRoot, tid); err != nil || st != 't' {
			t.Errorf("thread %d is in state %c, %v", tid, st, err)
		}
	}
	for _, th := range z.Threads {
		if th.PC == 0 || th.SP == 0 {
			t.Errorf("registers of thread %d: %+v", th.TID, th)
		}
	}
}

func TestAFollowedProcessIsFrozenAndFollowedOn(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	for name, f := range everyFollowing {
		for _, mode := range []string{"wait", "churn"} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				tracer, log := newTracer(t, Options{FollowForks: f}, nil)
				p := start(t, tracer, target, mode)
				log.expect(p.ready(t))
				for range 20 {
					stood, err := tracer.WhileFrozen(p.pid, time.Minute, func(_ context.Context, z *Freeze) error {
						allStand(t, p.pid, z)
						return nil
					})
					if err != nil || stood <= 0 {
						t.Fatalf("stood for %v: %v", stood, err)
					}
				}
				p.answers(t)
				unix.Kill(p.pid, unix.SIGKILL)
				log.wait(t, fmt.Sprintf("dying %d signal 9, intact", p.pid))
				log.wait(t, fmt.Sprintf("gone %d signal 9", p.pid))
			})
		}
	}
}

func TestASeizedProcessIsFrozen(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	p, pid := startPlain(t)
	tracer, log := newTracer(t, Options{FollowForks: Never}, nil)
	if err := tracer.Seize(keyOf(t, pid), true); err != nil {
		t.Fatal(err)
	}
	if _, err := tracer.WhileFrozen(pid, time.Minute, func(_ context.Context, z *Freeze) error { allStand(t, pid, z); return nil }); err != nil {
		t.Error(err)
	}
	if traced, _ := tracedThreads(t, pid); traced != 1 {
		t.Errorf("%d threads are traced afterwards", traced)
	}
	p.answers(t)
	unix.Kill(pid, unix.SIGKILL)
	log.wait(t, fmt.Sprintf("dying %d signal 9", pid))
}

func TestAProcessKilledWhileItIsFrozenIsHeldAfterwards(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	for name, f := range everyFollowing {
		t.Run(name, func(t *testing.T) {
			tracer, log := newTracer(t, Options{FollowForks: f}, nil)
			p := start(t, tracer, target, "churn")
			log.expect(p.ready(t))
			if _, err := tracer.WhileFrozen(p.pid, time.Minute, func(context.Context, *Freeze) error { return unix.Kill(p.pid, unix.SIGKILL) }); err != nil {
				t.Error(err)
			}
			log.wait(t, fmt.Sprintf("dying %d signal 9, intact", p.pid))
			log.wait(t, fmt.Sprintf("gone %d signal 9", p.pid))
		})
	}
}

func TestThreadsThatComeAndGoAreFrozenWithTheRest(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	for name, f := range everyFollowing {
		t.Run(name, func(t *testing.T) {
			tracer, log := newTracer(t, Options{FollowForks: f}, nil)
			p := start(t, tracer, target, "crowd", "300")
			p.ready(t)
			frozen := 0
			for range 20 {
				_, err := tracer.WhileFrozen(p.pid, time.Minute, func(_ context.Context, z *Freeze) error { frozen += len(z.Threads); return nil })
				if gone := fmt.Sprintf("dying %d exit 0", p.pid); slices.Contains(log.all(), gone) {
					break
				} else if err != nil && !errors.Is(err, errEnding) && !errors.Is(err, procfs.ErrGone) {
					t.Fatal(err)
				}
			}
			log.wait(t, fmt.Sprintf("gone %d exit 0", p.pid))
			if frozen == 0 {
				t.Error("it never stood")
			}
		})
	}
}
