package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/show/fleet"
	"github.com/highwater-go/highwater/internal/words/units"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// TwoVersions are those to compare.
func TwoVersions(ctx context.Context, store fleet.Store, scope fleet.Scope, args []string) (before, after string, err error) {
	switch len(args) {
	case 3:
		return args[1], args[2], nil
	case 2:
		return "", "", Usagef("highwater fleet diff SERVICE BEFORE AFTER", "fleet diff compares two versions, but only one is named")
	}
	list, err := fleet.Versions(ctx, store, scope)
	switch {
	case err != nil:
		return "", "", err
	case len(list) == 0:
		return "", "", Usagef("highwater fleet top shows the services", "the store has no process of %s within that time", scope.Service)
	case len(list) == 1:
		return "", "", Usagef("--since 4w looks further back", "%s ran in one version only: %s", scope.Service, list[0])
	}
	return list[len(list)-2], list[len(list)-1], nil
}

// mostDiffLines is how many lines of code a comparison shows.
const mostDiffLines = 8

func PrintFleetDiff(s *Streams, d *fleet.Diff, asJSON bool) error {
	if asJSON {
		err := s.PrintJSON(map[string]any{"schema": "highwater.fleet-diff/1", "service": d.Service, "shown": d.Shown, "why_not": d.Why, "hours": d.Hours, "p": d.P,
			"lines":  d.Lines,
			"before": side{d.Before.Version, d.Before.Processes, d.Before.Bytes}, "after": side{d.After.Version, d.After.Processes, d.After.Bytes}})
		if err == nil && d.Why != "" {
			err = ExitWith(ExitInconclusive)
		}
		return err
	}
	what := fmt.Sprintf("%s %s to %s", d.Service, d.Before.Version, d.After.Version)
	if d.Why != "" {
		visible.Fprintf(s.Out, "%s: not enough data: %s\n", what, d.Why)
		return ExitWith(ExitInconclusive)
	}
	sizes := fmt.Sprintf("%s to %s in a process, median of %d and %d, hours 2 to %d of their lives", units.Size(int64(d.Before.Bytes)),
		units.Size(int64(d.After.Bytes)), d.Before.Processes, d.After.Processes, d.Hours+1)
	if !d.Shown {
		visible.Fprintf(s.Out, "%s: no difference shown: %s (p=%.2f)\n", what, sizes, d.P)
		return nil
	}
	visible.Fprintf(s.Out, "%s: %+.0f%%: %s (p=%.3f)\n", what, 100*d.Relative(), sizes, d.P)
	for _, l := range d.Lines[:min(len(d.Lines), mostDiffLines)] {
		where := l.Function
		if l.File != "" {
			where = fmt.Sprintf("%s:%d  %s", explain.ShortFile(l.File), l.Line, explain.ShortFunc(l.Function))
		}
		pad := units.Delta(int64(l.Bytes()))
		visible.Fprintf(s.Out, "  %s%s  %s\n", strings.Repeat(" ", max(0, 10-len(pad))), pad, where)
	}
	return nil
}

// side is one version in JSON.
type side struct {
	Version   string  `json:"version"`
	Processes int     `json:"processes"`
	Bytes     float64 `json:"median_bytes"`
}
