package cli

import (
	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

func tuneCommand(s *app.Streams) *cobra.Command {
	var f app.TuneFlags
	c := &cobra.Command{
		Use:   "tune [RECORDING]",
		Short: "Predict the effect of other GOGC, GOMEMLIMIT and memory limits",
		Long: `Predicts from one recorded run what the program would have needed under other GC
settings: peak heap, RSS, number of GCs and GC work. It checks itself by predicting the
recorded run, and refuses where that fails. It does not predict run time.

Exit code 4: it refuses, and says why.`,
		Example: `  highwater tune
  highwater tune server-3 --limit 512MiB
  highwater tune server-3 --gogc 10,20,50,off --gomemlimit 400MiB,450MiB
  highwater tune server-3 --gc-at 32x`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := app.FindRecording(args)
			if err != nil {
				return err
			}
			return f.Tune(s, path)
		},
	}
	flags := c.Flags()
	c.ValidArgsFunction = completeRecordings(1)
	flags.StringVar(&f.Limit, "limit", "", "advise for this `limit` (default: that of the recorded run)")
	flags.StringVar(&f.GOGC, "gogc", "", "predict these GOGC values, a `list`: 20,50,off")
	flags.StringVar(&f.MemoryLimit, "gomemlimit", "", "predict these GOMEMLIMIT values, a `list`: 450MiB,off")
	flags.StringVar(&f.GCAt, "gc-at", "",
		"assume further GCs: at each `event` of a kind (ready, load-start, ...), every 3s, every 100MiB allocated, or 32x in all")
	flags.BoolVar(&f.JSON, "json", false, "print as JSON")
	return c
}
