package fleet

import (
	"testing"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Of a kill whose cause is not known, the row has the line that allocated most of the heap, if one did.
func TestAKillWithoutACauseHasTheLineThatAllocatedMost(t *testing.T) {
	t.Parallel()
	line := func(function string, own bool, bytes sample.Bytes) explain.Holder {
		return explain.Holder{Place: sample.Place{Function: function, File: "/src/shop/put.go", Line: 7}, Bytes: bytes, OwnCode: own}
	}
	for _, c := range []struct {
		holders []explain.Holder
		class   explain.Class
		want    string
	}{
		{[]explain.Holder{line("main.put", true, 60)}, explain.Inconclusive, "shop/put.go:7"},
		{[]explain.Holder{line("runtime.mallocgc", false, 60), line("main.put", true, 40)}, explain.Inconclusive, ""},
		{[]explain.Holder{line("main.put", true, 40)}, explain.Inconclusive, ""},
		{[]explain.Holder{line("main.put", true, 60)}, explain.Native, ""},
		{nil, explain.Inconclusive, ""},
	} {
		a := &explain.Answer{Holders: c.holders}
		a.Outcome.Kernel, a.Verdict.Class, a.Sampling.TotalBytes = true, c.class, 100
		if in, ok := IncidentOf(a); !ok || in.Where() != c.want {
			t.Errorf("%s, %+v: %v, %q", c.class, c.holders, ok, in.Where())
		}
	}
}
