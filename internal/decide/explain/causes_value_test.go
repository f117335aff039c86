package explain

import (
	"fmt"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Append is what grows where one value, or each of a few, becomes larger. Many short slices are more and more values,
// whose memory somebody keeps: that each of them was appended to says nothing.
func TestAppendIsTheCauseWhereAValueGrows(t *testing.T) {
	for name, c := range map[string]struct {
		objects      uint64
		grownObjects int64
		largest      sample.Bytes
		said         bool
	}{
		"one slice":                   {objects: 1, grownObjects: 1, largest: 200 * mib, said: true},
		"a slice for each connection": {objects: 40, grownObjects: 2, largest: 5 * mib, said: true},
		"a short slice for each key":  {objects: 5000, grownObjects: 4900, largest: 48 << 10, said: false},
	} {
		s := leaking()
		for i := range s.Sites {
			at := &s.Sites[i]
			at.Stack = []sample.Frame{{Func: "runtime.growslice", File: "runtime/slice.go", Line: 200}, {Func: at.Function, File: at.File, Line: at.Line}}
			at.Objects, at.GrownObjects, at.Largest = c.objects, c.grownObjects, c.largest
		}
		a := answerOf(t, s)
		said := false
		for _, w := range a.Verdict.Why {
			said = said || strings.Contains(strings.ToLower(w.Text), "append")
		}
		if said != c.said || a.Verdict.Class != Leak {
			t.Errorf("%s: %s, append is named: %v", name, a.Verdict.Class, said)
		}
	}
}

// Many small maps, as one in each row of a report, are no map that grows.
func TestAMapThatGrowsIsTheCauseWhereItsTablesAreLarge(t *testing.T) {
	for objects, want := range map[uint64]bool{0: true, 500_000: false, 8_000: true} {
		s := leaking()
		for i := range s.Sites {
			at := &s.Sites[i]
			at.Stack = []sample.Frame{{Func: "internal/runtime/maps.newarray", File: "internal/runtime/maps/group.go", Line: 200},
				{Func: at.Function, File: at.File, Line: at.Line}}
			at.Objects = objects
		}
		if a := answerOf(t, s); strings.Contains(fmt.Sprint(a.Verdict.Why), "A map never shrinks") != want {
			t.Errorf("%d values: %v", objects, a.Verdict.Why)
		}
	}
}
