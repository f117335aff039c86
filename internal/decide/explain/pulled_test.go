package explain

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Coroutines of iter.Pull wait in the sequence, which is nobody's mistake: the line that pulls is told, and that it has to stop.
func TestWhoPullsFromASequenceAndDoesNotStopIsTold(t *testing.T) {
	s := workScenes["thousands of goroutines that never end"]()
	g := &s.p.Goroutines[len(s.p.Goroutines)-1]
	g.Reason, g.Oldest = "coroutine", 0
	g.CreatedAt.Frames = []sample.Frame{{Func: "iter.Pull[...]", File: "/usr/local/go/src/iter/iter.go", Line: 271}}
	s.Allocators = append(s.Allocators, Allocator{Place: sample.Place{Function: "example.org/shop/push.headline", File: "/build/shop/push/push.go", Line: 58},
		Own: true, Bytes: 4 * mib, Objects: 40_000, Stack: []sample.Frame{{Func: "iter.Pull[...]"}, {Func: "example.org/shop/push.headline"}}})
	a := answerOf(t, s)
	if a.Verdict.Class != Goroutines || a.Verdict.Culprit.Line != 58 || len(a.Fixes) == 0 || !strings.Contains(a.Fixes[0].Text, "push.go:58: call stop when") {
		t.Errorf("%s: %s %+v %+v", a.Verdict.Class, a.Verdict.Sentence, a.Verdict.Culprit, a.Fixes)
	}
	for _, why := range append(a.Verdict.Reasons, a.Evidence[0].Text) {
		if strings.Contains(why, "0 µs") {
			t.Errorf("said of a time that nobody noted: %s", why)
		}
	}
}
