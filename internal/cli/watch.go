package cli

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/cgroup"
	"github.com/highwater-go/highwater/internal/lastbreath"
	"github.com/highwater-go/highwater/internal/watch"
)

// watchFlags are watch's flags as given.
type watchFlags struct {
	cgroup, container, output string
	all, quiet                bool
	enableHeapProfile         bool
	figuresAlone              bool
	runFor                    time.Duration
	rate, atMost              int
	ask                       askFlags
	expect                    expectFlag
	heap                      heapWishFlag
	keepArgs                  keepArgs
}

func watchCommand(s *streams) *cobra.Command {
	var f watchFlags
	c := &cobra.Command{
		Use:   "watch PID|NAME... | --cgroup PATH | --container ID | --all",
		Short: "Watch programs that run already, and explain their memory",
		Long: `Watches programs that somebody else started, as run does: the same figures, the
same moments, the last breath, one recording for each life of a program with all
that it starts.

A PID is watched until it ends. A NAME is that of an executable: all that are
called so are watched, those that start later too, so a service that is started
again gets a new recording; Ctrl-C ends it. --cgroup and --container watch all
that is in a cgroup, in one recording. --all watches every Go program that may be
read, each by itself, up to --at-most.

Nothing of a program is changed and nothing of it is stopped, but for --heap: its
memory is read, and one of its threads, which in a Go program hardly ever gets a
signal, is traced so that the kernel holds the program at its exit. On Ctrl-C,
SIGTERM or kill -9 of highwater the kernel lets go of it and it lives on. A debugger
cannot attach meanwhile, as a thread has one tracer; a program that is traced already
is watched without its last breath.

A program whose linker left heap profiling out has no allocation sites to show.
--enable-heap-profile changes that in a program that runs: it writes 524288, Go's
default, to its variable runtime.MemProfileRate if that is 0, and says so. From
then on, until the program ends, it samples one allocation in 512 KiB, as most
programs do; what it had allocated before stays unknown. What a shell or another
program that is not Go starts while it is watched is switched on before its first
instruction, what a Go program starts when it is found. Without the flag nothing
is ever written.

The same user may watch a program unless the kernel forbids it (highwater doctor),
root any, and so may whoever has CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH. Beside its
target in one container it needs no rights but those. Without CAP_SYS_PTRACE, what a
watched program starts loses set-user-id bits and file capabilities: the kernel
ignores them in a program that is traced.`,
		Example: `  highwater watch 4711
  highwater watch server --for 10m
  highwater watch 4711 --enable-heap-profile -o leak.hwm
  highwater watch --container 3f4e5d6c7b8a
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
	flags.StringVar(&f.cgroup, "cgroup", "", "watch all that is in this cgroup: its `path` as in /proc/PID/cgroup, or its directory")
	flags.StringVar(&f.container, "container", "", "watch the container with this `ID`, or the beginning of one: Docker, containerd, CRI-O, Podman")
	flags.BoolVar(&f.all, "all", false, "watch every Go program of this machine, or of this PID namespace")
	flags.IntVar(&f.atMost, "at-most", 32, "how many programs at the same time, with --all or a NAME")
	flags.DurationVar(&f.runFor, "for", 0, "end the watch after this time; the programs go on")
	flags.StringVarP(&f.output, "output", "o", "", "recording to write, of one PID, cgroup or container (default: a new one in the state directory)")
	flags.IntVar(&f.rate, "rate", 10, "samples a second in calm")
	flags.BoolVar(&f.enableHeapProfile, "enable-heap-profile", false, "switch heap profiling on, by a write into its memory, in a program that runs without it")
	flags.BoolVar(&f.figuresAlone, "figures-alone", false, "watch also a program whose memory may not be read: its resident set and its cgroup's charge")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print neither progress nor the explanation")
	f.ask.add(c)
	f.expect.add(c)
	f.heap.add(c, false)
	f.keepArgs.add(c)
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
}

const watchHint = "highwater watch 4711, highwater watch NAME, or --cgroup, --container, --all"

// plan is what a command, watch or top, is asked to watch.
func (f watchFlags) plan(command string, args []string) (*watching, error) {
	w := &watching{watchFlags: f}
	for _, arg := range args {
		if pid, err := strconv.Atoi(arg); err == nil && pid > 0 {
			w.pids = append(w.pids, pid)
		} else {
			w.names = append(w.names, arg)
		}
	}
	kinds := 0
	for _, given := range []bool{len(args) > 0, f.cgroup != "", f.container != "", f.all} {
		if given {
			kinds++
		}
	}
	switch {
	case kinds == 0:
		return nil, usagef(watchHint, "%s needs a program", command)
	case kinds > 1:
		return nil, usagef(watchHint, "%s takes programs, or one of --cgroup, --container and --all", command)
	case len(w.pids) > 0 && len(w.names) > 0:
		return nil, usagef("highwater "+command+" 4711 4712, or highwater "+command+" server worker", "%s takes pids or names, not both: a name is followed through its restarts, a pid is not", command)
	case f.output != "" && (len(args) > 1 || len(w.names) > 0 || f.all):
		return nil, usagef("leave it out: each recording is named after its program and the time", "-o names one recording, and this may make several")
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
		return nil, usagef("watch that program alone", "--metrics and --probe are of one program, and this may watch several")
	}
	if _, err = f.expect.budget(); err != nil {
		return nil, err
	}
	if w.heaps, err = f.heap.plan(); err != nil {
		return nil, err
	}
	return w, w.findGroup()
}

// findGroup finds the cgroup that was asked for.
func (w *watching) findGroup() (err error) {
	if w.hierarchy, err = cgroup.Detect("/"); err != nil {
		w.hierarchy = nil
	}
	switch {
	case w.cgroup == "" && w.container == "":
		return nil
	case err != nil:
		return &exitError{code: exitNotPermitted, err: err, hint: "without one, a PID can be watched"}
	case w.cgroup != "":
		w.group = w.cgroup
		return nil
	}
	found, err := watch.FindContainer(w.hierarchy, w.container)
	switch {
	case err != nil:
		return usagef("docker ps, crictl ps and podman ps show ids", "--container: %w", err)
	case len(found) == 0:
		return usagef("a container's cgroup is seen from the host, or with the host's cgroup namespace; inside, watch a PID", "no container %s is seen below %s", w.container, w.hierarchy.Mount)
	case len(found) > 1:
		return usagef("give more of the id", "%d containers begin with %s", len(found), w.container)
	}
	w.group = found[0]
	return nil
}

// options are those of a source for programs that are not ours.
func (w *watching) options(status *status) watch.Options {
	return watch.Options{
		Narrow:        true,
		HeapProfile:   w.enableHeapProfile,
		EnableRunning: w.enableHeapProfile,
		FiguresAlone:  w.figuresAlone,
		Alone:         w.all,
		KeepArgs:      bool(w.keepArgs),
		Say:           func(line string) { status.say("%s", line) },
	}
}

// run watches until all have ended, or it is told to end.
func (w *watching) run(ctx context.Context, s *streams) error {
	f := newFollower(w, s)
	ctx, cancel := f.until(ctx)
	defer cancel()
	surviveBrokenPipe()
	began := make(chan error, 1)
	if !comes(ctx, nil, func() { began <- f.run(ctx) }) {
		return fmt.Errorf("begin to watch: %w", lastbreath.ErrStuck)
	}
	f.lives.Wait()
	f.status.end()
	return <-began
}
