package cli

import (
	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

func fitCommand(s *app.Streams) *cobra.Command {
	var f app.FitFlags
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
				return app.Usagef("highwater fit --load ./load.sh -- ./server", "fit needs a program")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			t, err := f.Plan(args)
			if err != nil {
				return err
			}
			return t.Run(c.Context(), s)
		},
	}
	flags := c.Flags()
	flags.SetInterspersed(false)
	flags.StringVar(&f.From, "limit-from", "", "search from this `limit`, expected to be too small (default: what tune predicts)")
	flags.StringVar(&f.To, "limit-to", "", "search up to this `limit`, expected to be enough (default: what tune predicts)")
	flags.IntVar(&f.Confirm, "runs", 10, "runs that confirm a limit: after 10 the failure rate is below 26 %, after 20 below 14 % (95 % confidence)")
	flags.BoolVar(&f.JSON, "json", false, "print as JSON")
	addTrial(&f.TrialFlags, c)
	return c
}
