package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/pacer"
	"github.com/highwater-go/highwater/internal/report"
	"github.com/highwater-go/highwater/internal/sample"
	"github.com/highwater-go/highwater/internal/trial"
	"github.com/highwater-go/highwater/internal/units"
)

// A run of a search is lost after slowest times the free run's time, but not before
// leastTimeout: it is alive, and of no use.
const (
	slowest      = 4
	leastTimeout = 30 * time.Second
)

type fitFlags struct {
	trialFlags
	from, to string
	confirm  int
	json     bool
}

func fitCommand(s *streams) *cobra.Command {
	var f fitFlags
	c := &cobra.Command{
		Use:   "fit [flags] -- PROGRAM [ARGS...]",
		Short: "Find the smallest memory limit that a program survives",
		Long: `Runs a program once without a limit, starts from what tune predicts, and bisects under
real limits: as it is, and with a GOMEMLIMIT that follows the limit. Further runs confirm
the result and bound its failure rate. A run that livelocks, runs out of time or needs
three times the CPU does not survive.

The program must end: by itself, by its --load or by --for.`,
		Example: `  highwater fit -- ./batch input.csv
  highwater fit --load ./load.sh --ready 8080 -- ./server -addr :8080
  highwater fit --runs 20 --limit-from 64MiB --limit-to 256MiB --for 30s -- ./worker`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("highwater fit --load ./load.sh -- ./server", "fit needs a program")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			t, err := f.plan(args)
			if err != nil {
				return err
			}
			return t.run(c.Context(), s)
		},
	}
	flags := c.Flags()
	flags.SetInterspersed(false)
	flags.StringVar(&f.from, "limit-from", "", "search from this `limit`, expected to be too small (default: what tune predicts)")
	flags.StringVar(&f.to, "limit-to", "", "search up to this `limit`, expected to be enough (default: what tune predicts)")
	flags.IntVar(&f.confirm, "runs", 10, "runs that confirm a limit: after 10 the failure rate is below 26 %, after 20 below 14 % (95 % confidence)")
	flags.BoolVar(&f.json, "json", false, "print as JSON")
	addTrial(&f.trialFlags, c)
	return c
}

// fit is a search that is possible as far as flags can tell.
type fit struct {
	fitFlags
	*stage
	base     variant
	from, to sample.Bytes // 0: not given
	answer   *trial.Fit
}

func (f fitFlags) plan(args []string) (*fit, error) {
	t := &fit{fitFlags: f, base: newVariant("fit", trial.Command{Args: args})}
	if _, err := f.flagsFor("", "").plan(args); err != nil {
		return nil, err
	}
	if f.confirm < 1 || f.confirm > 1000 {
		return nil, usagef("--runs 10", "--runs %d is not between 1 and 1000", f.confirm)
	}
	for _, limit := range []struct {
		flag, text string
		into       *sample.Bytes
	}{{"--limit-from", f.from, &t.from}, {"--limit-to", f.to, &t.to}} {
		if limit.text == "" {
			continue
		}
		n, err := units.ParseSize(limit.text)
		if err != nil {
			return nil, usagef(limit.flag+" 64MiB", "%s: %w", limit.flag, err)
		}
		if n < minLimit {
			return nil, usagef("choose at least "+units.Limit(uint64(minLimit)), "%s %s is too small for any Go program to start", limit.flag, limit.text)
		}
		*limit.into = sample.Bytes(n)
	}
	if t.from > 0 && t.to > 0 && t.from >= t.to {
		return nil, usagef("--limit-from 64MiB --limit-to 256MiB", "--limit-from %s is not below --limit-to %s", f.from, f.to)
	}
	var err error
	t.stage, err = f.stage(filepath.Base(args[0]) + "-fit")
	return t, err
}

// run does the whole of it. An interrupt ends the run under way and leaves its
// recordings.
func (t *fit) run(ctx context.Context, s *streams) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	surviveBrokenPipe()
	t.status = newStatus(s.err)
	defer t.status.end()
	err := t.search(ctx)
	if errors.Is(err, errInterrupted) {
		t.status.say("interrupted; the recordings are in %s", t.folder)
		return exitWith(signalExitCodeOff + int(syscall.SIGINT))
	}
	if err != nil {
		return err
	}
	t.status.end()
	kept := *t.answer
	kept.Load = t.stage.keepArgs.shell(t.stage.load)
	if err := writeOutput(filepath.Join(t.folder, "fit.json"), func(w io.Writer) error { return report.JSON(w, &kept) }); err != nil {
		return err
	}
	if t.json {
		err = report.JSON(s.out, t.answer)
	} else {
		err = report.FitText(s.page(), t.answer, s.look().With(t.next()))
	}
	if err == nil && t.answer.Recommended == nil {
		return exitWith(exitInconclusive)
	}
	return err
}

// search makes the free run and both searches.
func (t *fit) search(ctx context.Context) error {
	free, err := t.one(ctx, scene{variant: t.base, file: "free"})
	if err != nil {
		return err
	}
	if free.Ended.Lost() {
		return &exitError{code: exitFailed, err: fmt.Errorf("%s does not come to its end even without a limit: %s", t.base.command.Args[0], free.Why),
			hint: "its output: " + logOf(filepath.Join(t.folder, free.Recording))}
	}
	t.status.say("without a limit: %s", needed(free))
	t.shorten(free)
	n, err := readNeed(filepath.Join(t.folder, free.Recording), free)
	if err != nil {
		return err
	}
	t.answer = &trial.Fit{Schema: trial.FitSchema, Free: free, Began: n.why, Notes: []string{}, Folder: t.folder}
	if t.answer.AsIs, err = t.fitted(ctx, n, false); err != nil {
		return err
	}
	if n.limitable {
		if t.answer.Limited, err = t.fitted(ctx, n, true); err != nil {
			return err
		}
	}
	t.answer.Setup = t.setup(filepath.Base(t.base.command.Args[0]), "", true)
	t.answer.Conclude(n.exe, n.setting, n.nonGo)
	t.prune()
	return nil
}

// shorten sets the time after which a run is of no use, unless it was given.
func (t *fit) shorten(free trial.Run) {
	if took := time.Duration(free.Values[trial.FigureTime]); t.stage.timeout == defaultTimeout && took > 0 {
		t.stage.timeout = min(max(slowest*took, leastTimeout), defaultTimeout)
	}
}

// fitted is one search to its end.
func (t *fit) fitted(ctx context.Context, n need, limited bool) (*trial.Fitted, error) {
	from, to := n.interval(limited)
	if t.from > 0 {
		from = t.from
	}
	if t.to > 0 {
		to = t.to
	}
	s := &trial.Search{From: from, To: to, Floor: minLimit, Ceiling: max(4*n.peak, 2*to), Confirm: t.confirm}
	name, file := "as it is", "asis"
	if limited {
		name, file = "with GOMEMLIMIT", "limit"
	}
	t.status.say("%s: searching %s to %s", name, units.Limit(from), units.Limit(to))
	out := &trial.Fitted{Steps: []trial.Step{}}
	for run := 1; ; run++ {
		limit, phase := s.Next()
		if phase == trial.Over {
			break
		}
		sc := scene{variant: t.base, file: fmt.Sprintf("%s-%d", file, run), limit: fmt.Sprint(uint64(limit))}
		if limited {
			sc.env = []string{"GOMEMLIMIT=" + units.Env(pacer.MemoryLimitFor(limit, n.nonGo))}
		}
		r, err := t.one(ctx, sc)
		if err != nil {
			return nil, err
		}
		if why := trial.Crawls(r, t.answer.Free); why != "" && !r.Ended.Lost() {
			r.Ended, r.Why = trial.Crawled, why
		}
		s.Note(!r.Ended.Lost())
		out.Steps = append(out.Steps, trial.Step{Limit: limit, Phase: phase, Ended: r.Ended, Why: r.Why, Recording: r.Recording,
			Latency: trial.Latencies(r.Values)})
		t.status.say("%s, %s %d: %s: %s", name, phase, run, units.Limit(limit), needed(r))
	}
	limit, confirmed, ok := s.Found()
	if !ok {
		return out, nil
	}
	out.Limit, out.Confirmed, out.Chance = limit, confirmed, trial.ClopperPearson(0, confirmed)
	if limited {
		g := pacer.MemoryLimitFor(limit, n.nonGo)
		out.GOMEMLIMIT = &g
	}
	return out, nil
}
