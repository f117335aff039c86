package cli

import (
	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

func rmCommand(s *app.Streams) *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:   "rm RECORDING...",
		Short: "Remove recordings of the state directory",
		Long: `Removes recordings by the names that list shows, and folders of try and fit. It
removes nothing else: no file outside of the state directory, no symbolic link and
what one leads to, no file that is not a recording, and no recording that is being
written. If one of several may not be removed, none is.`,
		Example: `  highwater rm server-3 server-4
  highwater rm --dry-run latest`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return app.Remove(s, args, dry) },
	}
	c.ValidArgsFunction = completeKept
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "say what would be removed, and remove nothing")
	return c
}
