package lastbreath

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
)

func TestAFrozenProcessStandsWholeAndGoesOn(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	p, pid := startPlain(t)
	for range 3 {
		stood, err := WhileFrozen(pid, time.Minute, func(_ context.Context, z *Freeze) error {
			tids, err := procfs.Threads(procRoot, pid)
			if err != nil {
				return err
			}
			if len(z.Threads) != len(tids) {
				t.Errorf("%d threads are frozen of %d", len(z.Threads), len(tids))
			}
			for _, tid := range tids {
				if st, err := procfs.StateOf(procRoot, tid); err != nil || st != 't' {
					t.Errorf("thread %d is in state %c, %v", tid, st, err)
				}
			}
			for _, th := range z.Threads {
				if th.PC == 0 || th.SP == 0 || len(th.Words) == 0 {
					t.Errorf("registers of thread %d: %+v", th.TID, th)
				}
			}
			return nil
		})
		if err != nil || stood <= 0 {
			t.Errorf("stood for %v: %v", stood, err)
		}
		if traced, _ := tracedThreads(t, pid); traced != 0 {
			t.Errorf("%d threads are still traced", traced)
		}
	}
	p.answers(t)
}

func TestAFreezeEndsAtItsLimit(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	p, pid := startPlain(t)
	_, err := WhileFrozen(pid, time.Millisecond, func(ctx context.Context, _ *Freeze) error {
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ErrFreeze) {
		t.Errorf("a look that takes too long: %v", err)
	}
	until(t, func() bool { traced, _ := tracedThreads(t, pid); return traced == 0 })
	p.answers(t)
}

func TestAProcessThatIsNotThereIsNotFrozen(t *testing.T) {
	if _, err := WhileFrozen(1<<22+1, time.Second, nil); err == nil {
		t.Error("a process that does not exist was frozen")
	}
}
