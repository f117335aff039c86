package lastbreath

import (
	"context"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

const (
	// stuckAfter is how long a Handler may take beyond what it was given. Afterwards,
	// unless it is at work, whatever is traced is let go: a Handler reads files and
	// memory of programs, which may never answer, and nobody may be held for that.
	stuckAfter = 2 * time.Second
	// stuckAtLast is how long it may take in any case.
	stuckAtLast = 10 * time.Second
	// stuckLook is for how long it is looked then whether it is at work.
	stuckLook = 500 * time.Millisecond
)

// patient is a Handler whose functions are called on goroutines of their own, and
// waited for as long as that makes sense.
func (t *Tracer) patient(h Handler) Handler {
	p := Handler{}
	if h.Exec != nil {
		p.Exec = func(pid int) (isGo bool) {
			got := make(chan bool, 1)
			t.tell(0, func() { got <- h.Exec(pid) })
			return !t.stuck() && <-got
		}
	}
	if h.Leaves != nil {
		p.Leaves = func(pid int) (leaves bool) {
			got := make(chan bool, 1)
			t.tell(0, func() { got <- h.Leaves(pid) })
			return !t.stuck() && <-got
		}
	}
	if h.Thread != nil {
		p.Thread = func(pid int) (more bool) {
			got := make(chan bool, 1)
			t.tell(0, func() { got <- h.Thread(pid) })
			return !t.stuck() && <-got
		}
	}
	if h.Fork != nil {
		p.Fork = func(parent, child int) { t.tell(0, func() { h.Fork(parent, child) }) }
	}
	if h.Narrowed != nil {
		p.Narrowed = func(pid int) { t.tell(0, func() { h.Narrowed(pid) }) }
	}
	if h.Dying != nil {
		p.Dying = func(d Death) { t.tell(d.given(), func() { h.Dying(d) }) }
	}
	if h.Gone != nil {
		p.Gone = func(pid int, s sample.Opt[Status]) { t.tell(0, func() { h.Gone(pid, s) }) }
	}
	if h.Lost != nil {
		p.Lost = func(pid int, why error) { t.tell(0, func() { h.Lost(pid, why) }) }
	}
	return p
}

// given is the time for a death.
func (d Death) given() time.Duration {
	if d.Deadline.IsZero() {
		return HoldOOM
	}
	return max(0, time.Until(d.Deadline))
}

// looked is look, given up as a Handler is.
func (t *Tracer) looked(limit time.Duration, look func(context.Context, *Freeze) error) func(context.Context, *Freeze) error {
	return func(ctx context.Context, z *Freeze) error {
		came := make(chan error, 1)
		t.tell(limit, func() { came <- look(ctx, z) })
		if t.stuck() {
			return ErrStuck
		}
		return <-came
	}
}

// tell makes a call on another goroutine and waits for it, for the time that it was
// given and stuckAfter. If it is not back by then this Tracer has come to its end:
// nothing is told any more, and all that it traces is let go.
func (t *Tracer) tell(given time.Duration, call func()) {
	if t.stuck() {
		return
	}
	began := time.Now()
	back := make(chan struct{})
	go func() {
		defer close(back)
		call()
	}()
	timer := time.NewTimer(given + stuckAfter - stuckLook)
	defer timer.Stop()
	for before, looked := (Work{}), false; ; {
		select {
		case <-back:
			return
		case now := <-timer.C:
			sofar := LookAtWork()
			if now.Sub(began) > given+stuckAtLast || looked && !sofar.Since(before) {
				close(t.hung)
				return
			}
			before, looked = sofar, true
			timer.Reset(stuckLook)
		}
	}
}

// Stuck is closed once a Handler did not return: every process was let go then, and
// the Tracer has ended.
func (t *Tracer) Stuck() <-chan struct{} { return t.hung }

func (t *Tracer) stuck() bool {
	select {
	case <-t.hung:
		return true
	default:
		return false
	}
}
