package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/record/watch"
	"github.com/highwater-go/highwater/internal/show/top"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// life is one recording of a watch: of a program from when it was found to its
// end, with what it starts, or of a cgroup.
type life struct {
	*follower
	recording recordingHandle
	source    *watch.Source
	probing   *probing
	seat      *top.Life  // nil: nobody looks on
	rows      *agentLife // nil: no rows are made of it
	calm      *calm      // nil: there is a recording from the beginning
	pid       int        // of its main program, 0 for a cgroup
	main      sample.Program
	name      string // for the recording
	what      string // for people
	end       func() // after all, may be nil
	giveUp    func() // ends the watch of it
}

// begin makes the recording and watches in the background.
func (l *life) begin(ctx context.Context, main sample.Program) error {
	l.main = main
	if err := l.open(main); err != nil {
		l.close()
		l.mu.Lock()
		l.freeAsks()
		l.mu.Unlock()
		return cannotRecord(err)
	}
	if l.calm == nil {
		l.status.say("watching %s; recording %s", l.what, l.recording.path)
		sayTemporary(l.status, l.recording.path)
	}
	if main.HeapProfile == sample.HeapProfileOff && !l.EnableHeapProfile && l.board == nil {
		l.status.say("  without a heap profile the answer cannot name lines: --enable-heap-profile enables one from now on")
	}
	l.mu.Lock()
	l.sources[l.source] = l
	l.thrift.watches(len(l.sources))
	l.mu.Unlock()
	ctx, l.giveUp = context.WithCancel(ctx)
	l.lives.Go(func() {
		defer l.giveUp()
		if l.guard != nil {
			defer l.guard()
		}
		l.live(ctx)
	})
	return nil
}

// sink is where what is seen goes: into the recording, and past whoever looks on.
func (l *life) sink() capture.Sink {
	sink := probeSink{l.recording.writer, l.probing}
	if l.agent != nil {
		return l.agent.sink(l)
	}
	if l.board == nil {
		return sink
	}
	l.seat = l.board.Add(top.Seat{Name: l.name, PID: l.pid, Path: l.recording.path, Recording: typed(l.recording.path), Sink: sink, Watches: l.source.Watches})
	return l.seat
}

// open creates the recording; main is what runs, the zero Program for a cgroup.
func (l *life) open(main sample.Program) error {
	meta := newMeta(l.KeepArgs.command(main))
	l.probing = &probing{asks: l.claimAsks(), status: l.status, heaps: newHeapTaker(l.heaps, l.status)}
	l.probing.heaps.share(l.source.SharesLimit())
	l.probing.heaps.follows(l.pid)
	l.probing.describe(meta.More)
	l.Expect.describe(meta.More)
	meta.More[metaWatched] = "1"
	if place := placeOf(l.source); place != "" {
		meta.More[metaPlace] = place
	}
	if l.agent != nil {
		l.calm = &calm{life: l, meta: meta}
		return nil
	}
	return l.create(meta)
}

// create makes the recording's file.
func (l *life) create(meta recording.Meta) error {
	for n := 1; ; n++ {
		path, err := l.choosePath(meta.At, n)
		if err != nil {
			return err
		}
		w, err := recording.Create(path, meta)
		if errors.Is(err, fs.ErrExist) && (l.Output == "" || l.numbered()) {
			continue
		}
		l.recording = recordingHandle{path: path, writer: w, status: l.status, quiet: l.Quiet, typed: startedAs{command: l.main.Args}}
		return err
	}
}

// choosePath is where the recording goes: the file asked for, or one named after
// program and time, checkout-20261121-170502.hwm; the n-th of a second, or of a name, has -n.
func (l *life) choosePath(at time.Time, n int) (string, error) {
	switch {
	case l.numbered():
		path := strings.TrimSuffix(l.Output, Suffix)
		if n > 1 {
			path += fmt.Sprintf("-%d", n)
		}
		return path + Suffix, nil
	case l.Output != "":
		return recordingPath(l.Output, "")
	}
	dir, err := l.dir, error(nil)
	if dir == "" {
		dir, err = makeStateDir()
	}
	if err != nil { // nobody's home, as in a sidecar
		why := err
		if dir, err = os.MkdirTemp("", "highwater-"); err != nil {
			return "", why
		}
		l.status.say("highwater: the recording goes to %s: %v", dir, why)
	}
	name := fileName(l.name) + at.Format("-20060102-150405")
	if n > 1 {
		name += fmt.Sprintf("-%d", n)
	}
	return filepath.Join(dir, name+Suffix), nil
}

// live watches until the program has ended or the watch has, lets go, and
// explains.
func (l *life) live(ctx context.Context) {
	loop := &capture.Loop{
		Source: l.probing.heaps.of(l.source),
		Sink:   l.sink(),
		CalmHz: l.Rate,
		Wheel:  l.wheel,
		OnPoint: func(p *sample.Point) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.thrift.adjust(p.At)
			if len(l.sources) >= thriftCrowd && l.recording.writer != nil {
				l.recording.writer.SleepAtRest()
			}
			if alone := len(l.sources) == 1 && !l.finding; alone && !l.Quiet {
				l.status.point(l, p)
			}
		},
		OnSinkError: func(err error) {
			l.status.say("highwater: the recording of %s ends here, the program keeps running: %v", l.what, err)
		},
	}
	if l.seat != nil {
		loop.MomentRequests = l.seat.MomentRequests()
	}
	asked, stop := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	l.probing.start(asked, &helpers)
	whole := comes(ctx, l.source.Stuck(), func() {
		_ = loop.Run(ctx) // a sink's error is told above, and a source has none
		stop()
		helpers.Wait()
	})
	if !whole {
		stop()
		l.forsake()
		return
	}
	if l.calm != nil {
		l.calm.end(ctx)
	}
	if l.recording.writer != nil {
		l.probing.keepRest(l.recording.writer)
	}
	l.close()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.sources, l.source)
	l.freeAsks()
	if len(l.sources) == 0 && !l.finding {
		l.thrift.end()
	}
	l.status.end()
	if ctx.Err() != nil {
		l.status.say("detached from %s; it keeps running", l.what)
	}
	if l.agent != nil {
		l.agent.end(l)
		return
	}
	a := l.recording.conclude(l.streams)
	if l.seat != nil {
		l.seat.End(a)
	}
}

const (
	// endWait is how long something that was told to end may take for what it has begun.
	endWait = 10 * time.Second
	// endLook is for how long it is looked then whether it is at work: a hundred programs whose last moments are
	// read at once, on a busy machine, take longer.
	endLook = time.Second
	// endAtLast is how long it may take in any case.
	endAtLast = time.Minute
)

// comes calls do and says whether it came to its end. It does not wait for one that
// hangs: that is stuck, or goes on for endWait after ctx has ended and is not at work.
func comes(ctx context.Context, stuck <-chan struct{}, do func()) bool {
	return comesWithin(ctx, stuck, do, endWait, endLook)
}

func comesWithin(ctx context.Context, stuck <-chan struct{}, do func(), wait, look time.Duration) bool {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		do()
	}()
	select {
	case <-ended:
		return true
	case <-ctx.Done():
	case <-stuck:
	}
	began := time.Now()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for before, looked := (lastbreath.Work{}), false; ; {
		select {
		case <-ended:
			return true
		case <-timer.C:
		}
		now := lastbreath.LookAtWork()
		if time.Since(began) > endAtLast || looked && !now.Since(before) {
			return false
		}
		before, looked = now, true
		timer.Reset(look)
	}
}

// forsake lets the programs of a watch go that hangs. Its recording belongs to the loop
// and stays as it was written last.
func (l *life) forsake() {
	go l.close() // which may hang, too
	l.status.say("highwater: detached from %s: a read of it hangs, as of a file server that does not answer; it keeps running, and its recording ends here", l.what)
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.sources, l.source)
	l.freeAsks()
	if l.seat != nil {
		l.seat.End(nil)
	}
}

// close lets the programs go.
func (l *life) close() {
	l.source.Close()
	l.faults.giveBack(l.source)
	if l.end != nil {
		l.end()
	}
}
