package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/decide/trial"
	"github.com/highwater-go/highwater/internal/measure/pacer"
	"github.com/highwater-go/highwater/internal/show/report"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// A run of a search is lost after slowest times the free run's time, but not before
// leastTimeout: it is alive, and of no use.
const (
	slowest      = 4
	leastTimeout = 30 * time.Second
)

type FitFlags struct {
	TrialFlags
	From, To string
	Confirm  int
	JSON     bool
}

// fit is a search that is possible as far as flags can tell.
type fit struct {
	FitFlags
	*stage
	base     variant
	from, to sample.Bytes // 0: not given
	answer   *trial.Fit
}

func (f FitFlags) Plan(args []string) (*fit, error) {
	t := &fit{FitFlags: f, base: newVariant("fit", trial.Command{Args: args})}
	if _, err := f.flagsFor("", "").Plan(args); err != nil {
		return nil, err
	}
	if f.Confirm < 1 || f.Confirm > 1000 {
		return nil, Usagef("--runs 10", "--runs %d is not between 1 and 1000", f.Confirm)
	}
	for _, limit := range []struct {
		flag, text string
		into       *sample.Bytes
	}{{"--limit-from", f.From, &t.from}, {"--limit-to", f.To, &t.to}} {
		if limit.text == "" {
			continue
		}
		n, err := units.ParseSize(limit.text)
		if err != nil {
			return nil, Usagef(limit.flag+" 64MiB", "%s: %w", limit.flag, err)
		}
		if n < minLimit {
			return nil, Usagef("choose at least "+units.Limit(uint64(minLimit)), "%s %s is too small for any Go program to start", limit.flag, limit.text)
		}
		*limit.into = sample.Bytes(n)
	}
	if t.from > 0 && t.to > 0 && t.from >= t.to {
		return nil, Usagef("--limit-from 64MiB --limit-to 256MiB", "--limit-from %s is not below --limit-to %s", f.From, f.To)
	}
	var err error
	t.stage, err = f.stage(filepath.Base(args[0]) + "-fit")
	return t, err
}

// Run does the whole of it. An interrupt ends the run under way and leaves its
// recordings.
func (t *fit) Run(ctx context.Context, s *Streams) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	surviveBrokenPipe()
	t.status = newStatus(s.Err)
	defer t.status.end()
	err := t.search(ctx)
	if errors.Is(err, errInterrupted) {
		t.status.say("interrupted; the recordings are in %s", t.folder)
		return ExitWith(signalExitCodeOff + int(syscall.SIGINT))
	}
	if err != nil {
		return err
	}
	t.status.end()
	kept := *t.answer
	kept.Load = t.stage.KeepArgs.shell(t.stage.Load)
	if err := writeOutput(filepath.Join(t.folder, "fit.json"), func(w io.Writer) error { return report.JSON(w, &kept) }); err != nil {
		return err
	}
	if t.JSON {
		err = report.JSON(s.Out, t.answer)
	} else {
		err = report.FitText(s.page(), t.answer, s.look().With(t.next()))
	}
	if err == nil && t.answer.Recommended == nil {
		return ExitWith(ExitInconclusive)
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
		return &ExitError{Code: ExitFailed, Err: fmt.Errorf("%s does not come to its end even without a limit: %s", t.base.command.Args[0], free.Why),
			Hint: "its output: " + logOf(filepath.Join(t.folder, free.Recording))}
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
	if took := time.Duration(free.Values[trial.FigureTime]); t.stage.Timeout == DefaultTimeout && took > 0 {
		t.stage.Timeout = min(max(slowest*took, leastTimeout), DefaultTimeout)
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
	s := &trial.Search{From: from, To: to, Floor: minLimit, Ceiling: max(4*n.peak, 2*to), Confirm: t.Confirm}
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
