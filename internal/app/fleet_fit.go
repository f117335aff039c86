package app

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/highwater-go/highwater/internal/show/fleet"
	"github.com/highwater-go/highwater/internal/words/units"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// PrintFits prints what each service needs, and why.
func PrintFits(s *Streams, list []fleet.Fit) {
	for i, f := range list {
		if i > 0 {
			visible.Fprintf(s.Out, "\n")
		}
		now := "no limit known"
		if f.Limit > 0 {
			now = "limit " + units.Limit(f.Limit)
		}
		visible.Fprintf(s.Out, "%s: %s; peak %s, live heap %s, other memory %s, %s over %d h\n", f.Service, now, units.Size(int64(f.Peak)),
			units.Size(int64(f.HeapLive)), units.Size(int64(f.NonHeap)), counted(uint64(f.Processes), "process", "processes"), f.Hours)
		if f.Recommended == nil {
			visible.Fprintf(s.Out, "  no recommendation: %s\n", f.Why)
			continue
		}
		visible.Fprintf(s.Out, "  limit %s, GOMEMLIMIT %s: %s\n", units.Limit(f.Recommended.Limit), units.Limit(f.Recommended.GOMEMLIMIT), f.Recommended.Because)
		for _, n := range f.Notes {
			visible.Fprintf(s.Out, "  %s\n", n)
		}
	}
}

// PrintPatch prints a patch of a pod template, in JSON, which is YAML too.
func PrintPatch(s *Streams, list []fleet.Fit) error {
	f := list[0]
	switch {
	case len(list) > 1:
		return Usagef("highwater fleet fit SERVICE --patch", "a patch is of one service")
	case f.Recommended == nil:
		return &ExitError{Code: ExitInconclusive, Err: fmt.Errorf("there is no recommendation for %s: %s", f.Service, f.Why)}
	case f.Container == "":
		return Usagef("highwater fleet fit "+visible.Shell(f.Service)+" prints the figures", "%s does not run in a pod that is known", f.Service)
	}
	quantity := func(n uint64) string { return strings.TrimSuffix(units.Env(n), "B") }
	container := map[string]any{"name": f.Container, "resources": map[string]any{"limits": map[string]string{"memory": quantity(uint64(f.Recommended.Limit))},
		"requests": map[string]string{"memory": quantity(uint64(f.Recommended.GOMEMLIMIT))}},
		"env": []any{map[string]string{"name": "GOMEMLIMIT", "value": units.Env(f.Recommended.GOMEMLIMIT)}}}
	e := json.NewEncoder(s.Out)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{container}}}}})
}

// PrintRollup says what was summed up.
func PrintRollup(s *Streams, done *fleet.RolledUp) {
	visible.Fprintf(s.Out, "%s summed up: %s\n", counted(uint64(len(done.Days)), "day", "days"), counted(uint64(done.Rows), "row", "rows"))
}
