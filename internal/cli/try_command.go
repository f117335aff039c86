package cli

import (
	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

func tryCommand(s *app.Streams) *cobra.Command {
	var f app.TryFlags
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
			plan := func() (*app.Try, error) { return f.Plan(args, c.ArgsLenAtDash()) }
			if app.Recorded(args, c.ArgsLenAtDash()) {
				if !c.Flags().Changed("runs") {
					f.Runs = app.ProofRuns
				}
				plan = func() (*app.Try, error) { return f.PlanProof(args) }
			}
			t, err := plan()
			if err != nil {
				return err
			}
			return t.Run(c.Context(), s)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.Limit, "limit", "", "memory limit of each run, without swap, as a `size`: 256MiB; units are binary, 1GB is 1GiB")
	c.ValidArgsFunction = completeRecordings(1)
	flags.IntVar(&f.Runs, "runs", 6, "runs of each variant")
	flags.StringArrayVar(&f.Sweeps, "sweep", nil, "add a variant of the base for each value of this `setting`: GOGC=20,50,100")
	flags.StringArrayVar(&f.Refs, "git", nil, "add a variant: the command of the base in a throwaway worktree of this git `ref`")
	flags.StringVar(&f.Build, "build", "", "build the program in a worktree of --git with this shell `command`")
	flags.BoolVar(&f.RunRecorded, "run-recorded", false, "run the command and the load of a recording that somebody else made")
	flags.BoolVar(&f.Compare, "compare", false, "compare what the variants need, where the base has no fault")
	flags.StringVar(&f.Bench, "bench", "", "write the runs in Go's benchmark format to this `file`, for benchstat")
	flags.StringVar(&f.HTML, "html", "", "write a page with the curves of the kept runs to this `file`")
	flags.BoolVar(&f.JSON, "json", false, "print as JSON")
	addTrial(&f.TrialFlags, c)
	return c
}
