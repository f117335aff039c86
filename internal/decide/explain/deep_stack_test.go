package explain

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Sixteen goroutines follow pages by calling themselves: their stacks together are most of the memory, and each of them is a twelfth of it.
func TestTheStacksOfManyDeepCallsCountTogether(t *testing.T) {
	for name, k := range map[string]struct {
		stacks float64
		calls  int
		limit  bool
		want   bool
	}{
		"deep calls":                     {180, 100, true, true},
		"without a limit":                {300, 100, false, true},
		"without a limit, and not much":  {60, 100, false, false},
		"stacks of goroutines that wait": {180, 1, true, false},
	} {
		s := newScene()
		if !k.limit {
			s.Moment.Cgroup.Limit = sample.Opt[sample.Bytes]{}
		}
		s.heap(3, 3, 40)
		s.p.Residency.GoStacks = bytesOf(k.stacks)
		s.charge()
		if k.limit {
			s.killed()
		}
		frame := sample.Frame{Func: "example.org/shop/pages.(*syncer).follow", File: "/build/shop/pages/pages.go", Line: 73}
		var where []sample.Location
		for range k.calls {
			where = append(where, sample.Location{Frames: []sample.Frame{frame}})
		}
		s.p.Goroutines = []sample.GoroutineGroup{{Count: 15, Reason: "sleep", Where: where, StackBytes: bytesOf(k.stacks * 15 / 16)},
			{Count: 1, Reason: "select", Where: where, StackBytes: bytesOf(k.stacks / 16)}}
		f, found := newCase(s.Evidence).deepStackFound()
		if found != k.want || found && (f.Culprit.Line != 73 || !strings.Contains(f.Sentence, "The stacks of 16 goroutines") ||
			!strings.Contains(f.Sentence, "deep in calls of pages.(*syncer).follow at pages/pages.go:73")) {
			t.Errorf("%s: %v %s", name, found, f.Sentence)
		}
		if a := answerOf(t, s); k.want != (a.Verdict.Class == Burst) {
			t.Errorf("%s: %s: %s", name, a.Verdict.Class, a.Verdict.Sentence)
		} else if k.want && (len(a.Fixes) == 0 || !strings.Contains(a.Fixes[0].Text, "how deep")) {
			t.Errorf("%s: %+v", name, a.Fixes)
		}
	}
}
