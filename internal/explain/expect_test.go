package explain

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/sample"
)

func TestABudgetIsReadAsPeopleWriteIt(t *testing.T) {
	for text, want := range map[string]sample.Bytes{
		"500MiB": 500 * mib, "total=1GiB,heap=100MiB": 1024 * mib, "heap=300MiB, native=50MiB": 350 * mib, "stacks=0": 0,
	} {
		if b, err := ParseBudget(text); err != nil || b.in() != want {
			t.Errorf("%q: %v, %v", text, b, err)
		}
	}
	for text, says := range map[string]string{
		"": "not a size", "much": "not a size", "heap=": "not a size", "0": "is nothing", "cash=3MiB": `"cash" is not a part of a budget; use total, heap`,
		"heap=3MiB,heap=4MiB": "twice", "3MiB,4MiB": "twice", "cache=1MiB": "not a part",
	} {
		if _, err := ParseBudget(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}

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
		name, budget string
		scene        func() *scene
		kept         Kept
		largest      string
		says         string
	}{
		{"garbage nobody thought of", "200MiB", within, BudgetFailed, "garbage", "garbage, 93.0 MiB next to 150 MiB of live heap, as GOGC=100 allows"},
		{"enough for all", "400MiB", within, BudgetKept, "garbage", "to spare"},
		{"killed above it", "200MiB", killed, BudgetFailed, "garbage", "too much"},
		{"killed below it", "400MiB", killed, BudgetUnknown, "garbage", "the program was killed before that"},
		{"a part is too much", "total=400MiB,heap=100MiB", within, BudgetFailed, "garbage", "enough in total, but not for each part"},
		{"parts alone", "heap=100MiB,garbage=100MiB", within, BudgetFailed, "heap", "live heap, 150 MiB instead of 100 MiB"},
		{"parts alone, named", "heap=100MiB,garbage=100MiB", within, BudgetFailed, "heap", "200 MiB for heap and garbage, measured"},
		{"no mark", "heap=100MiB", unmarked, BudgetFailed, "heap", "live and new heap, "},
		{"parts alone, kept", "heap=160MiB,garbage=93MiB", within, BudgetKept, "heap", "to spare"},
		{"native memory nobody counted on", "heap=12MiB", native, BudgetKept, "native", "native memory, 150 MiB, which the budget does not mention"},
		{"more live than expected", "30MiB", native, BudgetFailed, "native", "native memory, 150 MiB next to 10.0 MiB of live heap"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.scene()
			var err error
			if s.Asked.Budget, err = ParseBudget(c.budget); err != nil {
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

// Every row of a ledger is in one part of a budget, but for the page cache.
func TestABudgetHasAPartForEveryRowOfALedger(t *testing.T) {
	seen := map[string]int{}
	for _, r := range budgetRows {
		for _, row := range r.rows {
			seen[row]++
		}
	}
	for _, row := range []string{sample.RowLive, sample.RowNew, sample.RowGarbage, sample.RowIdle, sample.RowStacks, sample.RowRuntime, sample.RowNative,
		sample.RowProgramData, sample.RowUndivided, sample.RowOther, sample.RowShmem, sample.RowKernel, sample.RowSockets} {
		if seen[row] != 1 {
			t.Errorf("%s is in %d parts", row, seen[row])
		}
	}
}

func FuzzParseBudget(f *testing.F) {
	for _, s := range []string{"500MiB", "heap=1GiB,stacks=2", "=", ",", "total=1e9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := ParseBudget(s)
		if err == nil && b.Total == 0 && len(b.Parts) == 0 {
			t.Errorf("%q is a budget of nothing", s)
		}
	})
}
