package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/capture"
	"github.com/highwater-go/highwater/internal/cgroup"
	"github.com/highwater-go/highwater/internal/faultprofile"
	"github.com/highwater-go/highwater/internal/filepages"
	"github.com/highwater-go/highwater/internal/lastbreath"
	"github.com/highwater-go/highwater/internal/watch"
)

// watchFlags are watch's flags as given.
type watchFlags struct {
	placeFlags
	output            string
	all, quiet        bool
	enableHeapProfile bool
	figuresAlone      bool
	runFor            time.Duration
	rate, atMost      int
	ask               askFlags
	expect            expectFlag
	heap              heapWishFlag
	keepArgs          keepArgs
	native            nativeFlag
}

func watchCommand(s *streams) *cobra.Command {
	var f watchFlags
	c := &cobra.Command{
		Use:   "watch PID|NAME...|--container NAME|--cgroup PATH|--all",
		Short: "Attach to running programs and record them as run does",
		Long: `Attaches to running programs and records them as run does: the same figures, the
state at the exit, and one recording for each life of a program with its children.

A PID is watched until it ends. A NAME is that of an executable: highwater watches all
programs of that name, also those that start later, until Ctrl-C. --container, --pod,
--unit and --cgroup record everything in a cgroup together; no daemon is asked. --all
records every Go program that may be read, each by itself, up to --at-most. Exit code 4:
no program of that NAME came.

Highwater changes nothing in a program and does not stop it, except for --heap. It reads
the program's memory and traces one thread, so that the kernel holds the program at its
exit. When highwater ends, by kill -9 too, the program keeps running. A debugger cannot
attach meanwhile, as a thread has one tracer.

Most servers have no heap profile, because the Go linker leaves it out where nothing
reads it: highwater cannot name their lines then. --enable-heap-profile sets
runtime.MemProfileRate to 524288, Go's default, in the running program, and says so. It
samples one allocation in 512 KiB from then on; memory allocated earlier has no line.

You may watch your own programs unless the kernel forbids it (see highwater doctor), and
as root any program. So may who has CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH. Without
CAP_SYS_PTRACE, what a watched program starts loses set-user-id bits and file
capabilities: the kernel ignores them in a traced program.`,
		Example: `  highwater watch 4711
  highwater watch server --for 10m
  highwater watch 4711 --enable-heap-profile -o leak.hwm
  highwater watch --container web
  highwater watch --container default/shop-0/web
  highwater watch --cgroup /system.slice/checkout.service`,
		RunE: func(c *cobra.Command, args []string) error {
			w, err := f.plan("watch", args)
			if err != nil {
				return err
			}
			return w.run(c.Context(), s)
		},
	}
	flags := c.Flags()
	f.addPlaces(c)
	flags.BoolVar(&f.all, "all", false, "watch every Go program of this machine, or of this PID namespace")
	flags.IntVar(&f.atMost, "at-most", 32, "maximum `number` of programs to watch, with --all or a NAME")
	flags.DurationVar(&f.runFor, "for", 0, "end the watch after this time; the programs keep running")
	flags.StringVarP(&f.output, "output", "o", "", "recording to write, of one PID, cgroup or container (default: a new one in the state directory)")
	flags.IntVar(&f.rate, "rate", 10, "samples per second while memory moves (1 at rest, up to 1000 near the limit)")
	flags.BoolVar(&f.enableHeapProfile, "enable-heap-profile", false, "enable heap profiling in a program that runs without it, by one write into its memory")
	flags.BoolVar(&f.figuresAlone, "rss-only", false, "without permission to read the memory of a program, record its RSS and cgroup usage only")
	formerly(flags, &f.figuresAlone, "figures-alone")
	c.ValidArgsFunction = completePrograms
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print neither progress nor the answer")
	f.ask.add(c)
	f.expect.add(c)
	f.heap.add(c, false)
	f.keepArgs.add(c)
	f.native.add(c)
	return c
}

// watching is a watch that is possible as far as flags can tell.
type watching struct {
	watchFlags
	pids      []int
	names     []string
	hierarchy *cgroup.Hierarchy // nil: none accounts memory
	group     string            // directory of the cgroup, "" for none
	asks      asks
	heaps     heapWish
	asked     bool // one life has them; under follower.mu
	common    *watch.Common
	wheel     *capture.Wheel
	probes    *faultprofile.AllocProfiler // nil: none were asked for
	// faultProfiles is how many programs have their page faults sampled at a time.
	faultProfiles int
	owners        *filepages.Owners // whose pages of files are; nil: that is not told here
}

const watchHint = "highwater watch 4711, highwater watch NAME, or --container, --pod, --unit, --cgroup, --all"

// plan is what a command, watch or top, is asked to watch.
func (f watchFlags) plan(command string, args []string) (*watching, error) {
	w := &watching{watchFlags: f}
	for _, arg := range args {
		pid, err := strconv.Atoi(arg)
		switch {
		case errors.Is(err, strconv.ErrRange) || err == nil && pid <= 0:
			return nil, noProcess(arg)
		case err == nil:
			w.pids = append(w.pids, pid)
		default:
			w.names = append(w.names, arg)
		}
	}
	kinds := max(0, f.places()-1)
	for _, given := range []bool{len(args) > 0, f.places() > 0, f.all} {
		if given {
			kinds++
		}
	}
	switch {
	case kinds == 0:
		return nil, usagef(watchHint, "%s needs a program", command)
	case kinds > 1:
		return nil, usagef(watchHint, "%s takes programs, or one of --container, --pod, --unit, --cgroup and --all", command)
	case len(w.pids) > 0 && len(w.names) > 0:
		return nil, usagef("highwater "+command+" 4711 4712, or highwater "+command+" server worker", "%s takes pids or names, not both: a name is followed through its restarts, a pid is not", command)
	case f.output != "" && (len(args) > 1 || len(w.names) > 0 || f.all):
		return nil, usagef("leave it out: each recording is named after its program and the time", "-o names one recording, but this may make several")
	case f.rate < 1 || f.rate > 1000:
		return nil, usagef("--rate 10", "--rate %d is not between 1 and 1000 samples a second", f.rate)
	case f.atMost < 1:
		return nil, usagef("--at-most 32", "--at-most %d leaves nothing to watch", f.atMost)
	}
	if f.output != "" {
		if _, err := recordingPath(f.output, ""); err != nil {
			return nil, err
		}
	}
	var err error
	if w.asks, err = f.ask.plan(); err != nil {
		return nil, err
	}
	if !w.asks.none() && (len(args) > 1 || f.all) {
		return nil, usagef("watch that program alone", "--metrics and --probe belong to one program, and this may watch several")
	}
	if _, err = f.expect.budget(); err != nil {
		return nil, err
	}
	if err = f.native.check(); err != nil {
		return nil, err
	}
	if f.native.how != "" && (len(args) > 1 || len(w.names) > 0 || f.all) {
		return nil, usagef("highwater watch --native=live PID", "--native=live follows one program or cgroup, and this may watch several")
	}
	if w.heaps, err = f.heap.plan(); err != nil {
		return nil, err
	}
	return w, w.findGroup()
}

// options are those of a source for programs that are not ours.
func (w *watching) options(status *status) watch.Options {
	return watch.Options{
		Narrow:        true,
		HeapProfile:   w.enableHeapProfile,
		EnableRunning: w.enableHeapProfile,
		FiguresAlone:  w.figuresAlone,
		Home:          true,
		Alone:         w.all,
		Common:        w.common,
		KeepArgs:      bool(w.keepArgs),
		Owners:        w.owners,
		Room:          tableRoom,
		Say:           func(line string) { status.say("%s", line) },
	}
}

// probe loads the probes that were asked for, while there are all rights.
func (w *watching) probe(s *streams) (err error) {
	out := io.Writer(s.err)
	if w.quiet {
		out = io.Discard
	}
	w.probes, err = w.native.make(newStatus(out))
	return err
}

func (w *watching) closeProbes() {
	if w.probes != nil {
		_ = w.probes.Close() // the kernel restores the code
	}
}

// run watches until all have ended, or it is told to end.
func (w *watching) run(ctx context.Context, s *streams) error {
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
