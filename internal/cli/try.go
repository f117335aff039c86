package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/trial"
)

// reproductions is how often the base may run to show its fault.
const reproductions = 3

type tryFlags struct {
	trialFlags
	limit, bench, build, html string
	sweeps, refs              []string
	runs                      int
	compare, json             bool
	runRecorded               bool
}

func tryCommand(s *streams) *cobra.Command {
	var f tryFlags
	c := &cobra.Command{
		Use:   "try [flags] base=CMD NAME=CMD... | RECORDING [fixed=CMD]",
		Short: "Run variants or fixes under a real limit: which one survives, at what cost",
		Long: `Runs variants of a program under a real memory limit, each several times and in
turns, and compares how often they are lost and what they need. The first variant is the
base. It must show its fault - be killed, or need more than --expect - or nothing can be
proved. A CMD is a program with its arguments, and may begin with settings as in a shell:
'GOMEMLIMIT=400MiB ./server'. Highwater uses no shell; write sh -c '...' for one.

--sweep makes variants that differ from the base by a setting, --git those that differ by
a commit. A run that was killed, livelocked or timed out is a bound and never averaged. A
difference that may be chance is marked with ~. Every run is recorded.

With a RECORDING, highwater runs its program again under the same load and limit, three
times each: as it was, with each fix from explain that is a setting or a limit, and with
the changed program that you built (fixed=CMD). base=CMD gives the command again, where
the recording leaves out values of arguments. The recording keeps the result, and explain
shows it. What a recording of somebody else says is not run: the command is shown, and
--run-recorded runs it.

Exit code 4: the base never showed a fault.`,
		Example: `  highwater try uploads-3
  highwater try uploads-3 fixed=./server-new
  highwater try --limit 256MiB --load ./load.sh --ready 8080 \
    base=./server new=./server-new limit='GOMEMLIMIT=200MiB ./server'
  highwater try --limit 256MiB --load ./load.sh --ready 8080 \
    --sweep GOGC=20,50 --sweep GOMEMLIMIT=200MiB -- ./server -v
  highwater try --limit 1GiB --git HEAD~1 --git fix-upload \
    --build 'go build -o server .' base=./server
  highwater try --compare --sweep GOGC=50,100,200 -- ./batch`,
		RunE: func(c *cobra.Command, args []string) error {
			plan := func() (*try, error) { return f.plan(args, c.ArgsLenAtDash()) }
			if recorded(args, c.ArgsLenAtDash()) {
				if !c.Flags().Changed("runs") {
					f.runs = proofRuns
				}
				plan = func() (*try, error) { return f.planProof(args) }
			}
			t, err := plan()
			if err != nil {
				return err
			}
			return t.run(c.Context(), s)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.limit, "limit", "", "memory limit of each run, without swap, as a `size`: 256MiB; units are binary, 1GB is 1GiB")
	c.ValidArgsFunction = completeRecordings(1)
	flags.IntVar(&f.runs, "runs", 6, "runs of each variant")
	flags.StringArrayVar(&f.sweeps, "sweep", nil, "add a variant of the base for each value of this `setting`: GOGC=20,50,100")
	flags.StringArrayVar(&f.refs, "git", nil, "add a variant: the command of the base in a throwaway worktree of this git `ref`")
	flags.StringVar(&f.build, "build", "", "build the program in a worktree of --git with this shell `command`")
	flags.BoolVar(&f.runRecorded, "run-recorded", false, "run the command and the load of a recording that somebody else made")
	flags.BoolVar(&f.compare, "compare", false, "compare what the variants need, where the base has no fault")
	flags.StringVar(&f.bench, "bench", "", "write the runs in Go's benchmark format to this `file`, for benchstat")
	flags.StringVar(&f.html, "html", "", "write a page with the curves of the kept runs to this `file`")
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
	causes     []string // fingerprints that the base's lost runs have, each once
	proof      *proof   // it is of a recording's fixes; nil: of commands that were given
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
		return nil, usagef("add --git REF", "--build builds what --git checks out, but there is no --git")
	}
	if f.limit == "" && f.expect == "" && !f.compare {
		return nil, usagef("--limit 256MiB, --expect 300MiB, or --compare where there is no fault", "the fault of the base is not defined")
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
