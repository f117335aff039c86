package cli

import (
	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

func pruneCommand(s *app.Streams) *cobra.Command {
	var f app.PruneFlags
	c := &cobra.Command{
		Use:   "prune [--older-than AGE] [--larger-than SIZE] [--keep N] [--yes]",
		Short: "Remove old or large recordings; without --yes, show which",
		Long: `Lists the recordings of the state directory, and folders of try and fit, for which
all of the given rules hold, and with --yes removes them. The newest N of each program
stay with --keep N. What rm refuses stays, too: links, other files, and what is being
written.

All recordings together take at most 8 GiB, or what HIGHWATER_STATE_MAX says: where
a new one exceeds that, the oldest are removed, and that is said. HIGHWATER_STATE_MAX=off
switches it off.`,
		Example: `  highwater prune --older-than 30d
  highwater prune --older-than 7d --larger-than 10MiB --keep 3 --yes`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return f.Run(s) },
	}
	flags := c.Flags()
	flags.StringVar(&f.OlderThan, "older-than", "", "remove what was last written more than this `time` ago: 12h, 30d, 8w")
	flags.StringVar(&f.LargerThan, "larger-than", "", "remove what takes more than this `size`: 10MiB")
	flags.IntVar(&f.Keep, "keep", -1, "keep the newest `N` of each program, and of each trial")
	flags.BoolVar(&f.Yes, "yes", false, "remove them")
	return c
}
