package explain

import (
	"fmt"
	"slices"

	"github.com/highwater-go/highwater/internal/sample"
)

// largestDifference is the row that differs most from what was said of it. Where
// only a total was said that is taken for the live heap, which is what people add
// up: then it is what that exceeds the total by, else the largest other row. -1:
// nothing differs.
func largestDifference(rows []ExpectationRow, b *Budget) int {
	at, most := -1, int64(0)
	for i, r := range rows {
		expected := int64(0)
		switch {
		case r.Expected != nil:
			expected = int64(*r.Expected)
		case len(b.Parts) == 0 && r.Name == "heap":
			expected = int64(min(b.Total, r.Measured))
		}
		if far := max(int64(r.Measured)-expected, expected-int64(r.Measured)); far > most {
			at, most = i, far
		}
	}
	return at
}

// comparedWith is how the whole compares, in words.
func (c *Case) comparedWith(x *Expectation) string {
	text := fmt.Sprintf("%s, measured %s without page cache: ", size(x.Bytes), size(x.Measured))
	if b := c.Asked.Budget; b.Total == 0 {
		text = fmt.Sprintf("%s for %s, measured %s: ", size(x.Bytes), b.named(), size(x.Measured))
	}
	switch {
	case x.Measured > x.Bytes:
		return text + size(x.Measured-x.Bytes) + " too much"
	case x.Kept == BudgetFailed:
		return text + "enough in total, but not for each part"
	case x.Kept == BudgetUnknown && c.outcome.Kernel:
		return text + "the program was killed before that"
	}
	return text + size(x.Bytes-x.Measured) + " to spare"
}

// named are the parts of which something was said, in words.
func (b *Budget) named() string {
	var names []string
	for _, p := range b.Parts {
		names = append(names, p.Name)
	}
	return list(names, "and")
}

// differenceWords name the row that differs most.
func (c *Case) differenceWords(r ExpectationRow, b *Budget) string {
	name := "unexplained memory"
	if i := slices.IndexFunc(budgetRows, func(row budgetRow) bool { return row.name == r.Name }); i >= 0 {
		name = budgetRows[i].text
	}
	if r.Name == "heap" && c.ledger.Row(sample.RowNew) > 0 {
		name = "live and new heap" // which of the new part was live is not known
	}
	text := fmt.Sprintf("Largest difference: %s, %s", name, size(r.Measured))
	switch {
	case r.Expected != nil:
		return text + " instead of " + size(*r.Expected)
	case len(b.Parts) > 0:
		return text + ", which the budget does not mention"
	case r.Name != "heap":
		text += fmt.Sprintf(" next to %s of live heap", size(sum(c.ledger, budgetRows[0].rows...)))
	}
	if _, set := c.memoryLimit(); r.Name == "garbage" && c.g != nil && c.g.GOGC > 0 && !set {
		text += fmt.Sprintf(", as GOGC=%d allows", c.g.GOGC)
	}
	return text
}
