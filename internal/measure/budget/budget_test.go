package budget

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestABudgetIsReadAsPeopleWriteIt(t *testing.T) {
	for text, want := range map[string]sample.Bytes{
		"500MiB": 500 * sample.MiB, "total=1GiB,heap=100MiB": 1024 * sample.MiB, "heap=300MiB, native=50MiB": 350 * sample.MiB, "stacks=0": 0,
	} {
		if b, err := Parse(text); err != nil || b.in() != want {
			t.Errorf("%q: %v, %v", text, b, err)
		}
	}
	for text, says := range map[string]string{
		"": "not a size", "much": "not a size", "heap=": "not a size", "0": "is nothing", "cash=3MiB": `"cash" is not a part of a budget; use total, heap`,
		"heap=3MiB,heap=4MiB": "twice", "3MiB,4MiB": "twice", "cache=1MiB": "not a part",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}

// Every row of a ledger is in one part of a budget, but for the page cache.
func TestABudgetHasAPartForEveryRowOfALedger(t *testing.T) {
	seen := map[string]int{}
	for _, r := range parts {
		for _, row := range r.rows {
			seen[row]++
		}
	}
	for _, row := range sample.RowNames() {
		if want := map[bool]int{true: 0, false: 1}[row == sample.RowPageCache]; seen[row] != want {
			t.Errorf("%s is in %d parts", row, seen[row])
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"500MiB", "heap=1GiB,stacks=2", "=", ",", "total=1e9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := Parse(s)
		if err == nil && b.Total == 0 && len(b.Parts) == 0 {
			t.Errorf("%q is a budget of nothing", s)
		}
	})
}
