package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
	"github.com/highwater-go/highwater/internal/measure/heapgraph"
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

	known map[sample.ProcessKey]variables       // at the last capture
	lists map[sample.ProcessKey]heapgraph.Lists // of the last capture

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
	programs := t.source.GoPrograms()
	t.forgetLists(programs)
	for _, p := range programs {
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
		lists := t.listsOf(c.key)
		if out, err = c.summarize(ctx, a, &lists); err == nil {
			if !t.ByDefault {
				t.status.tell("captured the heap of %s (%s live); paused it for %s", c.name, units.Size(out.LiveBytes), units.Duration(out.Stopped))
			}
			t.mu.Lock()
			t.keepLists(c, lists)
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

// listsOf are the linked lists of a process's last capture.
func (t *heapTaker) listsOf(key sample.ProcessKey) heapgraph.Lists {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lists[key]
}

// forgetLists forgets those of processes that ended without a capture.
func (t *heapTaker) forgetLists(running []sample.Program) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.lists, func(key sample.ProcessKey, _ heapgraph.Lists) bool {
		return !slices.ContainsFunc(running, func(p sample.Program) bool { return p.Key == key })
	})
}

// keepLists keeps those of a capture for the next, which does not come after a process's end.
func (t *heapTaker) keepLists(c *heapCopy, lists heapgraph.Lists) {
	if c.reason == sample.HeapKill || c.reason == sample.HeapExit {
		delete(t.lists, c.key)
		return
	}
	if t.lists == nil {
		t.lists = make(map[sample.ProcessKey]heapgraph.Lists)
	}
	t.lists[c.key] = lists
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
