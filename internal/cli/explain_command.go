package cli

import (
	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/measure/budget"
)

func explainCommand(s *app.Streams) *cobra.Command {
	var f app.ExplainFlags
	c := &cobra.Command{
		Use:   "explain [RECORDING]",
		Short: "Explain what happened, which line caused it, and why",
		Long: `Explains a recording at one moment: at the kill if there was one, else at the peak.
RECORDING is a file, a name that list shows, "latest", or NAME@MOMENT; without it,
highwater explains the latest. It does not change the recording.

Exit code 4: the evidence is not enough; the answer says what is missing. Exit code 3:
the program used more memory than --expect allows.`,
		Example: `  highwater explain
  highwater explain server-3 --at peak
  highwater explain server-3@2m30s --json
  highwater explain --expect heap=300MiB,native=50MiB
  highwater explain --list 'cache.(*Cache).Put' --source ~/src/server`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			args = f.SplitMoment(args)
			path, err := app.FindRecording(args)
			if err != nil {
				return err
			}
			if f.List != "" {
				return f.ListFunction(s, path)
			}
			if f.Features {
				return f.PrintFeatures(s, path)
			}
			expected, err := f.Expect.Budget()
			if err != nil {
				return err
			}
			a, err := app.AnswerFor(path, f.At, f.PID, expected)
			if err != nil {
				return err
			}
			if err := f.Print(s, path, a); err != nil {
				return err
			}
			if expected != nil && a.Expected != nil && a.Expected.Kept == budget.Failed {
				return app.ExitWith(app.ExitBudget)
			}
			if a.Verdict.Class == explain.Inconclusive {
				return app.ExitWith(app.ExitInconclusive)
			}
			return nil
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.At, "at", "", "explain this `moment`: peak, kill, last, a time since the start (2m30s) or of the clock (14:31:08)")
	flags.IntVar(&f.PID, "pid", 0, "explain the process with this `PID` (default: the one with most memory)")
	flags.BoolVar(&f.JSON, "json", false, "print as JSON")
	flags.BoolVar(&f.NoSource, "no-source", false, "print names of functions instead of source lines")
	flags.StringVar(&f.List, "list", "", "show the source of a `function`, with what each line retained and allocated")
	flags.StringVar(&f.Source, "source", "", "look for the source in this `directory`, where it is not where the program was built")
	flags.BoolVar(&f.Latency, "latency", false, "show the requests of --probe: percentiles, a histogram, their course, and what the slow ones coincide with")
	flags.BoolVar(&f.Features, "features", false, "print the measurements behind the verdict, and the weights of the evidence")
	c.ValidArgsFunction = completeRecordings(1)
	completeFlag(c, "at", completeMoment)
	addExpect(&f.Expect, c)
	flags.StringVar(&f.Evidence, "evidence", "", "print the figures behind one fact (`e4`), or behind all")
	return c
}
