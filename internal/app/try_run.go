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
	err := t.build(ctx, trees)
	if err == nil {
		err = t.reproduce(ctx)
	}
	if err == nil {
		err = t.rounds(ctx)
	}
	switch {
	case errors.Is(err, errInterrupted) && len(t.runs) == 0:
		return ExitWith(signalExitCodeOff + int(syscall.SIGINT))
	case err != nil && !errors.Is(err, errInterrupted) && !errors.Is(err, errNoFault):
		return err
	}
	a := t.answer(err)
	if err == nil {
		t.prune(a)
	}
	if writeErr := t.keep(a, err == nil); writeErr != nil {
		return writeErr
	}
	if t.proof != nil && err == nil && !t.JSON {
		return t.proof.conclude(t, s, a)
	}
	if t.proof != nil && err == nil && a.Variants[0].Lost > 0 {
		if _, err := t.proof.write(t, a); err != nil {
			return err
		}
	}
	if printErr := t.print(s, a); printErr != nil {
		return printErr
	}
	switch {
	case errors.Is(err, errInterrupted):
		return ExitWith(signalExitCodeOff + int(syscall.SIGINT))
	case errors.Is(err, errNoFault):
		return ExitWith(ExitInconclusive)
	}
	return nil
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
