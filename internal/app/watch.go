package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/eyes/faultprofile"
	"github.com/highwater-go/highwater/internal/eyes/filepages"
	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/record/watch"
)

// WatchFlags are watch's flags as given.
type WatchFlags struct {
	PlaceFlags
	Output            string
	All, Quiet        bool
	EnableHeapProfile bool
	FiguresAlone      bool
	RunFor            time.Duration
	Rate, AtMost      int
	Ask               AskFlags
	Expect            ExpectFlag
	Heap              HeapPolicyFlag
	KeepArgs          KeepArgs
	Native            NativeFlag
}

// watching is a watch that is possible as far as flags can tell.
type watching struct {
	WatchFlags
	pids      []int
	names     []string
	hierarchy *cgroup.Hierarchy // nil: none accounts memory
	group     string            // directory of the cgroup, "" for none
	asks      asks
	heaps     HeapPolicy
	asked     bool // one life has them; under follower.mu
	common    *watch.Common
	wheel     *capture.Wheel
	probes    *faultprofile.AllocProfiler // nil: none were asked for
	// faultProfiles is how many programs have their page faults sampled at a time.
	faultProfiles int
	owners        *filepages.Owners // whose pages of files are; nil: that is not told here
}

const watchHint = "highwater watch 4711, highwater watch NAME, or --container, --pod, --unit, --cgroup, --all"

// Plan is what a command, watch or top, is asked to watch.
func (f WatchFlags) Plan(command string, args []string) (*watching, error) {
	w := &watching{WatchFlags: f}
	err := w.choose(command, args)
	if err != nil {
		return nil, err
	}
	if w.asks, err = f.Ask.plan(); err != nil {
		return nil, err
	}
	if err = w.checkAlone(); err != nil {
		return nil, err
	}
	if err = checkRate(f.Rate); err != nil {
		return nil, err
	}
	if f.AtMost < 1 {
		return nil, Usagef("--at-most 32", "--at-most %d leaves nothing to watch", f.AtMost)
	}
	if err = w.checkOutput(); err != nil {
		return nil, err
	}
	if _, err = f.Expect.Budget(); err != nil {
		return nil, err
	}
	if err = f.Native.check(); err != nil {
		return nil, err
	}
	if w.heaps, err = f.Heap.plan(); err != nil {
		return nil, err
	}
	return w, w.findGroup()
}

// choose reads which programs are meant, and refuses where nothing is or more than one kind.
func (w *watching) choose(command string, args []string) error {
	kinds := max(0, w.places()-1)
	for _, given := range []bool{len(args) > 0, w.places() > 0, w.All} {
		if given {
			kinds++
		}
	}
	switch {
	case kinds == 0:
		return Usagef(watchHint, "%s needs a program", command)
	case kinds > 1:
		return Usagef(watchHint, "%s takes programs, or one of --container, --pod, --unit, --cgroup and --all", command)
	}
	for _, arg := range args {
		pid, err := strconv.Atoi(arg)
		switch {
		case errors.Is(err, strconv.ErrRange) || err == nil && pid <= 0:
			return noProcess(arg)
		case err == nil:
			w.pids = append(w.pids, pid)
		default:
			w.names = append(w.names, arg)
		}
	}
	if len(w.pids) > 0 && len(w.names) > 0 {
		return Usagef("highwater "+command+" 4711 4712, or highwater "+command+" server worker",
			"%s takes pids or names, not both: a name is followed through its restarts, a pid is not", command)
	}
	return nil
}

// several reports whether more than one program may be watched, not counting the restarts of one that was named.
func (w *watching) several() bool { return len(w.pids)+len(w.names) > 1 || w.All }

// checkAlone refuses what belongs to one program where several may be watched.
func (w *watching) checkAlone() error {
	switch {
	case w.several() && w.Output != "":
		return Usagef("leave it out: each recording is named after its program and the time", "-o names one recording, but this may make several")
	case w.several() && !w.asks.none():
		return Usagef("watch that program alone", "--metrics and --probe belong to one program, and this may watch several")
	case (w.several() || len(w.names) > 0) && w.Native.How == NativeLive:
		return Usagef("highwater watch --native=live PID", "--native=live follows one program or cgroup, and this may watch several")
	}
	return nil
}

// numbered reports whether -o names the first of several recordings: a name is followed through
// its restarts, and those of whoever watches.
func (w *watching) numbered() bool { return w.Output != "" && len(w.names) > 0 }

// checkOutput refuses what -o cannot be.
func (w *watching) checkOutput() error {
	switch {
	case w.Output == "":
		return nil
	case w.numbered():
		return aFileOfItsOwn(w.Output)
	}
	_, err := recordingPath(w.Output, "")
	return err
}

// options are those of a source for programs that are not ours.
func (w *watching) options(status *status) watch.Options {
	return watch.Options{
		Narrow:        true,
		HeapProfile:   w.EnableHeapProfile,
		EnableRunning: w.EnableHeapProfile,
		FiguresAlone:  w.FiguresAlone,
		Home:          true,
		Alone:         w.All,
		Common:        w.common,
		KeepArgs:      bool(w.KeepArgs),
		Owners:        w.owners,
		Room:          tableRoom,
		Say:           func(line string) { status.say("%s", line) },
	}
}

// probe loads the probes that were asked for, while there are all rights.
func (w *watching) probe(s *Streams) (err error) {
	out := io.Writer(s.Err)
	if w.Quiet {
		out = io.Discard
	}
	w.probes, err = w.Native.make(newStatus(out))
	return err
}

func (w *watching) closeProbes() {
	if w.probes != nil {
		_ = w.probes.Close() // the kernel restores the code
	}
}

// Run watches until all have ended, or it is told to end.
func (w *watching) Run(ctx context.Context, s *Streams) error {
	w.faultProfiles = faultProfilesAtOnce
	if len(w.pids) == 1 || w.group != "" {
		w.faultProfiles = 1
	}
	if err := w.probe(s); err != nil {
		return err
	}
	defer w.closeProbes()
	f := newFollower(w, s)
	defer f.faults.close()
	defer w.owners.Close()
	ctx, cancel := f.until(ctx)
	defer cancel()
	defer f.share(ctx)()
	surviveBrokenPipe()
	began := make(chan error, 1)
	if !comes(ctx, nil, func() { began <- f.run(ctx) }) {
		return fmt.Errorf("begin to watch: %w", lastbreath.ErrStuck)
	}
	f.lives.Wait()
	f.status.end()
	if err := <-began; err != nil {
		return err
	}
	return f.neverCame()
}
