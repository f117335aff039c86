package heapgraph

import (
	"fmt"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// ownerOf is the name of what holds most.
func ownerOf(t testing.TB, a *Analysis) string {
	t.Helper()
	h := a.Holders()
	if len(h) == 0 {
		t.Fatal("nothing holds much")
	}
	t.Logf("%s: %s", h[0].Path, h[0].Type)
	return a.owners().of(h[0].at).String()
}

func TestEveryShapeIsCalledWhatItsProgramCallsIt(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	const n = 3000
	for _, version := range []string{"go1.27.2"} {
		for _, s := range []struct{ name, plain, stripped string }{
			{"map", "(*store).entries map[string]*entry, 3,000 entries [main.cache]",
				"(*store).entries map[string]*entry, 3,000 entries [a variable that main.main uses]"},
			{"intmap", "main.counts map[int64]int64, 3,000 entries", "a variable that main.main uses"},
			{"slice", "main.orders []order, 3,000 entries", "a variable that main.main uses []order, 3,000 entries"},
			{"queue", "main.queue []*message, 3,000 entries", "a variable that main.main uses []*message, 3,000 entries"},
			{"list", "main.head *node, 3,000 entries", "a variable that main.main uses"},
			{"tree", "main.top *branch, 2,047 entries", "a variable that main.main uses"},
			{"strings", "main.names []string, 3,000 entries", "a variable that main.main uses []string, 3,000 entries"},
			{"substring", "main.tokens []string, 3,000 entries", "a variable that main.main uses []string, 3,000 entries"},
			{"channel", "main.results chan *entry, 3,000 of 3,000 queued", "a variable that main.main uses chan *entry, 3,000 of 3,000 queued"},
			{"blocks", "a local variable of main.blocks.func1 chan *block, 30 of 30 queued", "a local variable of main.blocks.func1 chan *block, 30 of 30 queued"},
			{"interface", "main.animals []animal, 6,000 entries", "a variable that main.main uses []animal, 6,000 entries"},
			{"closure", "main.callbacks []func() int, 3,000 entries", "a variable that main.main uses []func() int, 3,000 entries"},
			{"finalizer", "main.ring *resource, 3,000 entries", "a variable that main.main uses"},
			{"context", "main.chain context.Context, 3,000 entries", "a variable that main.main uses *context.valueCtx, 3,000 entries"},
			{"lru", "(*lru).index map[string]*item, 3,000 entries [main.recent]", "(*lru).index map[string]*item, 3,000 entries [a variable that main.main uses]"},
			{"folder", "main.files *folder, 3,001 entries", "a variable that main.main uses *folder, 3,001 entries"},
			{"blocked", "the stacks of main.blocked.gowrap1, 3,000 goroutines", "the stacks of main.blocked.gowrap1, 3,000 goroutines"},
			{"shared", "the stacks of main.serve.func1, 20 goroutines", "the stacks of main.serve.func1, 20 goroutines"},
		} {
			for strip, want := range map[bool]string{false: s.plain, true: s.stripped} {
				t.Run(fmt.Sprint(version, "/", s.name, "/stripped ", strip), func(t *testing.T) {
					p := startShape(t, hwtest.BuildOptions{Toolchain: version, Strip: strip}, s.name, n)
					a := p.analyze(t)
					if got := ownerOf(t, a); got != want {
						t.Errorf("called %q, want %q", got, want)
					}
					if taken := a.owners().of(a.Holders()[0].at).Taken; taken > 0 != (s.name == "queue") {
						t.Errorf("%d items were taken from its front", taken)
					}
				})
			}
		}
	}
}
