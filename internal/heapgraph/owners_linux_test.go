package heapgraph

import (
	"fmt"
	"testing"

	"github.com/highwater-go/highwater/internal/hwtest"
)

// ownerOf is the name of what holds most.
func ownerOf(t testing.TB, a *Analysis) string {
	t.Helper()
	h := a.Holders()
	if len(h) == 0 {
		t.Fatal("there is no holder")
	}
	t.Logf("%s: %s", h[0].Path, h[0].Type)
	return a.owners().of(h[0].at).String()
}

func TestEveryShapeIsCalledWhatItsProgramCallsIt(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	const n = 3000
	for _, version := range []string{"go1.27.2"} {
		for _, s := range []struct{ name, plain, stripped string }{
			{"map", "(*store).entries map[string]*entry, 3,000 entries [main.cache]", ""},
			{"intmap", "", ""},
			{"slice", "", ""},
			{"queue", "", ""},
			{"list", "", ""},
			{"tree", "", ""},
			{"strings", "", ""},
			{"substring", "", ""},
			{"channel", "", ""},
			{"interface", "", ""},
			{"closure", "", ""},
			{"finalizer", "", ""},
			{"context", "", ""},
			{"lru", "", ""},
			{"folder", "", ""},
			{"timers", "", ""},
			{"blocked", "", ""},
			{"shared", "", ""},
		} {
			for strip, want := range map[bool]string{false: s.plain, true: s.stripped} {
				t.Run(fmt.Sprint(version, "/", s.name, "/stripped ", strip), func(t *testing.T) {
					p := startShape(t, hwtest.BuildOptions{Toolchain: version, Strip: strip}, s.name, n)
					if got := ownerOf(t, p.analyze(t)); got != want {
						t.Errorf("called %q, want %q", got, want)
					}
				})
			}
		}
	}
}
