package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
	"github.com/highwater-go/highwater/internal/show/fleet"
)

func fleetDiffCommand(s *app.Streams) *cobra.Command {
	var f app.FleetFlags
	c := &cobra.Command{
		Use:   "diff SERVICE [BEFORE AFTER]",
		Short: "Say whether a version of a service holds more memory than another",
		Long: `Compares the memory of two versions of a service, process by process at the same age, with
a rank test. It needs at least five processes of each version that ran for two hours.
Without BEFORE and AFTER, it compares the two latest versions. "No difference shown" is
an answer, with exit code 0.

Exit code 4: there are too few processes to say.`,
		Example: `  highwater fleet diff checkout
  highwater fleet diff checkout v1.41.0 v1.42.0 --since 14d`,
		RunE: func(c *cobra.Command, args []string) error {
			var d *fleet.Diff
			err := askStore(&f, c, args, func(ctx context.Context, store fleet.Store, scope fleet.Scope) (err error) {
				before, after, err := app.TwoVersions(ctx, store, scope, args)
				if err == nil {
					d, err = fleet.Compare(ctx, store, scope, before, after)
				}
				return err
			})
			if err != nil {
				return err
			}
			return app.PrintFleetDiff(s, d, f.JSON)
		},
	}
	addFleet(&f, c, "7d")
	c.Args = cobra.MatchAll(cobra.MinimumNArgs(1), cobra.MaximumNArgs(3))
	return c
}
