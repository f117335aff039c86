package explain

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Requests that have read their bodies and wait for a lock build no value any more: where they wait is said.
func TestCallsThatWaitAreToldByWhereTheyDo(t *testing.T) {
	for name, c := range map[string]struct {
		in, waiting int // goroutines that read, and that wait for the lock
		whole       bool
		says        string
	}{
		"all wait":        {0, 12, false, "All 12 calls waited at ledger.go:19 (sync.Mutex.Lock)"},
		"most wait":       {3, 9, false, "9 of the 12 calls waited at ledger.go:19 (sync.Mutex.Lock)"},
		"most read still": {9, 3, true, "until io.ReadAll returns"},
	} {
		s := newScene()
		s.heap(150, 203, 228)
		s.killed()
		s.cycles(60, 9, 70, 9, 75, 10, 9, 80, 150)
		up := s.site("example.org/shop/handlers.(*Server).Post", "/build/shop/handlers/post.go", 40, 192, 0.1)
		up.Stack = []sample.Frame{{Func: "io.ReadAll", File: "io/io.go", Line: 700}, {Func: up.Function, File: up.File, Line: 40}}
		up.Largest, up.AsLarge = 16*mib, 12
		group := func(n int, reason string, frames ...sample.Frame) {
			g := sample.GoroutineGroup{State: "waiting", Reason: reason, Count: n, Where: []sample.Location{{Frames: []sample.Frame{{Func: "runtime.gopark"}}}}}
			for _, f := range append(frames, sample.Frame{Func: up.Function, File: up.File, Line: 44}) {
				g.Where = append(g.Where, sample.Location{Frames: []sample.Frame{f}})
			}
			if n > 0 {
				s.p.Goroutines = append(s.p.Goroutines, g)
			}
		}
		group(c.in, "IO wait", sample.Frame{Func: "io.ReadAll", File: "io/io.go", Line: 700})
		group(c.waiting, "sync.Mutex.Lock", sample.Frame{Func: "example.org/shop/ledger.(*Ledger).Post", File: "/build/shop/ledger/ledger.go", Line: 19})
		s.stand(5, 60, 1, 0)
		s.stand(15, 64, 1, 0)
		a := answerOf(t, s)
		text := a.Verdict.Sentence
		for _, w := range a.Verdict.Why {
			text += " | " + w.Text
		}
		whole, says := strings.Contains(text, "building a whole value"), strings.Contains(strings.ToLower(text), strings.ToLower(c.says))
		if a.Verdict.Class != Burst || whole != c.whole || !says {
			t.Errorf("%s: %s: %s", name, a.Verdict.Class, text)
		}
	}
}
