package explain

import (
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Goroutines that wait for a processor since they were made are at the first line of their function, which nobody can mend: their go
// statement is what there is to name.
func TestGoroutinesThatHaveNotBegunAreNamedByTheirGoStatement(t *testing.T) {
	starter := sample.Frame{Func: "example.org/shop/push.Start", File: "/build/shop/push/push.go", Line: 5}
	first := sample.Frame{Func: "example.org/shop/push.watch", File: "/build/shop/push/push.go", Line: 12}
	group := func(state string, frame sample.Bytes, stack ...string) sample.GoroutineGroup {
		g := sample.GoroutineGroup{State: state, Count: 9000, CreatedAt: sample.Location{Frames: []sample.Frame{starter}}, Frames: []sample.Bytes{frame},
			Stack: []uint64{1}, Where: []sample.Location{{Frames: []sample.Frame{first}}}}
		for i, name := range stack {
			g.Stack, g.Frames = append(g.Stack, uint64(i)+2), append(g.Frames, 8)
			g.Where = append(g.Where, sample.Location{Frames: []sample.Frame{{Func: name}}})
		}
		return g
	}
	for name, c := range map[string]struct {
		groups []sample.GoroutineGroup
		named  sample.Frame
		words  string
	}{
		"none has begun": {[]sample.GoroutineGroup{group("runnable", 8, "runtime.goexit")}, starter, "not begun yet"},
		"some wait": {[]sample.GoroutineGroup{group("runnable", 8, "runtime.goexit"), group("waiting", 8, "runtime.goexit")}, first,
			"waiting; 9,000 have not begun to run"},
		"all have a frame":  {[]sample.GoroutineGroup{group("runnable", 64, "runtime.goexit")}, first, "waiting"},
		"called by another": {[]sample.GoroutineGroup{group("runnable", 8, "example.org/shop/push.run", "runtime.goexit")}, first, "waiting"},
	} {
		var p pile
		(&Case{Evidence: &Evidence{}, proc: &sample.ProcessMoment{Goroutines: c.groups}}).waiters(&p)
		if p.waiting != 9000*len(c.groups) || p.named() != c.named || p.made != starter || p.reasonWords() != c.words {
			t.Errorf("%s: %+v, %+v, %s", name, p, p.named(), p.reasonWords())
		}
	}
}
