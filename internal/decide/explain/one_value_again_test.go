package explain

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// formed is a program that is killed with one slice of 132 MiB, whose length somebody sent, and with 105 MiB of garbage, an earlier one.
func formed() *scene {
	s := newScene()
	s.heap(132, 132, 243)
	s.killed()
	s.cycles(70, 40, 2, 2, 2, 130, 132)
	site := s.site("example.org/shop/forms.Decode", "/build/shop/forms/forms.go", 45, 132, 0)
	site.Largest, site.AsLarge, site.Objects = 132*mib, 1, 1
	site.Allocated, site.Since, site.Freed = 2*mib, 240*mib, 2*mib
	site.Stack = []sample.Frame{{Func: "runtime.mallocgc"}, {Func: "reflect.unsafe_NewArray"}, {Func: "reflect.MakeSlice"},
		{Func: "example.org/shop/forms.Decode"}}
	s.stand(20, 0, 0, 0)
	return s
}

// GC runs only once a value was allocated: no setting makes room for two that are more than the limit together.
func TestAValueThatIsMadeAgainIsABurst(t *testing.T) {
	for name, k := range map[string]struct {
		edit  func(s *scene)
		again bool
		fixed bool // by GOMEMLIMIT
	}{
		"one": {func(*scene) {}, true, false},
		"it grows by append": {func(s *scene) {
			s.Sites[0].Stack = append([]sample.Frame{{Func: "runtime.growslice"}}, s.Sites[0].Stack...)
		}, false, false},
		"nothing was dropped before": {func(s *scene) { s.Sites[0].Since = 131 * mib }, false, false},
		"many small ones":            {func(s *scene) { s.Sites[0].Largest, s.Sites[0].AsLarge = mib, 132 }, false, true},
		"two, each half as large":    {func(s *scene) { s.Sites[0].Largest, s.Sites[0].AsLarge = 66*mib, 2 }, true, true},
	} {
		s := formed()
		k.edit(s)
		a, err := Explain(s.Evidence, nil)
		if err != nil {
			t.Fatal(err)
		}
		if again := strings.Contains(a.Verdict.Sentence, "allocated at once at"); again != k.again || again && a.Verdict.Class != Burst {
			t.Errorf("%s: %s: %s", name, a.Verdict.Class, a.Verdict.Sentence)
		}
		predicted := false
		for _, f := range a.Fixes {
			predicted = predicted || strings.HasPrefix(f.Setting, "GOMEMLIMIT") && f.State == "predicted"
		}
		if predicted && !k.fixed {
			t.Errorf("%s: %+v", name, a.Fixes)
		}
		t.Logf("%s: %s %s; %v; not predicted %v", name, a.Verdict.Class, a.Verdict.Sentence, predicted, a.NotPredicted)
	}
}
