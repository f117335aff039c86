package explain

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func stackOf(functions ...string) []sample.GoroutineGroup {
	g := sample.GoroutineGroup{State: "running", Count: 1}
	for i, f := range functions {
		g.Where = append(g.Where, sample.Location{Frames: []sample.Frame{{Func: f, File: "/build/shop/" + f + ".go", Line: 10 + i}}})
	}
	return []sample.GoroutineGroup{{State: "waiting", Count: 3}, g}
}

func TestACrashIsNamedWithItsReasonAndTheProgramsOwnLine(t *testing.T) {
	for _, c := range []struct {
		stack                  []string
		kind, reason, function string
	}{
		{[]string{"runtime.fatalpanic", "runtime.gopanic", "runtime.mapassign_faststr", "main.main", "runtime.main"}, panicked, "assignment to entry in nil map",
			"main.main"},
		{[]string{"runtime.fatalpanic", "runtime.gopanic", "runtime.goPanicIndex", "example.org/shop/list.At", "main.main"}, panicked, "index out of range",
			"example.org/shop/list.At"},
		{[]string{"runtime.fatalpanic", "runtime.gopanic", "encoding/json.mustEncode", "example.org/shop/api.Reply", "net/http.HandlerFunc.ServeHTTP"}, panicked, "",
			"example.org/shop/api.Reply"},
		{[]string{"runtime.fatalthrow", "runtime.throw", "runtime.newstack", "example.net/lib.Deep", "runtime.goexit"}, fatal, "", "example.net/lib.Deep"},
	} {
		k := crashOf(stackOf(c.stack...), "example.org/shop")
		if k == nil || k.Kind != c.kind || k.Reason != c.reason || k.Function != c.function {
			t.Errorf("%v: %+v", c.stack, k)
		}
	}
	if k := crashOf(stackOf("runtime.gopark", "main.main"), ""); k != nil {
		t.Errorf("a program that waits crashed: %+v", k)
	}
}

func TestTheSentenceOfACrashBeginsWithIt(t *testing.T) {
	s := newScene()
	s.ended(2)
	s.cycles(20, 10, 10, 10, 10, 10)
	s.Crash = crashOf(stackOf("runtime.fatalpanic", "runtime.gopanic", "runtime.goPanicIndex", "main.main"), "")
	a, err := Explain(s.Evidence, nil)
	if err != nil || !strings.HasPrefix(a.Verdict.Detail, "shop panicked (index out of range) at ") || a.Crash == nil {
		t.Errorf("%v: %q %q", err, a.Verdict.Detail, a.Verdict.Sentence)
	}
	checkAnswer(t, a)
}

func TestACrashIsSureThoughMemoryIsNot(t *testing.T) {
	v := Verdict{Class: Healthy, Confidence: Low, Reasons: []string{"the program crashed"}}
	if got, want := sure(&v, &Outcome{}, &Crash{Kind: panicked}),
		"High confidence in the crash. Low confidence about memory: the program crashed. Run for longer, or under more load."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := sure(&v, &Outcome{}, nil); strings.Contains(got, "crash.") {
		t.Errorf("without a crash: %q", got)
	}
}

func TestStacksThatWereNotWrittenAreTold(t *testing.T) {
	c := Case{own: sample.Ledger{Rows: []sample.LedgerRow{{Name: sample.RowStacks, Bytes: 70 << 20}}}}
	if got := c.stackWords(119 << 20); got != "Go reserved 119 MiB for the goroutines' stacks, and 70.0 MiB of that was written." {
		t.Error(got)
	}
	if got := c.stackWords(71 << 20); got != "The goroutines' stacks use 71.0 MiB." {
		t.Error(got)
	}
}
