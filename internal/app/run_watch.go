package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/eyes/faultprofile"
	"github.com/highwater-go/highwater/internal/eyes/filepages"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/record/watch"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// leftAfter is for how long programs outlive the main one before it is said.
const leftAfter = 500 * time.Millisecond

// session is one run while it lasts.
type session struct {
	*plan
	recordingHandle
	source *watch.Source
	group  *cgroup.Cgroup // nil: none could be made
	// noGroup is why; nil: it was.
	noGroup error
	// loadGroup is the load's, nil where it has none.
	loadGroup *cgroup.Cgroup
	ready     error // why the program never became ready
	faults    *faultPool
	native    *faultprofile.AllocProfiler // nil: not asked for
	owners    *filepages.Owners           // whose pages of files are; nil: that is not told here
	drops     bool                        // give up what root may do and a watcher need not
	probing   *probing

	// Where systemd makes the cgroup: what to start the program through, and
	// where to look for the cgroup then.
	prefix []string
	scopes *cgroup.Hierarchy

	signals        chan os.Signal // to pass on
	ends           []ending       // beside the load's end and --for
	onPoint        func(*sample.Point)
	sharesTerminal bool      // the keyboard's signals reach the program without us
	leftSince      time.Time // when the program had ended and others had not
	saidLeft       bool
	hangs          bool // the loop does, which has the recording
	sent           sentSignals
	loadFailed     error
}

// ending is something that ends a run: the program is stopped when it is closed.
type ending struct {
	when   <-chan struct{}
	reason string // one of sample's for an EventSignal
}

func (p *plan) session(s *Streams) *session {
	r := &session{plan: p, recordingHandle: recordingHandle{status: newStatus(p.loadOutput(s)), quiet: p.Quiet, json: p.JSON}}
	r.probing = &probing{asks: p.asks, status: r.status, heaps: newHeapTaker(p.heaps, r.status)}
	return r
}

// Run does the whole of it: cgroup, recording, program, load, explanation.
func (p *plan) Run(ctx context.Context, s *Streams) error {
	r := p.session(s)
	r.typed = p.asTyped()
	// From here on an interrupt is the program's: ours to pass on.
	r.signals = make(chan os.Signal, 8)
	signal.Notify(r.signals, forwarded()...)
	defer signal.Stop(r.signals)
	surviveBrokenPipe()
	r.drops = true
	code, err := r.record(ctx, s)
	if err != nil {
		return err
	}
	if r.hangs || r.writer == nil {
		return ExitWith(code)
	}
	r.conclude(s)
	return r.outcome(code)
}

// outcome is how the command ends where the program ended with a code: with that code,
// unless highwater ended the program as it was asked to.
func (r *session) outcome(code int) error {
	switch {
	case r.ready != nil:
		return r.ready
	case r.ExitCode == exitCodeOfProgram || !r.sent.asAsked(code):
		return ExitWith(code)
	}
	return r.loadFailed
}

// record runs the program to its end and leaves the recording open; the code is the
// program's.
func (r *session) record(ctx context.Context, s *Streams) (code int, err error) {
	if err := watch.RoomToMap(); err != nil && r.mustStart() {
		return r.unwatched(s, err)
	}
	if err := r.makeGroup(ctx); err != nil {
		return 0, err
	}
	defer r.removeGroups()
	if err := r.open(); err != nil {
		if !r.mustStart() {
			return 0, err
		}
		return r.unwatched(s, err)
	}
	defer r.status.end()
	if r.native, err = r.RunFlags.Native.make(r.status); err != nil {
		if !r.mustStart() {
			return 0, r.abandon(err)
		}
		r.status.say("highwater: %v; the program is watched without it", err)
	}
	if r.native != nil {
		defer r.native.Close()
	}
	r.faults = newFaultPool(0)
	if r.drops {
		r.faults = r.RunFlags.Native.faultPool(1)
		defer r.faults.close()
		r.owners, _ = filepages.OpenOwners("/proc") // doctor says why not
		defer r.owners.Close()
		r.dropRights(r.faults.any())
	}
	return r.watch(ctx, s)
}

// dropRights gives up what root may do and this run no longer needs: its cgroups and its
// recording are made. A profile of page faults needs one until it has taken in the program.
func (r *session) dropRights(faults bool) {
	n := watch.Needs{Starts: true, Faults: faults, Ends: true, Writes: !r.NoHeapProfile, Into: []string{filepath.Dir(r.recording)}}
	for _, g := range []*cgroup.Cgroup{r.loadGroup, r.group} {
		if g != nil {
			n.Into = append(n.Into, filepath.Dir(g.Dir))
		}
	}
	dropRights(r.status, n)
}

// watch starts the program and sees it through; the code is its exit code.
func (r *session) watch(ctx context.Context, s *Streams) (int, error) {
	for _, line := range warnings(r.program) {
		r.status.say("highwater: %s", line)
	}
	r.sayElsewhere()
	o := watch.Options{
		Group:         r.group,
		Scopes:        r.scopes,
		Orphans:       firstProcess() && r.Load == "",
		EndWithMain:   firstProcess(),
		HeapProfile:   !r.NoHeapProfile,
		ProfileRate:   r.profileRate,
		FollowForks:   r.FollowForks,
		LeaveChildren: r.LeaveChildren,
		KeepArgs:      bool(r.KeepArgs),
		Room:          tableRoom,
		EndWithUs:     r.endWithUs,
		Owners:        r.owners,
		Allocs:        r.native,
		Say:           func(line string) { r.status.say("%s", line) },
	}
	r.faults.join(&o)
	source, err := watch.New(o)
	if err != nil {
		err = r.abandon(err)
		if !r.mustStart() {
			return 0, err
		}
		return r.unwatched(s, err)
	}
	closed := sync.OnceValue(source.Close)
	defer func() { _ = closed() }() // a second call does nothing
	r.source = source
	source.ShareOwn()
	r.probing.heaps.share(r.sharesLimit())
	r.sayAccount()
	defer reapOrphans(source.Started)()
	stdin, _ := s.in.(*os.File)
	r.sharesTerminal = IsTTY(stdin)
	pid, err := r.start(r.command(watch.Command{
		Files:    []*os.File{stdin, FileOf(r.programOutput(s)), FileOf(s.Err)},
		OwnGroup: !r.sharesTerminal,
	}))
	if err != nil && r.mustStart() && watch.IsShort(err) {
		_ = closed() // and with it go its descriptors
		return r.unwatched(s, r.abandon(err))
	}
	if err != nil {
		return 0, r.abandon(cannotRun(r.args[0], err))
	}
	if r.drops && r.faults.any() {
		r.dropRights(false)
	}
	r.status.say("watching %s, pid %d; recording %s", filepath.Base(r.args[0]), pid, r.recording)
	sayTemporary(r.status, r.recording)
	r.status.hold()
	defer r.status.release()
	if !r.see(ctx, s) {
		return r.follow(pid), nil
	}
	r.probing.keepRest(r.writer)
	return source.ExitCode(), nil
}

// start starts the program, untraced where no program may be traced.
func (r *session) start(c watch.Command) (int, error) {
	pid, err := r.source.Start(c)
	if err != nil && watch.IsUntraceable(err) {
		untraced, again := r.source.StartUntraced(c, err)
		if again == nil {
			r.status.say("highwater: %s cannot be traced here, so that its last moment is not read: %v; a process has one tracer, and seccomp may forbid ptrace",
				filepath.Base(r.args[0]), syscall.EPERM)
			return untraced, nil
		}
		if watch.IsShort(again) {
			return 0, again
		}
	}
	return pid, err
}

// command adds the program, and what it is started through.
func (r *session) command(c watch.Command) watch.Command {
	c.Path, c.Args, c.Env, c.Dir = r.program, r.args, r.env, r.dir
	if len(r.prefix) > 0 {
		c.Path = r.prefix[0]
		c.Args = slices.Concat(r.prefix, []string{r.program}, r.args[1:])
	}
	return c
}

// see runs the loop, the signals, the load and the clock until the program is
// gone. It says no where it hangs, as the program must not.
func (r *session) see(ctx context.Context, s *Streams) (whole bool) {
	ctx, cancel := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	defer helpers.Wait()
	defer cancel()
	stop := stopper{programs: r.source, grace: r.Grace, sent: &r.sent, before: r.probing.heaps.atEnd}
	helpers.Go(func() { r.forward(ctx) })
	if r.RunFor > 0 {
		helpers.Go(func() { r.endAfter(ctx, r.RunFor, stop.because(sample.SignalTime)) })
	}
	if r.timeout > 0 {
		helpers.Go(func() { r.endAfter(ctx, r.timeout, stop.because(sample.SignalTimeout)) })
	}
	for _, e := range r.ends {
		helpers.Go(func() { e.await(ctx, stop) })
	}
	if r.Load != "" {
		helpers.Go(func() { r.drive(ctx, stop, bare(r.loadOutput(s))) })
	}
	r.probing.start(ctx, &helpers)
	small := newThrift()
	small.shares = r.sharesLimit()
	defer small.end()
	loop := &capture.Loop{
		Source: r.probing.heaps.of(r.source),
		Sink:   probeSink{r.writer, r.probing},
		CalmHz: r.Rate,
		OnPoint: func(p *sample.Point) {
			small.adjust(p.At)
			r.sayLeft(p.At)
			if r.onPoint != nil {
				r.onPoint(p)
			}
			if !r.quiet {
				r.status.point(r, p)
			}
		},
		OnSinkError: func(err error) {
			r.status.warn("highwater: the recording ends here, the program keeps running: %v", err)
		},
	}
	// A sink error is told above; the program's life does not depend on it.
	return comes(context.WithoutCancel(ctx), r.source.Stuck(), func() { _ = loop.Run(context.WithoutCancel(ctx)) })
}

// follow waits for a program that nobody watches any more, as a shell would, and gives
// its exit code. What it gets of signals is passed on.
func (r *session) follow(pid int) int {
	r.hangs = true
	r.status.warn("highwater: a read of the program hangs, as of a file server that does not answer: detached; the program keeps running, and its recording ends here")
	ended := make(chan int, 1)
	go func() { ended <- reap(pid) }()
	for {
		select {
		case code := <-ended:
			return code
		case got := <-r.signals:
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Signal(got) // it may have ended
			}
		}
	}
}

// sayLeft says once that the program has ended and others of its live on. A
// process that is not traced is known to have ended a little later.
func (r *session) sayLeft(now time.Time) {
	switch {
	case r.saidLeft || r.source.Left() == 0:
	case r.leftSince.IsZero():
		r.leftSince = now
	case now.Sub(r.leftSince) > leftAfter:
		r.saidLeft = true
		r.status.say("the program ended with code %d; watching what it left", r.source.ExitCode())
	}
}

// forward passes signals on to the program. On a terminal the keyboard's signals
// reach it anyway, as it runs in our process group.
func (r *session) forward(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case got := <-r.signals:
			sig := got.(syscall.Signal)
			if r.sharesTerminal && (sig == syscall.SIGINT || sig == syscall.SIGQUIT) {
				r.source.Note(sample.Event{At: time.Now(), Kind: sample.EventSignal, Value: int64(sig), Text: sample.SignalKeyboard})
				continue
			}
			_ = r.source.Signal(sig, sample.SignalForwarded) // gone already: the loop ends by itself
		}
	}
}

// await stops the program for its reason.
func (e ending) await(ctx context.Context, stop stopper) {
	select {
	case <-ctx.Done():
	case <-e.when:
		stop.because(e.reason).stop(ctx)
	}
}

// endAfter stops the program after some time.
func (r *session) endAfter(ctx context.Context, d time.Duration, stop stopper) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
		r.status.say("%s are over: stopped the program", units.Duration(d))
		stop.stop(ctx)
	}
}

// drive waits for readiness, runs the load and stops the program after it.
func (r *session) drive(ctx context.Context, stop stopper, out io.Writer) {
	waiting, cancel := context.WithTimeout(ctx, r.ReadyFor)
	err := r.readiness.wait(waiting)
	cancel()
	switch {
	case ctx.Err() != nil && err != nil:
		r.status.say("the program ended before it was ready: the load was not started")
		return
	case err != nil:
		r.ready = &ExitError{Code: ExitFailed, Hint: "--ready-timeout sets how long to wait",
			Err: fmt.Errorf("the program did not answer at %s within %s", r.readiness, units.Duration(r.ReadyFor))}
		stop.because(sample.SignalUnready).stop(ctx)
		return
	}
	if r.readiness != (readiness{}) {
		r.source.Note(sample.Event{Kind: sample.EventReady, Text: r.KeepArgs.word(r.readiness.String())})
	}
	r.source.Note(sample.Event{Kind: sample.EventLoadStart, Text: r.KeepArgs.shell(r.Load)})
	code, output, err := runLoad(ctx, r.Load, r.loadGroup, out)
	if ctx.Err() != nil {
		r.status.say("the program ended: stopped the load")
	} else if err != nil {
		r.status.say("highwater: %v", err)
		code, output = ExitFailed, err.Error()
	}
	r.source.Note(sample.Event{Kind: sample.EventLoadEnd, Value: int64(code), Text: procfs.RedactText(output)})
	if ctx.Err() == nil {
		r.status.say("the load ended with code %d: stopped the program", code)
		if code != ExitDone {
			r.loadFailed = &ExitError{Code: ExitFailed, Err: fmt.Errorf("the load failed: it ended with code %d", code),
				Hint: "--exit-code program ends with the code of the program instead"}
		}
		stop.because(sample.SignalLoadEnd).stop(ctx)
	}
}
