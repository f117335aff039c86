package explain

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// What parts of strings keep alive is measured: a capture of the heap tells how much of each string is in reach. It decides
// whether to copy the part, or to delete entries, wherever the string comes from.
func TestAPartIsToBeCopiedWhereTheRestIsOutOfReach(t *testing.T) {
	for name, c := range map[string]struct {
		allocates string
		captured  bool
		reached   float64 // MiB
		want, not string
	}{
		"read whole, and a part is kept":   {"io.ReadAll", true, 1, "copy the part that is kept", "drop references"},
		"converted, and a part is kept":    {"runtime.slicebytetostring", true, 1, "copy the part that is kept", "drop references"},
		"read whole, and all of it is":     {"io.ReadAll", true, 180, "drop references", "copy the part"},
		"read whole, and nobody looked":    {"io.ReadAll", false, 0, "whole input|copy the part that is kept", "stream"},
		"converted, and nobody looked":     {"runtime.slicebytetostring", false, 0, "delete entries", "copy the part"},
		"arrays may have room left":        {"runtime.makeslice", true, -1, "drop references", "copy the part"},
		"a large part of each is in reach": {"io.ReadAll", true, 120, "drop references", "copy the part"},
	} {
		s := leaking()
		for i := range s.Sites {
			at := &s.Sites[i]
			at.Stack = []sample.Frame{{Func: c.allocates, File: "io/io.go", Line: 700}, {Func: at.Function, File: at.File, Line: at.Line}}
		}
		if c.captured {
			s.retained("")
			kind := "string"
			if c.reached < 0 {
				kind, c.reached = "slice", -c.reached
			}
			s.Heap.Collections = append(s.Heap.Collections,
				sample.HeapCollection{Path: "main.index.words[]", Kind: kind, Count: 3000, Bytes: 190 * mib, Reached: bytesOf(c.reached)})
		}
		a := answerOf(t, s)
		text := a.Fixes[0].Text
		for _, w := range a.Verdict.Why {
			text += " | " + w.Text
		}
		found := false
		for _, want := range strings.Split(c.want, "|") {
			found = found || strings.Contains(text, want)
		}
		if !found || strings.Contains(text, c.not) || a.Verdict.Class != Leak {
			t.Errorf("%s: %s: %s", name, a.Verdict.Class, text)
		}
	}
}
