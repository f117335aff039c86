package cli

import (
	"encoding/json"

	"github.com/highwater-go/highwater/internal/explain"
	"github.com/highwater-go/highwater/internal/recording"
	"github.com/highwater-go/highwater/internal/visible"
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
			visible.Fprintf(s.out, "%-18s %14s  %s\n", one.Name, "-", one.Missing)
			continue
		}
		visible.Fprintf(s.out, "%-18s %14.5g  %s\n", one.Name, one.Value, one.Unit)
	}
	for _, h := range m.Weighed {
		visible.Fprintf(s.out, "\n%s: %+.1f\n", h.Class, h.Score)
		for _, k := range h.Clauses {
			visible.Fprintf(s.out, "  %+5.1f  %s\n", k.Weight, k.Feature)
		}
	}
	for _, j := range m.Judged {
		visible.Fprintf(s.out, "\n%-16s %-8s %s", j.Class, j.Stance, j.Reason)
	}
	visible.Fprintf(s.out, "\n")
	return nil
}
