package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/record/watch"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

const (
	// heapStop bounds one stop of a program, stopShare all of them: to a hundredth of
	// the time.
	heapStop  = 200 * time.Millisecond
	stopShare = 100
	// peakGrowth is the part by which a peak must exceed the one before to be captured.
	peakGrowth = 8
	// mostCopied bounds what a heap that is captured beside its program may take of
	// memory, and so of the time for which that stands still: what takes more can
	// hardly be copied within heapStop. highwater heap PID, which is asked, may take more.
	mostCopied = 2 * sample.GiB
	// analysisFor bounds the analysis of one heap.
	analysisFor = time.Minute
)

// heapTaker captures heaps of the programs that are watched: stops them, copies, and
// sums up once they go on. What is found waits here for the loop, which alone writes
// the recording.
type heapTaker struct {
	HeapPolicy
	status *status
	source *watch.Source

	mu        sync.Mutex
	charge    sample.Bytes // at the last point
	peakAt    sample.Bytes // at the last capture of a peak
	next      time.Time    // before which no program is stopped again
	children  childExits
	main      int  // the pid that is watched, where we have not started it; 0: none
	slower    bool // it was said that stops come later than asked for
	told      bool // why a peak was not captured, where nobody asked
	analyzing bool
	rate      float64 // bytes a second at which the last heap was copied, 0: none was
	done      []*sample.HeapCapture
	gaps      []sample.Gap
	analyses  sync.WaitGroup

	known map[sample.ProcessKey]variables // at the last capture

	prepared prepared

	calm      time.Time // when the next capture on the calm rhythm is due
	calmEvery time.Duration

	ctx    context.Context // of all analyses
	giveUp context.CancelFunc

	limit func() sample.Bytes // nil: takerLimit

	captured int           // heaps
	longest  time.Duration // of their pauses
	paused   time.Duration // all of them

	// shares means that what a capture takes counts against the program's memory limit.
	shares bool
}

// share has captures take little where what they take counts against the program's own
// limit, and those that nobody asked for next to nothing: they could have it killed.
func (t *heapTaker) share(shares bool) {
	if t == nil || !shares {
		return
	}
	t.shares, t.limit = true, func() sample.Bytes { return availableMemory() / 4 }
	if t.ByDefault {
		t.Peak = false
	}
}

// plenty is what must be free under a shared limit for a capture that nobody asked for:
// names and types of a program take 50 MiB to read, whatever its heap takes.
const plenty = 256 * sample.MiB

// mayShare refuses a heap that nobody asked for where there is little room for it, or may be.
func (t *heapTaker) mayShare(reason sample.HeapReason) error {
	if !t.shares || !t.ByDefault {
		return nil
	}
	if free, seen := ownFree(); reason != sample.HeapKill && seen && free >= plenty {
		return nil
	}
	return fmt.Errorf("highwater is under the program's memory limit, and to copy the heap would count against it; --heap %s does so all the same", reason)
}

// takerLimit is what one capture may take: a half of what is free, for what is free is
// its program's too, and no more than mostCopied.
func takerLimit() sample.Bytes { return min(availableMemory()/2, mostCopied) }

// mostTaken is what a capture may take of memory: what its policy allows, and no more than the machine
// has to spare.
func (t *heapTaker) mostTaken() sample.Bytes {
	limit := takerLimit
	if t.limit != nil {
		limit = t.limit
	}
	return min(limit(), t.memory())
}

// newHeapTaker is nil where no heap is to be captured.
func newHeapTaker(w HeapPolicy, s *status) *heapTaker {
	if w.none() {
		return nil
	}
	t := &heapTaker{HeapPolicy: w, status: s}
	t.ctx, t.giveUp = context.WithCancel(context.Background())
	return t
}

// of is the source as a loop is to use it.
func (t *heapTaker) of(source *watch.Source) capture.Source {
	if t == nil {
		return source
	}
	t.source = source
	if t.Kill || t.Exit {
		source.OnDying(t.dying)
	}
	if !t.Peak {
		return source
	}
	return heapSource{source, t}
}

// start captures at intervals until ctx ends; helpers waits for it.
func (t *heapTaker) start(ctx context.Context, helpers *sync.WaitGroup) {
	if t.every == 0 {
		return
	}
	helpers.Go(func() {
		ticker := time.NewTicker(t.every)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				t.take(sample.HeapEvery)
			}
		}
	})
}

// at captures at a new maximum of the charge, unless it is hardly above the last, and on the calm
// rhythm.
func (t *heapTaker) at(kind sample.MomentKind) {
	if t.startsMany() {
		return
	}
	t.mu.Lock()
	more := t.peakAt / peakGrowth
	if t.ByDefault {
		more = max(t.peakAt/quietGrowth, smallHeap)
	}
	due := kind == sample.MomentMax && t.charge > t.peakAt+more
	charge := t.charge
	calm := t.calmDue(time.Now())
	t.mu.Unlock()
	if calm && !due {
		t.take(sample.HeapEvery)
		return
	}
	if due && t.take(sample.HeapPeak) {
		t.mu.Lock()
		t.peakAt = charge
		t.mu.Unlock()
	}
}

// atEnd captures the heaps of programs that are about to be ended: what they hold before they clean
// up. Their last stop has no successor that it could come too early for.
func (t *heapTaker) atEnd() {
	if t == nil || !t.Peak {
		return
	}
	t.mu.Lock()
	t.next = time.Time{}
	t.mu.Unlock()
	t.take(sample.HeapEvery)
}

// calmDue reports whether the time for a capture that nobody asked for has come: at ever longer intervals, so
// that a run of any length has some readings of its live heap, though no collection ended in
// it. t.mu is held.
func (t *heapTaker) calmDue(now time.Time) bool {
	if !t.ByDefault {
		return false
	}
	if t.calm.IsZero() {
		t.calmEvery, t.calm = quietFirst, now.Add(quietFirst)
	}
	if now.Before(t.calm) {
		return false
	}
	t.calmEvery = t.calmEvery * 3 / 2
	t.calm = now.Add(t.calmEvery)
	return true
}

// take stops and copies every Go program, one after the other, and says whether it
// did: not while the last heaps are analyzed, and not beyond the share of the
// time that programs may stand still.
func (t *heapTaker) take(reason sample.HeapReason) bool {
	t.mu.Lock()
	now := time.Now()
	if late := now.Before(t.next); late || t.analyzing {
		if late && !t.slower && reason == sample.HeapEvery && t.every > 0 {
			t.slower = true
			t.status.say("heaps are captured less often than every %s: pauses may take at most 1%% of the time", units.Duration(t.every))
		}
		t.mu.Unlock()
		return false
	}
	t.analyzing = true
	t.mu.Unlock()
	var copies []*heapCopy
	stood := time.Duration(0)
	before := t.known
	t.known = make(map[sample.ProcessKey]variables)
	for _, p := range t.source.GoPrograms() {
		c, err := t.copyLive(p, reason, before[p.Key])
		if c != nil {
			stood += c.stopped
		}
		if err != nil {
			t.missed(p, err)
			continue
		}
		copies = append(copies, c)
	}
	t.mu.Lock()
	t.next = time.Now().Add(stopShare * stood)
	t.mu.Unlock()
	t.analyses.Go(func() {
		began := time.Now()
		for _, c := range copies {
			t.summarize(c)
		}
		t.mu.Lock()
		if late := time.Now().Add(t.analysisShare() * time.Since(began)); t.ByDefault && late.After(t.next) {
			t.next = late
		}
		t.analyzing = false
		t.mu.Unlock()
	})
	return len(copies) > 0
}

// copyLive copies the heap of a program that runs, with a stop. Its variables are read
// once.
func (t *heapTaker) copyLive(p sample.Program, reason sample.HeapReason, v variables) (*heapCopy, error) {
	target, err := openLiveHeap(p.Key.PID)
	if err != nil {
		return nil, err
	}
	c := &heapCopy{heapTarget: target, reason: reason, key: p.Key, variables: v}
	most := t.mostTaken()
	err = t.mayTake(target)
	if err == nil {
		err = c.ready(most)
	}
	if err == nil {
		err = t.mayStop(c.plan.Bytes())
	}
	if err != nil {
		target.close()
		return nil, err
	}
	if c.variables.noTypes == nil {
		t.known[p.Key] = c.variables
	}
	c.stopped, err = t.source.WhileFrozen(p.Key.PID, t.stop(), func(ctx context.Context, z *lastbreath.Freeze) error {
		c.standing(z)
		return c.take(ctx, most)
	})
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, lastbreath.ErrFreeze) {
		err = fmt.Errorf("it could not be copied within a stop of %s; the program keeps running", units.Duration(t.stop()))
	}
	if err != nil {
		target.close()
		return c, err
	}
	t.mu.Lock()
	t.rate = float64(c.copied.Bytes()) / c.stopped.Seconds()
	t.mu.Unlock()
	return c, nil
}

// dying copies the heap of a process that ends, which is held meanwhile.
func (t *heapTaker) dying(p sample.Program, d lastbreath.Death) {
	reason := sample.HeapKill
	if d.Status.Signal == 0 {
		reason = sample.HeapExit
	}
	if reason == sample.HeapKill && !t.Kill || reason == sample.HeapExit && (!t.Exit || t.startsMany()) {
		return
	}
	if err := t.mayShare(reason); err != nil {
		if reason == sample.HeapKill { // of one that ended by itself nobody asks
			t.gap(p, "", err)
		}
		return
	}
	spent := func() {}
	if t.ByDefault && reason == sample.HeapExit && p.Parent != os.Getpid() && p.Key.PID != t.main {
		var ok bool
		if spent, ok = t.childExit(); !ok {
			return
		}
	}
	ctx, cancel := context.WithTimeout(t.ctx, t.hold(reason, d.Deadline))
	defer cancel()
	c, err := t.copyDying(ctx, p, d.TID, reason)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("no time was left to copy it: the kernel gives a process that it kills two seconds")
		if t.ByDefault {
			err = fmt.Errorf("it could not be copied within %s; --heap %s takes longer", units.Duration(t.hold(reason, d.Deadline)), reason)
		}
	}
	if err == nil {
		t.analyses.Go(func() {
			t.summarize(c)
			spent()
		})
		return
	}
	spent()
	if !errors.Is(err, errSmallHeap) {
		t.gap(p, " at its death", err)
	}
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

// summarize sums up a heap.
func (t *heapTaker) summarize(c *heapCopy) {
	defer debug.FreeOSMemory()
	defer c.close()
	ctx, cancel := context.WithTimeout(t.ctx, analysisFor)
	defer cancel()
	if c.reason != sample.HeapKill && c.reason != sample.HeapExit {
		c.readProfile()
	}
	a, err := c.analyze(ctx)
	if err == nil {
		var out *sample.HeapCapture
		if out, err = c.summarize(ctx, a); err == nil {
			if !t.ByDefault {
				t.status.tell("captured the heap of %s (%s live); paused it for %s", c.name, units.Size(out.LiveBytes), units.Duration(out.Stopped))
			}
			t.mu.Lock()
			t.count(out)
			t.done = append(t.done, out)
			t.mu.Unlock()
			return
		}
	}
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("the run had ended, and the analysis of the heap takes more than %s; --heap %s waits for that", units.Duration(lateBy), c.reason)
	}
	t.gap(sample.Program{Key: c.key, Name: c.name}, "", err)
}

// wait waits for the analyses; for those that nobody asked for no longer than the run may
// end later.
func (t *heapTaker) wait() {
	defer t.closePrepared()
	defer t.giveUp()
	if t.ByDefault {
		defer time.AfterFunc(lateBy, t.giveUp).Stop()
	}
	t.analyses.Wait()
	t.sayCaptured()
}

// count counts a heap that was captured; t.mu is held.
func (t *heapTaker) count(c *sample.HeapCapture) {
	t.captured++
	t.paused += c.Stopped
	t.longest = max(t.longest, c.Stopped)
}

// sayCaptured sums up what --heap asked for.
func (t *heapTaker) sayCaptured() {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ByDefault || t.captured == 0:
	case t.captured == 1:
		t.status.say("captured 1 heap; paused the program for %s", units.Duration(t.paused))
	default:
		t.status.say("captured %d heaps; paused the program for %s at most, %s in all", t.captured, units.Duration(t.longest), units.Duration(t.paused))
	}
}

// heldGap begins what is missing where a heap was not captured.
const heldGap = "what retains the heap of "

// gap notes that a heap was not captured; when is behind its program's name, "" where it needs none.
func (t *heapTaker) gap(p sample.Program, when string, why error) {
	switch {
	case errors.Is(why, io.EOF): // of its memory, proc_pid_mem(5)
		why = errors.New("the program ended while its heap was read")
	case errors.Is(why, gomem.ErrTooLarge):
		why = fmt.Errorf("%w, which is decided before it is taken; highwater heap PID takes what it is given by --max-memory", why)
	}
	if !t.ByDefault {
		t.status.say("the heap of %s%s was not captured: %v", p.Name, when, why)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gaps = append(t.gaps, sample.Gap{From: time.Now(), Process: p.Key, What: heldGap + p.Name + when, Why: why.Error()})
}

// keep writes what was captured; it is called by the goroutine that writes the
// recording.
func (t *heapTaker) keep(w *recording.Writer) error {
	t.mu.Lock()
	done, gaps := t.done, t.gaps
	t.done, t.gaps = nil, nil
	t.mu.Unlock()
	for _, c := range done {
		if err := w.HeapCapture(c); err != nil {
			return err
		}
	}
	for _, g := range gaps {
		if err := w.Gap(g); err != nil {
			return err
		}
	}
	return nil
}

// see notes the charge, or without one what the processes have.
func (t *heapTaker) see(p *sample.Point) {
	charge := sample.Bytes(0)
	for i := range p.Processes {
		if r := p.Processes[i].Resident; r != nil {
			charge += r.Anon()
		}
	}
	if p.Cgroup != nil {
		charge = p.Cgroup.Usage
	}
	t.mu.Lock()
	t.charge = charge
	t.mu.Unlock()
	t.prepare()
}

// heapSource is a source whose peaks are captured.
type heapSource struct {
	*watch.Source
	heaps *heapTaker
}

// Capture keeps a moment, and at a new maximum the heaps, or when the time for one has come.
func (s heapSource) Capture(kind sample.MomentKind) {
	s.Source.Capture(kind)
	s.heaps.at(kind)
}
