package cli

import (
	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

func diffCommand(s *app.Streams) *cobra.Command {
	var f app.DiffFlags
	c := &cobra.Command{
		Use:   "diff [A[@MOMENT]] [B[@MOMENT]]",
		Short: "Compare two moments, or two recordings: what grew",
		Long: `Compares two moments of one recording, or of two, and prints by how much the rows of the
ledger and the lines of code differ, largest first. A line counts as grown or shrunk
where the change is larger than the sampling error.

Of one recording, the start is compared with the kill or the peak; --from and --to, or
NAME@MOMENT, choose other moments. Of two recordings, the kill or the peak of each.`,
		Example: `  highwater diff --from 10s --to peak          the latest recording
  highwater diff server-3@10s server-3@2m
  highwater diff server-3 server-4             two runs, or two builds
  highwater diff agent-1@peak otheragent-1@peak --json`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return f.Run(s, args) },
	}
	flags := c.Flags()
	flags.StringVar(&f.From, "from", "", "compare from this `moment` of A: peak, kill, last, a time since the start (2m30s) or of the clock (14:31:08)")
	flags.StringVar(&f.To, "to", "", "compare to this `moment` of B, or of A without a B")
	c.ValidArgsFunction = completeRecordings(2)
	completeFlag(c, "from", completeMoment)
	completeFlag(c, "to", completeMoment)
	flags.IntVar(&f.PID, "pid", 0, "compare the `process` with this PID, of B where there are two recordings (default: the one with most memory)")
	flags.BoolVar(&f.JSON, "json", false, "print as JSON")
	flags.BoolVar(&f.NoSource, "no-source", false, "print names of functions instead of source lines")
	flags.StringVar(&f.Source, "source", "", "look for the source in this `directory`, where it is not where the program was built")
	return c
}
