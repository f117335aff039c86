package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/fleet"
	"github.com/highwater-go/highwater/internal/units"
	"github.com/highwater-go/highwater/internal/visible"
)

func fleetFitCommand(s *streams) *cobra.Command {
	var f fleetFlags
	var patch bool
	c := &cobra.Command{
		Use:   "fit [SERVICE]",
		Short: "Say which memory limit and GOMEMLIMIT each service needs",
		Long: `Predicts a limit and a GOMEMLIMIT for each service, from the greatest live heap of its
processes, what they take beside the heap, and room for the collector. A service that
leaks has no recommendation: a larger limit only delays the kill. Where GOMEMLIMIT is
close to the limit, usage follows the limit, and says nothing of what is needed.

Exit code 4: there is no recommendation for the service that is named.`,
		Example: `  highwater fleet fit
  highwater fleet fit checkout --since 14d
  highwater fleet fit checkout --patch > patch.yaml && kubectl patch deployment checkout --patch-file patch.yaml`,
		RunE: func(c *cobra.Command, args []string) error {
			var list []fleet.Fit
			err := f.ask(c, args, func(ctx context.Context, store fleet.Store, scope fleet.Scope) (err error) {
				list, err = fleet.Fits(ctx, store, scope)
				return err
			})
			switch {
			case err != nil:
				return err
			case len(list) == 0:
				return usagef("highwater fleet top shows the services", "the store has no figures within %s", f.since)
			case patch:
				return printPatch(s, list)
			case f.json:
				err = s.printJSON(map[string]any{"schema": "highwater.fleet-fit/1", "services": list})
			default:
				printFits(s, list)
			}
			if err == nil && len(args) > 0 && list[0].Recommended == nil {
				err = exitWith(exitInconclusive)
			}
			return err
		},
	}
	f.add(c, "7d")
	c.Flags().BoolVar(&patch, "patch", false, "print a patch of the pod template for kubectl, of one service")
	return c
}

func printFits(s *streams, list []fleet.Fit) {
	for i, f := range list {
		if i > 0 {
			visible.Fprintf(s.out, "\n")
		}
		now := "no limit known"
		if f.Limit > 0 {
			now = "limit " + units.Limit(f.Limit)
		}
		visible.Fprintf(s.out, "%s: %s; peak %s, live heap %s, %s beside it, %s over %d h\n", f.Service, now, units.Size(int64(f.Peak)), units.Size(int64(f.HeapLive)), units.Size(int64(f.NonHeap)), counted(uint64(f.Processes), "process", "processes"), f.Hours)
		if f.Recommended == nil {
			visible.Fprintf(s.out, "  no recommendation: %s\n", f.Why)
			continue
		}
		visible.Fprintf(s.out, "  limit %s, GOMEMLIMIT %s: %s\n", units.Limit(f.Recommended.Limit), units.Limit(f.Recommended.GOMEMLIMIT), f.Recommended.Because)
		for _, n := range f.Notes {
			visible.Fprintf(s.out, "  %s\n", n)
		}
	}
}

// printPatch prints a patch of a pod template, in JSON, which is YAML too.
func printPatch(s *streams, list []fleet.Fit) error {
	f := list[0]
	switch {
	case len(list) > 1:
		return usagef("highwater fleet fit SERVICE --patch", "a patch is of one service")
	case f.Recommended == nil:
		return &exitError{code: exitInconclusive, err: fmt.Errorf("there is no recommendation for %s: %s", f.Service, f.Why)}
	case f.Container == "":
		return usagef("highwater fleet fit "+visible.Shell(f.Service)+" prints the figures", "%s does not run in a pod that is known", f.Service)
	}
	quantity := func(n uint64) string { return strings.TrimSuffix(units.Env(n), "B") }
	container := map[string]any{"name": f.Container, "resources": map[string]any{"limits": map[string]string{"memory": quantity(uint64(f.Recommended.Limit))}, "requests": map[string]string{"memory": quantity(uint64(f.Recommended.GOMEMLIMIT))}},
		"env": []any{map[string]string{"name": "GOMEMLIMIT", "value": units.Env(f.Recommended.GOMEMLIMIT)}}}
	e := json.NewEncoder(s.out)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{container}}}}})
}

func fleetRollupCommand(s *streams) *cobra.Command {
	var f storeFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "rollup",
		Short: "Sum up the hours of each day, so that questions of weeks are fast",
		Long: `Sums up the hours of each day that is over into the table heap_day, which fleet top reads
for a week or more, and which is kept for 400 days. Run it once a night. It may run as
often as you like: what it writes twice is there once, and late hours are added for two
days.`,
		Example: `  highwater fleet rollup --store https://clickhouse:8443/highwater --credentials /etc/highwater/store`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			store, err := f.open()
			if err != nil {
				return err
			}
			defer store.Close()
			done, err := fleet.Rollup(c.Context(), store, f.tenant, time.Now())
			if err != nil {
				return storeError(err)
			}
			if asJSON {
				return s.printJSON(map[string]any{"schema": "highwater.fleet-rollup/1", "days": done.Days, "rows": done.Rows})
			}
			visible.Fprintf(s.out, "%s summed up: %s\n", counted(uint64(len(done.Days)), "day", "days"), counted(uint64(done.Rows), "row", "rows"))
			return nil
		},
	}
	f.add(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}
