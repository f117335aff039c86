package explain

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// A capture has one figure for a helper's line: the caller that is a line of its own has all but what the helper holds for
// others, and the helper's line has none, as it is not known which part came when.
func TestACaptureTellsOfTheCallerOfAHelper(t *testing.T) {
	newBuffer := sample.Frame{Func: "main.newBuffer", File: "main.go", Line: 10}
	k := Captured{Lines: []sample.HeapSite{{At: newBuffer, Bytes: 60 * mib}, {At: sample.Frame{Func: "main.load", File: "main.go", Line: 30}, Bytes: 5 * mib}}}
	put := Site{Place: sample.Place{Function: "main.(*store).put", File: "main.go", Line: 20}, helper: newBuffer, others: 12 * mib}
	rest := Site{Place: newBuffer.Place(), innermost: newBuffer, helps: true}
	load := Site{Place: sample.Place{Function: "main.load", File: "main.go", Line: 30}}
	for _, c := range []struct {
		site *Site
		want sample.Bytes
		ok   bool
	}{{&put, 48 * mib, true}, {&rest, 60 * mib, false}, {&load, 5 * mib, true}} {
		if n, ok := k.of(c.site); n != c.want || ok != c.ok {
			t.Errorf("%s: %d MiB, %v", c.site.Function, n>>20, ok)
		}
	}
}

// An answer that names the caller says which line allocates.
func TestTheHelperIsNamedWithItsCaller(t *testing.T) {
	for name, helper := range map[string]sample.Frame{"its own": {}, "a helper's": {Func: "example.org/shop/buf.New", File: "/build/shop/buf/buf.go", Line: 7}} {
		s := leaking()
		for i := range s.Sites {
			s.Sites[i].helper = helper
		}
		a := answerOf(t, s)
		told := false
		for i, w := range a.Verdict.Why {
			told = told || strings.Contains(w.Text, "buf.New allocates the memory at") && i <= 1
		}
		if told != (helper.Func != "") || a.Verdict.Class != Leak {
			t.Errorf("%s: %s, %+v", name, a.Verdict.Class, a.Verdict.Why)
		}
	}
}
