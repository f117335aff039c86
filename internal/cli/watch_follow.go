package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/cgroup"
	"github.com/highwater-go/highwater/internal/procfs"
	"github.com/highwater-go/highwater/internal/sample"
	"github.com/highwater-go/highwater/internal/top"
	"github.com/highwater-go/highwater/internal/watch"
)

// A program that starts is found within findEvery, or longer where looking
// through the machine would take more than a hundredth of the time.
const (
	findEvery = 250 * time.Millisecond
	findShare = 100
)

// follower keeps a recording of each life of what is watched.
type follower struct {
	*watching
	streams *streams
	status  *status
	lives   sync.WaitGroup

	// For a view of it: nil, "" and nil without.
	board *top.Board
	dir   string // of the recordings, where that is not the state directory
	guard func() // deferred by what watches: it may recover

	mu      sync.Mutex // of what follows, and of the answers' order
	thrift  *thrift
	sources map[*watch.Source]bool
	finding bool // more may come
}

func newFollower(w *watching, s *streams) *follower {
	out := io.Writer(s.err)
	if w.quiet {
		out = io.Discard
	}
	return &follower{watching: w, streams: s, status: newStatus(out), thrift: newThrift(), sources: map[*watch.Source]bool{}}
}

// until ends a watch at --for, or at the first signal. One that comes a second
// later does what it does by default; timeout(1) sends each twice.
func (f *follower) until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	cancel := stop
	if f.runFor > 0 {
		ctx, cancel = context.WithTimeout(ctx, f.runFor)
	}
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, stop) })
	return ctx, cancel
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

// cannotWatch is why a process is not watched, in a user's words.
func cannotWatch(pid int, err error) error {
	switch {
	case errors.Is(err, procfs.ErrGone):
		return usagef("pgrep NAME shows pids; highwater watch NAME waits for a program", "there is no process %d", pid)
	case errors.Is(err, fs.ErrPermission):
		return &exitError{code: exitNotPermitted, err: err,
			hint: "--figures-alone records what anybody may see of it, its resident set and its cgroup's charge; highwater doctor says more"}
	}
	return err
}

// run watches what was asked for: until all have ended, or, where that may start
// again, until ctx ends.
func (f *follower) run(ctx context.Context) error {
	switch {
	case f.group != "":
		return f.followGroup(ctx)
	case f.all || len(f.names) > 0:
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
	l := &life{follower: f, source: source, name: watch.GroupName(group.Path), what: fmt.Sprintf("all in %s", group.Path), end: func() { group.Close() }}
	return l.begin(ctx, sample.Program{})
}

// openGroup attaches to all that is in the cgroup. The caller closes both.
func (f *follower) openGroup() (*watch.Source, *cgroup.Cgroup, error) {
	group, err := f.hierarchy.Open(f.group)
	if err != nil {
		return nil, nil, usagef("/proc/PID/cgroup shows a program's", "--cgroup: %w", err)
	}
	o := f.options(f.status)
	o.Group = group
	source, err := watch.New(o)
	if err != nil {
		group.Close()
		return nil, nil, err
	}
	n, err := source.AttachGroup(f.hierarchy)
	if err != nil || n == 0 {
		source.Close()
		group.Close()
		return nil, nil, errors.Join(err, usagef("it is watched while something runs in it", "no program runs in %s", group.Path))
	}
	return source, group, nil
}

// followNames watches all programs that match, those that start later too, until
// ctx ends.
func (f *follower) followNames(ctx context.Context) error {
	finder := watch.Finder{Names: f.names, AllGo: f.all}
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
		if err != nil {
			return err
		}
		if first {
			if err := f.introduce(&finder, refused); err != nil {
				return err
			}
		}
		for _, c := range complaints {
			f.status.say("%v", c)
		}
		timer.Reset(max(findEvery, findShare*time.Since(began)))
	}
}

// errFull says that as many are watched as may be.
var errFull = errors.New("--at-most allows no more")

// look attaches to what is new, and complains once of what may not be watched.
// What is too much is watched when another has ended.
func (f *follower) look(ctx context.Context, finder *watch.Finder, refused map[sample.ProcessKey]error) (complaints []error, err error) {
	pids, err := finder.Find()
	if err != nil {
		return nil, err
	}
	for _, pid := range pids {
		key, err := procfs.KeyOf("/proc", pid)
		full := f.count() == f.atMost
		switch before := refused[key]; {
		case err != nil || f.watches(pid):
			continue
		case before != nil && (full || !errors.Is(before, errFull)):
			continue
		case full:
			err = fmt.Errorf("process %d is not watched: %d are, and %w", pid, f.atMost, errFull)
		default:
			delete(refused, key)
			err = f.attach(ctx, pid)
		}
		if err != nil && !errors.Is(err, procfs.ErrGone) {
			refused[key] = err
			complaints = append(complaints, err)
		}
	}
	return complaints, nil
}

// introduce says after the first look what there is, and refuses where all is
// forbidden.
func (f *follower) introduce(finder *watch.Finder, refused map[sample.ProcessKey]error) error {
	if f.all {
		f.status.say("every Go program, %d at most; at %d samples a second each takes about %.1f %% of a core, and 2 MiB beside the first 20", f.atMost, f.rate, 0.05*float64(f.rate))
		if n := finder.Hidden(); n > 0 {
			f.status.say("of %d processes of other users it cannot be told whether they are Go programs", n)
		}
	}
	if f.count() > 0 {
		return nil
	}
	for _, err := range refused {
		return cannotWatch(0, err)
	}
	what := "no Go program"
	if !f.all {
		what = "no program called " + strings.Join(f.names, " or ")
	}
	f.status.say("%s runs yet: waiting for one (Ctrl-C ends this)", what)
	return nil
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
	source, err := watch.New(f.options(f.status))
	if err != nil {
		return nil, sample.Program{}, err
	}
	program, err := source.Attach(pid, f.hierarchy)
	if err != nil {
		source.Close()
		return nil, program, err
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
