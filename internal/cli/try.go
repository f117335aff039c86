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
}

func tryCommand(s *streams) *cobra.Command {
	var f tryFlags
	c := &cobra.Command{
		Use:   "try [flags] base=CMD NAME=CMD... | RECORDING [fixed=CMD]",
		Short: "Variants side by side under a real limit: which one cures it, and what it costs",
		Long: `Runs variants of a program under a real memory limit, each several times and in
turns, and compares what was lost and what they needed. The first is the base: it
must show its fault, being killed or needing more than --expect says, or nothing
could be proved. A CMD is a program with its arguments, and may begin with settings
as in a shell: 'GOMEMLIMIT=400MiB ./server'. No shell is used; write sh -c '...' for one.

Variants that differ from the base by a setting are made by --sweep, those that
differ by a commit by --git. A run that was killed, livelocked or out of time is a
bound and never averaged; what may be chance is marked with ~. Each run is recorded.

With a RECORDING, what it ran is run again, under its load and its limit: as it was
(base=CMD says it anew where values of arguments were left out of the recording),
with each fix that explain prints and that is a setting or a limit, and the changed
program that you built. Three runs each; what came of them is kept in the recording,
and explain says it.

Exit code 4 says that the base never showed a fault.`,
		Example: `  highwater try uploads-3
  highwater try uploads-3 fixed=./server-new
  highwater try --limit 256MiB --load ./load.sh --ready 8080 base=./server new=./server-new limit='GOMEMLIMIT=200MiB ./server'
  highwater try --limit 256MiB --load ./load.sh --ready 8080 --sweep GOGC=20,50 --sweep GOMEMLIMIT=200MiB -- ./server -v
  highwater try --limit 1GiB --git HEAD~1 --git fix-upload --build 'go build -o server .' base=./server
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
	flags.StringVar(&f.limit, "limit", "", "memory limit of each run, without swap (256MiB)")
	flags.IntVar(&f.runs, "runs", 6, "runs of each variant")
	flags.StringArrayVar(&f.sweeps, "sweep", nil, "variants of the base with a `setting` each: GOGC=20,50,100")
	flags.StringArrayVar(&f.refs, "git", nil, "a variant: the base's command in a throwaway worktree of this git `ref`")
	flags.StringVar(&f.build, "build", "", "shell `command` that builds the program in a worktree of --git")
	flags.BoolVar(&f.compare, "compare", false, "there is no fault: compare what they need")
	flags.StringVar(&f.bench, "bench", "", "write the runs in Go's benchmark format to this `file`, for benchstat")
	flags.StringVar(&f.html, "html", "", "write a page with the courses of the kept runs to this `file`")
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
