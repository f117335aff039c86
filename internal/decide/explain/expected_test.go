package explain

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/measure/budget"
	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestABudgetIsComparedRowByRow(t *testing.T) {
	within := func() *scene {
		s := newScene()
		s.heap(148, 150, 243)
		s.cycles(70, 148, 149, 148, 150, 148)
		return s
	}
	killed := func() *scene {
		s := within()
		s.killed()
		return s
	}
	native := func() *scene {
		s := newScene()
		s.heap(10, 10, 12)
		s.native(150)
		s.charge()
		return s
	}
	unmarked := func() *scene {
		s := within()
		s.noMark()
		return s
	}
	for _, c := range []struct {
		name, text string
		scene      func() *scene
		kept       budget.Result
		largest    string
		says       string
	}{
		{"garbage nobody thought of", "200MiB", within, budget.Failed, "garbage", "garbage, 93.0 MiB next to 150 MiB of live heap, as GOGC=100 allows"},
		{"enough for all", "400MiB", within, budget.Kept, "garbage", "to spare"},
		{"killed above it", "200MiB", killed, budget.Failed, "garbage", "too much"},
		{"killed below it", "400MiB", killed, budget.Unknown, "garbage", "the program was killed before that"},
		{"a part is too much", "total=400MiB,heap=100MiB", within, budget.Failed, "garbage", "enough in total, but not for each part"},
		{"parts alone", "heap=100MiB,garbage=100MiB", within, budget.Failed, "heap", "live heap, 150 MiB instead of 100 MiB"},
		{"parts alone, named", "heap=100MiB,garbage=100MiB", within, budget.Failed, "heap", "200 MiB for heap and garbage, measured"},
		{"no mark", "heap=100MiB", unmarked, budget.Failed, "heap", "live and new heap, "},
		{"parts alone, kept", "heap=160MiB,garbage=93MiB", within, budget.Kept, "heap", "to spare"},
		{"native memory nobody counted on", "heap=12MiB", native, budget.Kept, "native", "native memory, 150 MiB, which the budget does not mention"},
		{"more live than expected", "30MiB", native, budget.Failed, "native", "native memory, 150 MiB next to 10.0 MiB of live heap"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.scene()
			var err error
			if s.Probed.Budget, err = budget.Parse(c.text); err != nil {
				t.Fatal(err)
			}
			a, err := Explain(s.Evidence, nil)
			if err != nil {
				t.Fatal(err)
			}
			x := a.Expected
			if x.Kept != c.kept || x.Largest != c.largest || !strings.Contains(x.Sentence, c.says) {
				t.Errorf("%s, largest %q: %s", x.Kept, x.Largest, x.Sentence)
			}
			sum := sample.Bytes(0)
			for _, r := range x.Rows {
				sum += r.Measured
			}
			cache := sample.Bytes(0)
			for _, r := range a.Ledger.Rows {
				if r.Name == sample.RowPageCache {
					cache = r.Bytes
				}
			}
			if sum != x.AtMoment || a.Ledger.UnexplainedBytes >= 0 && sum+cache != a.Ledger.TotalBytes {
				t.Errorf("rows are %d, at the moment %d, the ledger without cache %d", sum, x.AtMoment, a.Ledger.TotalBytes-cache)
			}
		})
	}
}
