package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// dying copies the heap of a process that ends, which is held meanwhile.
func (t *heapTaker) dying(p sample.Program, d lastbreath.Death) {
	reason := sample.HeapKill
	if d.Status.Signal == 0 {
		reason = sample.HeapExit
	}
	if t.startsMany() && d.Status == (lastbreath.Status{}) { // of a build that ends well nobody asks
		return
	}
	spent, ok := t.takesDeath(p, reason)
	if !ok {
		return
	}
	within := t.hold(reason, d.Deadline)
	ctx, cancel := context.WithTimeout(t.ctx, within)
	defer cancel()
	c, err := t.copyDying(ctx, p, d.TID, reason)
	if err == nil {
		t.analyses.Go(func() {
			t.summarize(c)
			spent()
		})
		return
	}
	spent()
	if !errors.Is(err, errSmallHeap) {
		t.gap(p, " at its death", t.tooLate(err, reason, within))
	}
}

// takesDeath says whether the heap of a program that ends is to be taken; spent is to be called when that is over.
func (t *heapTaker) takesDeath(p sample.Program, reason sample.HeapReason) (spent func(), ok bool) {
	kill := reason == sample.HeapKill
	if kill && !t.Kill || !kill && !t.Exit {
		return nil, false
	}
	if err := t.mayShare(reason); err != nil {
		if kill { // of one that ended by itself nobody asks
			t.gap(p, "", err)
		}
		return nil, false
	}
	if child := p.Parent != os.Getpid() && p.Key.PID != t.main; child && !kill && t.ByDefault {
		return t.childExit()
	}
	return func() {}, true
}

// tooLate says in words of a user that the time that a death allows was over.
func (t *heapTaker) tooLate(err error, reason sample.HeapReason, within time.Duration) error {
	switch {
	case !errors.Is(err, context.DeadlineExceeded):
		return err
	case t.ByDefault:
		return fmt.Errorf("it could not be copied within %s; --heap %s takes longer", units.Duration(within), reason)
	}
	return errors.New("no time was left to copy it: the kernel gives a process that it kills two seconds")
}

// hold is for how long a process that ends is held for its heap. A part of the time that
// the kernel gives is left to the mark of what was live.
func (t *heapTaker) hold(reason sample.HeapReason, deadline time.Time) time.Duration {
	if deadline.IsZero() {
		deadline = time.Now().Add(lastbreath.HoldOOM)
	}
	most := time.Until(deadline) * 2 / 3
	switch {
	case t.ByDefault && reason == sample.HeapExit:
		return min(most, exitStop)
	case t.ByDefault:
		return min(most, killStop)
	}
	return most
}

// copyDying copies all that is needed to analyze a heap when its process is gone.
func (t *heapTaker) copyDying(ctx context.Context, p sample.Program, tid int, reason sample.HeapReason) (*heapCopy, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if ready := t.takePrepared(p.Key); ready != nil {
		c := &heapCopy{heapTarget: ready.target, reason: reason, key: p.Key, variables: ready.variables}
		err := t.copyEnded(ctx, c, tid)
		if err == nil || errors.Is(err, errSmallHeap) || errors.Is(err, gomem.ErrTooLarge) || ctx.Err() != nil {
			return c, err
		}
	} // it may have become another program meanwhile
	target, err := openLiveHeap(tid)
	if err != nil {
		return nil, err
	}
	c := &heapCopy{heapTarget: target, reason: reason, key: p.Key}
	return c, t.copyEnded(ctx, c, tid)
}

// copyEnded copies a process that is held at its end, and closes it where that fails.
func (t *heapTaker) copyEnded(ctx context.Context, c *heapCopy, tid int) (err error) {
	began, target := time.Now(), c.heapTarget
	if err = t.mayTake(target); err == nil {
		err = c.take(ctx, t.mostTaken())
	}
	if err == nil {
		if unread := c.copied.Ended(); unread != nil { // the heap is worth having without them
			c.gap("the calls of goroutines that ran in "+c.name, unread)
		}
	}
	if err == nil {
		var arenas []sample.PageRange
		if arenas, err = c.runtime.Ranges(nil); err == nil {
			err = target.memory.keep(ctx, tid, arenas)
		}
	}
	if err != nil {
		target.close()
		return err
	}
	c.stopped = time.Since(began)
	return nil
}
