package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/explain"
	"github.com/highwater-go/highwater/internal/fleet"
	"github.com/highwater-go/highwater/internal/units"
	"github.com/highwater-go/highwater/internal/visible"
)

func fleetDiffCommand(s *streams) *cobra.Command {
	var f fleetFlags
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
			err := f.ask(c, args, func(ctx context.Context, store fleet.Store, scope fleet.Scope) (err error) {
				before, after, err := twoVersions(ctx, store, scope, args)
				if err == nil {
					d, err = fleet.Compare(ctx, store, scope, before, after)
				}
				return err
			})
			if err != nil {
				return err
			}
			return printFleetDiff(s, d, f.json)
		},
	}
	f.add(c, "7d")
	c.Args = cobra.MatchAll(cobra.MinimumNArgs(1), cobra.MaximumNArgs(3))
	return c
}

// twoVersions are those to compare.
func twoVersions(ctx context.Context, store fleet.Store, scope fleet.Scope, args []string) (before, after string, err error) {
	switch len(args) {
	case 3:
		return args[1], args[2], nil
	case 2:
		return "", "", usagef("highwater fleet diff SERVICE BEFORE AFTER", "fleet diff compares two versions, but only one is named")
	}
	list, err := fleet.Versions(ctx, store, scope)
	switch {
	case err != nil:
		return "", "", err
	case len(list) == 0:
		return "", "", usagef("highwater fleet top shows the services", "the store has no process of %s within that time", scope.Service)
	case len(list) == 1:
		return "", "", usagef("--since 4w looks further back", "%s ran in one version only: %s", scope.Service, list[0])
	}
	return list[len(list)-2], list[len(list)-1], nil
}

// mostDiffLines is how many lines of code a comparison shows.
const mostDiffLines = 8

func printFleetDiff(s *streams, d *fleet.Diff, asJSON bool) error {
	if asJSON {
		err := s.printJSON(map[string]any{"schema": "highwater.fleet-diff/1", "service": d.Service, "shown": d.Shown, "why_not": d.Why, "hours": d.Hours, "p": d.P, "lines": d.Lines,
			"before": side{d.Before.Version, d.Before.Processes, d.Before.Bytes}, "after": side{d.After.Version, d.After.Processes, d.After.Bytes}})
		if err == nil && d.Why != "" {
			err = exitWith(exitInconclusive)
		}
		return err
	}
	what := fmt.Sprintf("%s %s to %s", d.Service, d.Before.Version, d.After.Version)
	if d.Why != "" {
		visible.Fprintf(s.out, "%s: not enough data: %s\n", what, d.Why)
		return exitWith(exitInconclusive)
	}
	sizes := fmt.Sprintf("%s to %s in a process, median of %d and %d, hours 2 to %d of their lives", units.Size(int64(d.Before.Bytes)), units.Size(int64(d.After.Bytes)), d.Before.Processes, d.After.Processes, d.Hours+1)
	if !d.Shown {
		visible.Fprintf(s.out, "%s: no difference shown: %s (p=%.2f)\n", what, sizes, d.P)
		return nil
	}
	visible.Fprintf(s.out, "%s: %+.0f%%: %s (p=%.3f)\n", what, 100*d.Relative(), sizes, d.P)
	for _, l := range d.Lines[:min(len(d.Lines), mostDiffLines)] {
		where := l.Function
		if l.File != "" {
			where = fmt.Sprintf("%s:%d  %s", explain.ShortFile(l.File), l.Line, explain.ShortFunc(l.Function))
		}
		pad := units.Delta(int64(l.Bytes()))
		visible.Fprintf(s.out, "  %s%s  %s\n", strings.Repeat(" ", max(0, 10-len(pad))), pad, where)
	}
	return nil
}

// side is one version in JSON.
type side struct {
	Version   string  `json:"version"`
	Processes int     `json:"processes"`
	Bytes     float64 `json:"median_bytes"`
}
