package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/eyes/container"
	"github.com/highwater-go/highwater/internal/eyes/filepages"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/record/watch"
	"github.com/highwater-go/highwater/internal/show/top"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// A program that starts is found within findEvery, or longer where looking
// through the machine would take more than a hundredth of the time; within findWithin in
// any case.
const (
	findEvery  = 250 * time.Millisecond
	findShare  = 100
	findWithin = 5 * time.Second
)

// findAfter is how long after a look that took so long the next one is due. What it waited
// for on a busy machine, or while it attached to programs, does not count as looking.
func findAfter(took time.Duration) time.Duration {
	return min(max(findEvery, findShare*took), findWithin)
}

// follower keeps a recording of each life of what is watched.
type follower struct {
	*watching
	streams *Streams
	status  *status
	faults  *faultPool
	lives   sync.WaitGroup

	// For a view of it: nil, "" and nil without.
	board *top.Board
	dir   string // of the recordings, where that is not the state directory
	guard func() // deferred by what watches: it may recover

	agent *agent // nil: what is seen goes into recordings alone

	mu      sync.Mutex // of what follows, and of the answers' order
	thrift  *thrift
	sources sources
	finding bool // more may come

	// Of followNames:
	came    bool // what is looked for was found once
	crowded bool // it was said that there are more
	beyond  int  // how many more there are
	settled int  // how many were watched when nothing was left to attach to, or unsettled
}

// unsettled is that something that was found is still to be attached to.
const unsettled = -1

func newFollower(w *watching, s *Streams) *follower {
	out := io.Writer(s.Err)
	if w.Quiet {
		out = io.Discard
	}
	f := &follower{watching: w, streams: s, status: newStatus(out), thrift: newThrift(), sources: sources{}, faults: w.Native.faultPool(w.faultProfiles)}
	w.owners, _ = filepages.OpenOwners("/proc") // nil where that is not permitted: doctor says why
	f.dropRights(f.faults.any())
	return f
}

// needs are those of a watch, before it reads anything of a program.
func (w *watching) needs() watch.Needs {
	n := watch.Needs{Writes: w.EnableHeapProfile}
	if w.Output != "" {
		n.Into = append(n.Into, filepath.Dir(w.Output))
	} else if dir, err := stateDir(); err == nil {
		n.Into = append(n.Into, dir)
	}
	return n
}

// dropRights gives up what this watch need not have; faults: it will take programs into
// a profile of page faults.
func (f *follower) dropRights(faults bool) {
	n := f.needs()
	n.Faults = faults
	dropRights(f.status, n)
}

// dropRights gives up what root may do and a watcher need not. Where that fails it goes on
// with all.
func dropRights(status *status, n watch.Needs) {
	if err := watch.DropRights(n); err != nil {
		status.say("highwater: all capabilities are kept: %v", err)
	}
}

// until ends a watch at --for, or at the first signal. One that comes a second
// later does what it does by default; timeout(1) sends each twice.
func (f *follower) until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	cancel := stop
	if f.RunFor > 0 {
		ctx, cancel = context.WithTimeout(ctx, f.RunFor)
	}
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, stop) })
	return ctx, cancel
}

// share readies what the programs of a watch of several have in common, until ctx ends. The
// caller calls done after the last of them.
func (f *follower) share(ctx context.Context) (done func()) {
	if len(f.pids) == 1 || f.group != "" {
		return func() {}
	}
	common, wheel := watch.NewCommon("/proc"), capture.NewWheel()
	f.common, f.wheel = common, wheel
	stop := context.AfterFunc(ctx, common.Retire)
	return func() {
		stop()
		common.Close()
		wheel.Close()
	}
}

// followPIDs watches the processes that were named until they have ended.
func (f *follower) followPIDs(ctx context.Context) error {
	var errs []error
	for _, pid := range f.pids {
		if !f.watches(pid) {
			errs = append(errs, cannotWatch(pid, f.attach(ctx, pid)))
		}
	}
	return errors.Join(errs...)
}

// noProcess is that nothing has the PID that was given.
func noProcess(pid string) error {
	return Usagef("pgrep NAME shows pids; highwater watch NAME waits for a program", "there is no process %s", pid)
}

// cannotWatch is why a process is not watched, in a user's words.
func cannotWatch(pid int, err error) error {
	switch {
	case errors.Is(err, procfs.ErrGone):
		return noProcess(strconv.Itoa(pid))
	case errors.Is(err, fs.ErrPermission):
		return &ExitError{Code: exitNotPermitted, Err: err,
			Hint: "--rss-only records what anybody may see of it, its resident set and its cgroup's charge; highwater doctor says more"}
	}
	return err
}

// run watches what was asked for: until all have ended, or, where that may start
// again, until ctx ends.
func (f *follower) run(ctx context.Context) error {
	switch {
	case f.group != "":
		return f.followGroup(ctx)
	case f.All || len(f.names) > 0:
		return f.followNames(ctx)
	}
	return f.followPIDs(ctx)
}

// followGroup watches all that is in a cgroup until nothing is.
func (f *follower) followGroup(ctx context.Context) error {
	source, group, err := f.openGroup()
	if err != nil {
		return err
	}
	l := &life{follower: f, source: source, name: container.ShortName(group.Path), what: "all in " + f.where(group.Path), end: func() { group.Close() }}
	return l.begin(ctx, sample.Program{})
}

// openGroup attaches to all that is in the cgroup. The caller closes both.
func (f *follower) openGroup() (*watch.Source, *cgroup.Cgroup, error) {
	group, err := f.hierarchy.Open(f.group)
	if errors.Is(err, fs.ErrNotExist) && f.group != "/" {
		return nil, nil, Usagef("/proc/PID/cgroup shows a program's", "there is no memory cgroup %s here", f.group)
	}
	if err != nil {
		return nil, nil, Usagef("/proc/PID/cgroup shows a program's", "--cgroup: %w", err)
	}
	o := f.options(f.status)
	f.faults.join(&o)
	o.Group, o.Allocs = group, f.probes
	source, err := watch.New(o)
	if err != nil {
		group.Close()
		return nil, nil, err
	}
	n, err := source.AttachGroup()
	if err != nil || n == 0 {
		source.Close()
		f.faults.giveBack(source)
		group.Close()
		return nil, nil, errors.Join(err, Usagef("it is watched while something runs in it", "no program runs in %s", group.Path))
	}
	return source, group, nil
}

// followNames watches all programs that match, those that start later too, until
// ctx ends.
func (f *follower) followNames(ctx context.Context) error {
	finder := watch.Finder{Names: f.names, AllGo: f.All}
	f.finding = true
	refused := map[sample.ProcessKey]error{}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for first := true; ; first = false {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		began := time.Now()
		complaints, err := f.look(ctx, &finder, refused)
		if err != nil && f.agent == nil {
			return err
		}
		if ctx.Err() != nil {
			return nil // the tracer may be closed by now: what it refused since counts for nothing
		}
		if f.agent != nil && f.agent.cannotLook(err) {
			timer.Reset(findAfter(time.Since(began)))
			continue
		}
		if first {
			if err := f.introduce(&finder, refused); err != nil {
				return err
			}
		}
		for _, c := range complaints {
			f.status.say("%v", c)
		}
		if f.agent != nil {
			f.agent.complain(complaints)
			f.agent.unseen(finder.Hidden(), f.beyond, refused)
		}
		timer.Reset(findAfter(time.Since(began)))
	}
}

// look attaches to what is new, the largest first, and complains once of what may not be
// watched. What is too much is watched when another has ended, or in a view once it is
// larger than one that is watched.
func (f *follower) look(ctx context.Context, finder *watch.Finder, refused map[sample.ProcessKey]error) (complaints []error, err error) {
	pids, err := finder.Find()
	if err != nil {
		return nil, err
	}
	if finder.Same() && f.settled == f.count() && !f.full() {
		return nil, nil
	}
	pids, f.settled = slices.Clone(pids), unsettled
	f.beyond = max(0, len(pids)-f.AtMost)
	f.came = f.came || len(pids) > 0
	largestFirst(pids)
	f.thrift.expects(min(len(pids), f.AtMost))
	f.tellCrowd(len(pids))
	complaints, all := f.attachNew(ctx, pids, refused)
	if all {
		f.settled = f.count()
	}
	return complaints, nil
}

// attachNew attaches to those of some processes that are not watched yet, and complains of those that may not be. all
// is false where there was no room for some, one was gone before it could be watched, or descriptors or memory were short,
// which may pass.
func (f *follower) attachNew(ctx context.Context, pids []int, refused map[sample.ProcessKey]error) (complaints []error, all bool) {
	all = true
	for _, pid := range pids {
		if ctx.Err() != nil {
			return nil, false
		}
		key, err := procfs.KeyOf("/proc", pid)
		before := refused[key]
		if err != nil || f.watches(pid) || before != nil && !procfs.IsShortage(before) {
			continue
		}
		if f.full() {
			if l := f.outgrown(pid); l != nil {
				l.giveUp() // the next look attaches
			}
			return complaints, false
		}
		switch err := f.attach(ctx, pid); {
		case errors.Is(err, procfs.ErrGone):
			all = false
		case err == nil:
			delete(refused, key)
		default:
			all = all && !procfs.IsShortage(err)
			if refused[key] = err; before == nil {
				complaints = append(complaints, err)
			}
		}
	}
	return complaints, all
}

// tellCrowd says that there are more programs than are watched, in a view all the time, else
// once.
func (f *follower) tellCrowd(found int) {
	text := f.crowd(found)
	switch {
	case f.board != nil && text == "":
		f.board.Found(0)
	case f.board != nil:
		f.board.Found(found)
	case text != "" && !f.crowded:
		f.crowded = true
		f.status.say("watching %s", text)
	}
}

// introduce says after the first look what there is, and refuses where all is
// forbidden. An agent waits for others: the only program of a new node may be one that wants no watcher.
func (f *follower) introduce(finder *watch.Finder, refused map[sample.ProcessKey]error) error {
	if f.All {
		f.status.say("every Go program, %d at most; at %d samples a second each takes about %.1f %% of a core while it moves and a hundredth of a percent at rest, and 1 MiB of memory on top of the first 30 MiB",
			f.AtMost, f.Rate, 0.05*float64(f.Rate))
		if n := finder.Hidden(); n > 0 {
			f.status.say("skipped %d processes owned by other users, which may be Go programs (seeing them needs root)", n)
		}
	}
	if f.count() > 0 || f.agent != nil {
		return nil
	}
	for _, err := range refused {
		return cannotWatch(0, err)
	}
	f.status.say("%s runs yet: waiting for one (Ctrl-C ends this)", f.nothing())
	return nil
}

// nothing is what was looked for and is not there.
func (f *follower) nothing() string {
	if f.All {
		return "no Go program"
	}
	return "no program called " + strings.Join(f.names, " or ")
}

// neverCame is the error of a watch that waited for programs in vain, nil for any other.
func (f *follower) neverCame() error {
	if f.came || !f.finding {
		return nil
	}
	return &ExitError{Code: ExitInconclusive, Err: fmt.Errorf("%s ran while highwater watched", f.nothing()),
		Hint: "a NAME is that of an executable: pgrep -l NAME, or highwater top, shows what runs"}
}

// attach watches a process with all below it.
func (f *follower) attach(ctx context.Context, pid int) error {
	source, program, err := f.openProgram(pid)
	if err != nil {
		return err
	}
	l := &life{follower: f, source: source, name: program.Name, pid: pid, what: fmt.Sprintf("%s, pid %d", program.Name, pid)}
	return l.begin(ctx, program)
}

// openProgram attaches to a process. The caller closes the source.
func (f *follower) openProgram(pid int) (*watch.Source, sample.Program, error) {
	o := f.options(f.status)
	if f.agent != nil {
		if err := f.agent.choose(pid, &o); err != nil {
			return nil, sample.Program{}, err
		}
	}
	f.faults.join(&o)
	o.Allocs = f.probes
	source, err := watch.New(o)
	if err != nil {
		return nil, sample.Program{}, err
	}
	program, err := source.Attach(pid)
	if err != nil {
		source.Close()
		f.faults.giveBack(source)
		return nil, program, err
	}
	if f.faults.any() && len(f.pids) == 1 {
		f.dropRights(false)
	}
	return source, program, nil
}

// watches says whether a process is watched already, by itself or below another.
func (f *follower) watches(pid int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for source := range f.sources {
		if source.Watches(pid) {
			return true
		}
	}
	return false
}

func (f *follower) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.sources)
}
