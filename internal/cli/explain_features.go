package cli

import (
	"encoding/json"
	"fmt"

	"github.com/highwater-go/highwater/internal/explain"
	"github.com/highwater-go/highwater/internal/recording"
)

// printFeatures prints what the verdict was measured from and how it was weighed.
func (f *explainFlags) printFeatures(s *streams, path string) error {
	r, err := recording.Open(path)
	if err != nil {
		return recordingError(err)
	}
	defer r.Close()
	e, err := explain.LoadOf(r, path, f.at, f.pid)
	if err != nil {
		return momentError(err, path)
	}
	m := explain.Measure(e)
	if f.json {
		enc := json.NewEncoder(s.out)
		enc.SetIndent("", "  ")
		return enc.Encode(m)
	}
	for _, one := range m.Features {
		if one.Missing != "" {
			fmt.Fprintf(s.out, "%-18s %14s  %s\n", one.Name, "-", one.Missing)
			continue
		}
		fmt.Fprintf(s.out, "%-18s %14.5g  %s\n", one.Name, one.Value, one.Unit)
	}
	for _, h := range m.Weighed {
		fmt.Fprintf(s.out, "\n%s: %+.1f\n", h.Class, h.Score)
		for _, k := range h.Clauses {
			fmt.Fprintf(s.out, "  %+5.1f  %s\n", k.Weight, k.Feature)
		}
	}
	for _, j := range m.Judged {
		fmt.Fprintf(s.out, "\n%-16s %-8s %s", j.Class, j.Stance, j.Reason)
	}
	fmt.Fprintln(s.out)
	return nil
}
