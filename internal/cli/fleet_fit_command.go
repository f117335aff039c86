package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
	"github.com/highwater-go/highwater/internal/show/fleet"
)

func fleetFitCommand(s *app.Streams) *cobra.Command {
	var f app.FleetFlags
	var patch bool
	c := &cobra.Command{
		Use:   "fit [SERVICE]",
		Short: "Say which memory limit and GOMEMLIMIT each service needs",
		Long: `Predicts a limit and a GOMEMLIMIT for each service, from the greatest live heap of its
processes, what they take besides the heap, and room for the GC. A service that
leaks has no recommendation: a larger limit only delays the kill. Where GOMEMLIMIT is
close to the limit, usage follows the limit, and says nothing of what is needed.

Exit code 4: there is no recommendation for the service that is named.`,
		Example: `  highwater fleet fit
  highwater fleet fit checkout --since 14d
  highwater fleet fit checkout --patch > patch.yaml && kubectl patch deployment checkout --patch-file patch.yaml`,
		RunE: func(c *cobra.Command, args []string) error {
			var list []fleet.Fit
			err := askStore(&f, c, args, func(ctx context.Context, store fleet.Store, scope fleet.Scope) (err error) {
				list, err = fleet.Fits(ctx, store, scope)
				return err
			})
			switch {
			case err != nil:
				return err
			case len(list) == 0:
				return app.Usagef("highwater fleet top shows the services", "the store has no figures within %s", f.Since)
			case patch:
				return app.PrintPatch(s, list)
			case f.JSON:
				err = s.PrintJSON(map[string]any{"schema": "highwater.fleet-fit/1", "services": list})
			default:
				app.PrintFits(s, list)
			}
			if err == nil && len(args) > 0 && list[0].Recommended == nil {
				err = app.ExitWith(app.ExitInconclusive)
			}
			return err
		},
	}
	addFleet(&f, c, "7d")
	c.Flags().BoolVar(&patch, "patch", false, "print a patch of the pod template for kubectl, of one service")
	return c
}

func fleetRollupCommand(s *app.Streams) *cobra.Command {
	var f app.StoreFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "rollup",
		Short: "Sum up the hours of each day, so that questions of weeks are fast",
		Long: `Sums up the hours of each day, today included, into the table heap_day, which fleet top
reads for a week or more, and which is kept for 400 days. Run it once an hour. It may run
as often as you like: what it writes twice is there once, and late hours are added for
two days.`,
		Example: `  highwater fleet rollup --store https://clickhouse:8443/highwater --credentials /etc/highwater/store`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			store, err := f.Open()
			if err != nil {
				return err
			}
			defer store.Close()
			done, err := fleet.Rollup(c.Context(), store, f.Tenant, time.Now())
			if err != nil {
				return app.StoreError(err)
			}
			if asJSON {
				return s.PrintJSON(map[string]any{"schema": "highwater.fleet-rollup/1", "days": done.Days, "rows": done.Rows})
			}
			app.PrintRollup(s, done)
			return nil
		},
	}
	addStore(&f, c)
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}
