package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/report"
	"github.com/highwater-go/highwater/internal/trial"
)

// reproductions is how often the base may run to show its fault.
const reproductions = 3

type tryFlags struct {
	trialFlags
	limit, bench, build string
	sweeps, refs        []string
	runs                int
	compare, json       bool
}

func tryCommand(s *streams) *cobra.Command {
	var f tryFlags
	c := &cobra.Command{
		Use:   "try [flags] base=CMD NAME=CMD...",
		Short: "Variants side by side under a real limit: which one cures it, and what it costs",
		Long: `Runs variants of a program under a real memory limit, each several times and in
turns, and compares what was lost and what they needed. The first is the base: it
must show its fault, being killed or needing more than --expect says, or nothing
could be proved. A CMD is a program with its arguments, and may begin with settings
as in a shell: 'GOMEMLIMIT=400MiB ./server'. No shell is used; write sh -c '...' for one.

Variants that differ from the base by a setting are made by --sweep, those that
differ by a commit by --git. A run that was killed, livelocked or out of time is a
bound and never averaged; what may be chance is marked with ~. Each run is recorded.

Exit code 4 says that the base never showed a fault.`,
		Example: `  highwater try --limit 256MiB --load ./load.sh --ready 8080 base=./server new=./server-new limit='GOMEMLIMIT=200MiB ./server'
  highwater try --limit 256MiB --load ./load.sh --ready 8080 --sweep GOGC=20,50 --sweep GOMEMLIMIT=200MiB -- ./server -v
  highwater try --limit 1GiB --git HEAD~1 --git fix-upload --build 'go build -o server .' base=./server
  highwater try --compare --sweep GOGC=50,100,200 -- ./batch`,
		RunE: func(c *cobra.Command, args []string) error {
			t, err := f.plan(args, c.ArgsLenAtDash())
			if err != nil {
				return err
			}
			return t.run(c.Context(), s)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.limit, "limit", "", "memory limit of each run, without swap (256MiB)")
	flags.IntVar(&f.runs, "runs", 6, "runs of each variant")
	flags.StringArrayVar(&f.sweeps, "sweep", nil, "variants of the base with a `setting` each: GOGC=20,50,100")
	flags.StringArrayVar(&f.refs, "git", nil, "a variant: the base's command in a throwaway worktree of this git `ref`")
	flags.StringVar(&f.build, "build", "", "shell `command` that builds the program in a worktree of --git")
	flags.BoolVar(&f.compare, "compare", false, "there is no fault: compare what they need")
	flags.StringVar(&f.bench, "bench", "", "write the runs in Go's benchmark format to this `file`, for benchstat")
	flags.BoolVar(&f.json, "json", false, "print as JSON")
	f.trialFlags.add(c)
	return c
}

// try is a trial that is possible as far as flags can tell.
type try struct {
	tryFlags
	*stage
	variants   []variant
	reproduced trial.Reproduced
	runs       []trial.Run
	// fingerprint is of the fault that the base has shown, "" if its cause has none.
	fingerprint string
}

func (f tryFlags) plan(args []string, dash int) (*try, error) {
	variants, err := f.variants(args, dash)
	if err != nil {
		return nil, err
	}
	if f.runs < 1 || f.runs > 1000 {
		return nil, usagef("--runs 6", "--runs %d is not between 1 and 1000", f.runs)
	}
	if f.build != "" && len(f.refs) == 0 {
		return nil, usagef("add --git REF", "--build builds what --git brings, and there is none")
	}
	if f.limit == "" && f.expect == "" && !f.compare {
		return nil, usagef("--limit 256MiB, --expect 300MiB, or --compare where there is no fault", "nothing says what the base's fault is")
	}
	t := &try{tryFlags: f, variants: variants}
	for _, v := range variants {
		if v.ref == "" { // what a worktree brings is looked for there
			if _, err := f.flagsFor(f.limit, "").plan(v.command.Args); err != nil {
				return nil, err
			}
		}
	}
	t.stage, err = f.stage(filepath.Base(variants[0].command.Args[0]) + "-try")
	return t, err
}

// run does the whole of it; an interrupt ends the run under way and prints what
// there is.
func (t *try) run(ctx context.Context, s *streams) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	surviveBrokenPipe()
	t.status = newStatus(s.err)
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
		return exitWith(signalExitCodeOff + int(syscall.SIGINT))
	case err != nil && !errors.Is(err, errInterrupted) && !errors.Is(err, errNoFault):
		return err
	}
	a := t.answer(err)
	if writeErr := t.keep(a); writeErr != nil {
		return writeErr
	}
	if printErr := t.print(s, a); printErr != nil {
		return printErr
	}
	switch {
	case errors.Is(err, errInterrupted):
		return exitWith(signalExitCodeOff + int(syscall.SIGINT))
	case errors.Is(err, errNoFault):
		return exitWith(exitInconclusive)
	}
	return nil
}

var (
	errInterrupted = errors.New("interrupted")
	errNoFault     = errors.New("the base has no fault")
)

// build makes the worktrees.
func (t *try) build(ctx context.Context, trees *worktrees) error {
	for i := range t.variants {
		if t.variants[i].ref == "" {
			continue
		}
		if err := trees.add(ctx, &t.variants[i], t.tryFlags.build, t.folder); err != nil {
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
func (t *try) reproduce(ctx context.Context) error {
	if t.compare {
		return nil
	}
	base := t.variants[0]
	for n := 1; n <= reproductions; n++ {
		r, err := t.one(ctx, scene{variant: base, file: fmt.Sprintf("%s-first-%d", base.Name, n), limit: t.limit})
		if err != nil {
			return err
		}
		if r.Ended == trial.Failed {
			return t.neverStarts(r, base)
		}
		t.reproduced.Runs = n
		if r.Ended.Lost() {
			t.reproduced.Lost, t.reproduced.Why = 1, r.Why
			t.fingerprint = fingerprintOf(filepath.Join(t.folder, r.Recording))
			t.status.say("%s shows its fault: %s", base.Name, r.Why)
			return nil
		}
		t.status.say("%s came to its end, %d of %d: %s", base.Name, n, reproductions, needed(r))
	}
	return errNoFault
}

// neverStarts is the end of a trial in which a variant does not do its work at all.
func (t *try) neverStarts(r trial.Run, v variant) error {
	return &exitError{code: exitFailed, err: fmt.Errorf("%s does not run: %s", v.Name, r.Why),
		hint: "its output: " + logOf(filepath.Join(t.folder, r.Recording))}
}

// rounds runs all variants in turns.
func (t *try) rounds(ctx context.Context) error {
	counts := make([]int, len(t.variants))
	order := trial.Order(len(t.variants), t.tryFlags.runs)
	began := time.Now()
	for done, i := range order {
		v := t.variants[i]
		counts[i]++
		r, err := t.one(ctx, scene{variant: v, file: fmt.Sprintf("%s-%d", v.Name, counts[i]), limit: t.limit})
		if err != nil {
			return err
		}
		r.Variant, r.N = v.Name, counts[i]
		if r.Ended == trial.Failed && r.N == 1 {
			return t.neverStarts(r, v)
		}
		t.runs = append(t.runs, r)
		t.tell(r, done+1, len(order), time.Since(began))
	}
	return nil
}

// answer compares what there is; err says why it is not all.
func (t *try) answer(err error) *trial.Answer {
	list := make([]trial.Variant, len(t.variants))
	for i, v := range t.variants {
		list[i] = v.Variant
	}
	a := trial.Compare(t.setup(filepath.Base(t.variants[0].command.Args[0]), t.limit, t.compare), list, t.runs)
	a.Reproduced, a.Folder = t.reproduced, t.folder
	switch {
	case errors.Is(err, errNoFault):
		a.Sentence = fmt.Sprintf("%s came to its end in all of %d runs: it has no fault here that a variant could cure.", list[0].Name, t.reproduced.Runs)
	case errors.Is(err, errInterrupted):
		a.Notes = append(a.Notes, fmt.Sprintf("interrupted after %d of %d runs", len(t.runs), len(list)*t.tryFlags.runs))
	}
	return a
}

// keep writes the answer beside its recordings, and as benchmarks.
func (t *try) keep(a *trial.Answer) error {
	if err := writeFile(filepath.Join(t.folder, "try.json"), func(f *os.File) error { return report.JSON(f, a) }); err != nil {
		return err
	}
	if err := t.remember(a); err != nil {
		return fmt.Errorf("keep what was found for explain: %w", err)
	}
	if t.bench == "" {
		return nil
	}
	return writeFile(t.bench, func(f *os.File) error { return trial.WriteBench(f, a) })
}

func writeFile(path string, write func(*os.File) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

func (t *try) print(s *streams, a *trial.Answer) error {
	t.status.end()
	if t.json {
		return report.JSON(s.out, a)
	}
	return report.TryText(s.out, a, report.Options{Color: useColor(s.out), Next: t.next(a)})
}

// next is the recording to look at: one that was lost, or else the last.
func (t *try) next(a *trial.Answer) string {
	file := fmt.Sprintf("%s-first-%d", t.variants[0].Name, max(1, t.reproduced.Runs))
	for _, r := range a.Runs {
		file = r.Recording
		if r.Ended.Lost() {
			break
		}
	}
	return "highwater explain " + filepath.Join(t.folder, file)
}
