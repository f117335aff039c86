package explain

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// A library's queue that lets go of a whole part of itself at once swings, and what it keeps is not that of the calls that
// happen to be in flight.
func TestWhatAQueueLetsGoOfInPartsIsNotTheCalls(t *testing.T) {
	for name, k := range map[string]struct {
		kind sample.HeapRootKind
		own  bool // it is said to be the calls'
	}{"a variable": {sample.RootGlobal, false}, "frames of the calls": {sample.RootGoroutine, true}} {
		s := workScenes["burst of uploads"]()
		up := &s.Sites[0]
		up.Cycle, up.Freed, up.Course = 9, 900*mib, nil
		for i := range 6 {
			up.Course = append(up.Course, SiteSnapshot{At: float64(4 * i), Cycle: uint32(i + 2), Bytes: 60 * mib, Freed: sample.Bytes(i) * 20 * mib,
				Calls: []int{3 - i%3}, Goroutines: true})
		}
		root := &sample.HeapRoot{Kind: k.kind, Func: "main.tasks"}
		if k.kind == sample.RootGoroutine {
			root = &sample.HeapRoot{Kind: k.kind, Func: "net/http.(*conn).serve", First: 900, Last: 910, Count: 3}
		}
		s.captured(150, sample.HeapPath{Parent: -1, Label: "main.tasks", Root: root, Holder: true, Retained: 140 * mib,
			Sites: []sample.HeapSite{{At: sample.Frame{Func: up.Function, File: up.File, Line: up.Line}, Bytes: 140 * mib}}})
		s.Heap.At = s.Moment.At
		a, err := Explain(s.Evidence, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a.Verdict.Class != Burst || strings.Contains(a.Verdict.Sentence, "calls of") != k.own || strings.Contains(a.Verdict.Sentence, "came and went") == k.own {
			t.Errorf("%s: %s: %s %s", name, a.Verdict.Class, a.Verdict.Detail, a.Verdict.Sentence)
		}
	}
}
