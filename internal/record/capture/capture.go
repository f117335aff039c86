// Package capture is the loop between eyes and recording: it asks a Source for
// points, decides how often and when a whole moment is worth its cost, and hands
// everything to a Sink.
//
// It knows no concrete source or sink, no process and no file, and it judges
// nothing: what it decides is only when to look.
package capture

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Depth is how much a tick reads.
type Depth int

const (
	// Full reads the charge with its parts and every process's figures.
	Full Depth = iota
	// Dense reads the charge alone: some microseconds, for a thousand a second.
	Dense
	// Resting is Full of programs that rest: what has not changed since the last look may
	// be taken from there, and what seldom matters is read seldom.
	Resting
)

// Source is programs seen from outside. Its methods are called by one goroutine.
type Source interface {
	// Tick fills p with what is seen now. An error says that nothing can be
	// seen any more; what cannot be read is a gap, not an error.
	Tick(p *sample.Point, d Depth) error
	// Capture keeps a moment, to be handed over by the next Collect.
	Capture(kind sample.MomentKind)
	// Profile keeps a heap profile of every process that has one.
	Profile()
	// Collect hands over, in order, what happened since the last call; right
	// after a Tick, what had happened when the tick saw its processes. It hands
	// over all even where the sink fails, and returns its first error.
	Collect(Sink) error
	// Wake is sent on when Collect has something that should not wait.
	Wake() <-chan struct{}
	// Done is closed when the last process is gone.
	Done() <-chan struct{}
	// Doze is told that nothing moves and the next look is late. It says whether Stirred
	// will be sent on should memory grow meanwhile.
	Doze() (hears bool)
	// Stirred is sent on where memory has grown during a rest.
	Stirred() <-chan struct{}
}

// starter is a Source that knows whether its programs start many others just now. Moments take less of the time then.
type starter interface{ StartsMany() bool }

// Sink keeps what was seen. It is called by one goroutine and copies what it
// needs.
type Sink interface {
	Program(sample.Program) error
	Sites(key sample.ProcessKey, first int, sites []sample.Site) error
	Point(*sample.Point) error
	Cycle(sample.GCCycle) error
	Event(sample.Event) error
	Gap(sample.Gap) error
	Heap(key sample.ProcessKey, p *sample.HeapProfile) error
	Moment(*sample.Moment) error
	Flush() error
}

// GrowthSink is a Sink that keeps what made resident memory grow.
type GrowthSink interface {
	Growth([]sample.ResidentGrowth) error
}

// NativeSink is a Sink that keeps C's live blocks by stack.
type NativeSink interface {
	Native(sample.NativeReading, []sample.NativeLive) error
}

// Loop is one watch. Its zero values mean the defaults.
type Loop struct {
	Source Source
	Sink   Sink
	// CalmHz is the rate in calm, 10 by default; MaxHz bounds the dense rate,
	// 1000 by default.
	CalmHz, MaxHz int
	// Wheel, if set, is shared with other loops; without it the loop has a timer of its own.
	Wheel *Wheel
	// MomentRequests, if set, brings a person's wish for a moment now.
	MomentRequests <-chan struct{}
	// OnPoint, if set, sees every full point: the live status line.
	OnPoint func(*sample.Point)
	// OnSinkError, if set, is told once that nothing is kept any more.
	OnSinkError func(error)

	point    sample.Point
	policy   policy
	sinkErr  error
	newAlarm func() alarm // nil: newAlarm
	// processor is the processor time that we took so far; nil: processorTime.
	processor func() time.Duration
}

// flushEvery bounds what a killed watcher loses, but of a rest (restFlush).
const flushEvery = time.Second

// Run watches until the source is done or ctx ends, and hands over what is left.
// A sink that fails is told to the user and not called again; the watch goes on,
// so that the program's life does not depend on our disk. The error is the
// sink's, or why the source saw nothing.
func (l *Loop) Run(ctx context.Context) error {
	l.policy = newPolicy(l.CalmHz, l.MaxHz)
	if l.newAlarm == nil {
		l.newAlarm = newAlarm
		if l.Wheel != nil {
			l.newAlarm = l.Wheel.alarm
		}
	}
	if l.processor == nil {
		l.processor = processorTime
	}
	alarm := l.newAlarm()
	defer alarm.stop()
	alarm.set(0)
	lastFlush := time.Now()
	for {
		select {
		case <-ctx.Done():
			return l.finish(sample.MomentEnd)
		case <-l.Source.Done():
			return l.finish("")
		case <-l.Source.Wake():
			l.collect()
			continue
		case <-l.MomentRequests:
			l.capture(sample.MomentAsked)
			l.collect()
			l.keep(l.Sink.Flush) // whoever asked reads it
			continue
		case <-l.Source.Stirred():
			l.policy.rest.stir(time.Now())
		case <-alarm.C:
		}
		next, err := l.tick()
		if err != nil {
			return errors.Join(err, l.finish(""))
		}
		if now := time.Now(); now.Sub(lastFlush) >= l.policy.flushEvery(now) {
			lastFlush = now
			l.keep(l.Sink.Flush)
		}
		alarm.set(next)
	}
}

// tick reads one point, lets the policy decide, and says how long to wait.
func (l *Loop) tick() (time.Duration, error) {
	start := time.Now()
	depth := l.policy.depth(start)
	l.point.At, l.point.Resting = start, depth == Resting
	if err := l.Source.Tick(&l.point, depth); err != nil {
		return 0, fmt.Errorf("watch: %w", err)
	}
	l.collect() // a program is told before its points
	l.keep(func() error { return l.Sink.Point(&l.point) })
	if depth != Dense && l.OnPoint != nil {
		l.OnPoint(&l.point)
	}
	l.policy.observe(&l.point, depth)
	if s, ok := l.Source.(starter); ok {
		l.policy.many = s.StartsMany()
	}
	switch what := l.policy.due(start); what {
	case "":
	case dueProfile:
		l.paid(l.Source.Profile)
	default:
		l.capture(sample.MomentKind(what))
	}
	l.collect()
	if depth != Dense && l.policy.rests(start) {
		l.policy.rest.deaf = !l.Source.Doze()
	}
	return l.policy.wait(start, time.Now()), nil
}

// capture keeps a moment at the cost of the next ones.
func (l *Loop) capture(kind sample.MomentKind) {
	l.paid(func() { l.Source.Capture(kind) })
}

// paid calls look at the cost of the next moments.
func (l *Loop) paid(look func()) {
	began, processor := time.Now(), l.processor()
	look()
	l.policy.paid(l.processor()-processor, time.Since(began))
}

// finish takes a last moment if one is asked for and hands over the rest.
func (l *Loop) finish(kind sample.MomentKind) error {
	if kind != "" {
		l.Source.Capture(kind)
	}
	l.point.At, l.point.Resting = time.Now(), false
	err := l.Source.Tick(&l.point, Full)
	l.collect()
	if err == nil {
		l.keep(func() error { return l.Sink.Point(&l.point) })
	}
	l.keep(l.Sink.Flush)
	return l.sinkErr
}

// collect takes over what the source has, and goes on taking it once the sink
// has failed: the source must not pile it up.
func (l *Loop) collect() {
	if l.sinkErr != nil {
		_ = l.Source.Collect(discard{}) // a sink without errors
		return
	}
	l.keep(func() error { return l.Source.Collect(l.Sink) })
}

var started = time.Now()

// sinceStart stands for the processor time where that is not told.
func sinceStart() time.Duration { return time.Since(started) }

// discard is a sink that keeps nothing.
type discard struct{}

func (discard) Program(sample.Program) error                      { return nil }
func (discard) Sites(sample.ProcessKey, int, []sample.Site) error { return nil }
func (discard) Point(*sample.Point) error                         { return nil }
func (discard) Cycle(sample.GCCycle) error                        { return nil }
func (discard) Event(sample.Event) error                          { return nil }
func (discard) Gap(sample.Gap) error                              { return nil }
func (discard) Heap(sample.ProcessKey, *sample.HeapProfile) error { return nil }
func (discard) Moment(*sample.Moment) error                       { return nil }
func (discard) Flush() error                                      { return nil }

// keep calls the sink until it first fails.
func (l *Loop) keep(call func() error) {
	if l.sinkErr != nil {
		return
	}
	if err := call(); err != nil {
		l.sinkErr = err
		if l.OnSinkError != nil {
			l.OnSinkError(err)
		}
	}
}
