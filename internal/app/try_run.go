package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/decide/trial"
	"github.com/highwater-go/highwater/internal/show/report"
)

// Run does the whole of it; an interrupt ends the run under way and prints what
// there is.
func (t *Try) Run(ctx context.Context, s *Streams) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	surviveBrokenPipe()
	t.status = newStatus(s.Err)
	defer t.status.end()
	trees := &worktrees{status: t.status}
	defer trees.remove()
	cut := t.measure(ctx, trees)
	if !t.tells(cut) {
		return endedBy(cut)
	}
	return t.conclude(s, cut)
}

// measure builds the variants, reproduces the fault, and runs all of them in turns. What cuts it short is its error.
func (t *Try) measure(ctx context.Context, trees *worktrees) error {
	if err := t.build(ctx, trees); err != nil {
		return err
	}
	if err := t.reproduce(ctx); err != nil {
		return err
	}
	return t.rounds(ctx)
}

// tells says whether there is something to tell of a trial that was cut short, or was not.
func (t *Try) tells(cut error) bool {
	return cut == nil || errors.Is(cut, errNoFault) || errors.Is(cut, errInterrupted) && len(t.runs) > 0
}

// conclude keeps and prints what was measured.
func (t *Try) conclude(s *Streams, cut error) error {
	whole := cut == nil
	a := t.answer(cut)
	if whole {
		t.prune(a)
	}
	if err := t.keep(a, whole); err != nil {
		return err
	}
	if t.proof != nil && whole {
		if !t.JSON {
			return t.proof.conclude(t, s, a)
		}
		if a.Variants[0].Lost > 0 {
			if _, err := t.proof.write(t, a); err != nil {
				return err
			}
		}
	}
	if err := t.print(s, a); err != nil {
		return err
	}
	return endedBy(cut)
}

// endedBy is the error with which a trial ends that was cut short.
func endedBy(cut error) error {
	switch {
	case errors.Is(cut, errInterrupted):
		return ExitWith(signalExitCodeOff + int(syscall.SIGINT))
	case errors.Is(cut, errNoFault):
		return ExitWith(ExitInconclusive)
	}
	return cut
}

var (
	errInterrupted = errors.New("interrupted")
	errNoFault     = errors.New("the base has no fault")
)

// build makes the worktrees.
func (t *Try) build(ctx context.Context, trees *worktrees) error {
	for i := range t.variants {
		if t.variants[i].ref == "" {
			continue
		}
		if err := trees.add(ctx, &t.variants[i], t.TryFlags.Build, t.folder); err != nil {
			if ctx.Err() != nil {
				return errInterrupted
			}
			return err
		}
	}
	return nil
}

// reproduce runs the base until its fault is seen. These runs are not counted: that
// the last of them failed is why it is the last.
func (t *Try) reproduce(ctx context.Context) error {
	if t.Compare || t.proof != nil {
		return nil
	}
	base := t.variants[0]
	for n := 1; n <= reproductions; n++ {
		r, err := t.one(ctx, scene{variant: base, file: fmt.Sprintf("%s-first-%d", base.Name, n), limit: t.Limit})
		if err != nil {
			return err
		}
		if r.Ended == trial.Failed {
			return t.neverStarts(r, base)
		}
		t.reproduced.Runs = n
		if r.Ended.Lost() {
			t.reproduced.Lost, t.reproduced.Why = 1, r.Why
			t.noteCause(r)
			t.status.say("%s shows its fault: %s", base.Name, r.Why)
			return nil
		}
		t.status.say("%s ended normally, %d of %d: %s", base.Name, n, reproductions, needed(r))
	}
	return errNoFault
}

// neverStarts is the end of a trial in which a variant does not do its work at all.
func (t *Try) neverStarts(r trial.Run, v variant) error {
	return &ExitError{Code: ExitFailed, Err: fmt.Errorf("%s does not run: %s", v.Name, r.Why),
		Hint: "its output: " + logOf(filepath.Join(t.folder, r.Recording))}
}

// rounds runs all variants in turns.
func (t *Try) rounds(ctx context.Context) error {
	counts := make([]int, len(t.variants))
	order := trial.Order(len(t.variants), t.TryFlags.Runs)
	began := time.Now()
	for done, i := range order {
		v := t.variants[i]
		counts[i]++
		r, err := t.one(ctx, scene{variant: v, file: fmt.Sprintf("%s-%d", v.Name, counts[i]), limit: t.limitOf(v)})
		if err != nil {
			return err
		}
		r.Variant, r.N = v.Name, counts[i]
		if i == 0 {
			t.noteCause(r)
		}
		if r.Ended == trial.Failed && r.N == 1 {
			return t.neverStarts(r, v)
		}
		t.runs = append(t.runs, r)
		t.tell(r, done+1, len(order), time.Since(began))
	}
	return nil
}

// answer compares what there is; err says why it is not all.
func (t *Try) answer(err error) *trial.Answer {
	list := make([]trial.Variant, len(t.variants))
	for i, v := range t.variants {
		list[i] = v.Variant
	}
	a := trial.Compare(t.setup(filepath.Base(t.variants[0].command.Args[0]), t.Limit, t.Compare), list, t.runs)
	a.Reproduced, a.Folder = t.reproduced, t.folder
	switch {
	case errors.Is(err, errNoFault):
		a.Sentence = fmt.Sprintf("%s ended normally in all of %d runs: there is no fault here that a variant could fix.", list[0].Name, t.reproduced.Runs)
	case errors.Is(err, errInterrupted):
		a.Notes = append(a.Notes, fmt.Sprintf("interrupted after %d of %d runs", len(t.runs), len(list)*t.TryFlags.Runs))
	}
	return a
}

// keep writes the answer beside its recordings, as benchmarks and as a page. One that is not
// whole is not remembered: when to interrupt may have been chosen by what was seen.
func (t *Try) keep(a *trial.Answer, whole bool) error {
	a = t.asKept(a)
	if err := writeOutput(filepath.Join(t.folder, "try.json"), func(w io.Writer) error { return report.JSON(w, a) }); err != nil {
		return err
	}
	if whole && t.proof == nil {
		if err := t.remember(a); err != nil {
			return fmt.Errorf("keep what was found for explain: %w", err)
		}
	}
	if t.Bench != "" {
		if err := writeOutput(t.Bench, func(w io.Writer) error { return trial.WriteBench(w, a) }); err != nil {
			return err
		}
	}
	if t.HTML != "" {
		return t.page(a)
	}
	return nil
}

// asKept is an answer as files have it: without the values of arguments.
func (t *Try) asKept(a *trial.Answer) *trial.Answer {
	kept := *a
	kept.Load = t.stage.KeepArgs.shell(t.stage.Load)
	kept.Variants = slices.Clone(a.Variants)
	for i := range kept.Variants {
		kept.Variants[i].Command = t.stage.KeepArgs.variant(t.variants[i].command)
	}
	return &kept
}

func (t *Try) print(s *Streams, a *trial.Answer) error {
	t.status.end()
	if t.JSON {
		return report.JSON(s.Out, a)
	}
	return report.TryText(s.page(), a, s.look().With(t.next(a)))
}

// next is the recording to look at: one that was lost, or else the last that is kept.
func (t *Try) next(a *trial.Answer) string {
	file := fmt.Sprintf("%s-first-%d", t.variants[0].Name, max(1, t.reproduced.Runs))
	for _, r := range a.Runs {
		if r.Recording != "" {
			file = r.Recording
		}
		if r.Ended.Lost() {
			break
		}
	}
	return "highwater explain " + typed(filepath.Join(t.folder, file))
}
