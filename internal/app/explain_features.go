package app

import (
	"encoding/json"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// PrintFeatures prints what the verdict was measured from and how it was weighed.
func (f *ExplainFlags) PrintFeatures(s *Streams, path string) error {
	r, err := recording.Open(path)
	if err != nil {
		return recordingError(err)
	}
	defer r.Close()
	e, err := explain.LoadOf(r, path, f.At, f.PID)
	if err != nil {
		return momentError(err, path)
	}
	m := explain.Measure(e)
	if f.JSON {
		enc := json.NewEncoder(s.Out)
		enc.SetIndent("", "  ")
		return enc.Encode(m)
	}
	for _, one := range m.Features {
		if one.Missing != "" {
			visible.Fprintf(s.Out, "%-18s %14s  %s\n", one.Name, "-", one.Missing)
			continue
		}
		visible.Fprintf(s.Out, "%-18s %14.5g  %s\n", one.Name, one.Value, one.Unit)
	}
	for _, h := range m.Weighed {
		visible.Fprintf(s.Out, "\n%s: %+.1f\n", h.Class, h.Score)
		for _, k := range h.Clauses {
			visible.Fprintf(s.Out, "  %+5.1f  %s\n", k.Weight, k.Feature)
		}
	}
	for _, j := range m.Judged {
		visible.Fprintf(s.Out, "\n%-16s %-8s %s", j.Class, j.Stance, j.Reason)
	}
	visible.Fprintf(s.Out, "\n")
	return nil
}
