package budget

import (
	"fmt"
	"slices"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// largestDifference is the row that differs most from what was said of it. Where
// only a total was said that is taken for the live heap, which is what people add
// up: then it is what that exceeds the total by, else the largest other row. -1:
// nothing differs.
func largestDifference(rows []Row, b *Budget) int {
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
func (b *Budget) comparedWith(x *Expectation, m Measured) string {
	text := fmt.Sprintf("%s, measured %s without page cache: ", units.Short(x.Bytes), units.Short(x.Measured))
	if b.Total == 0 {
		text = fmt.Sprintf("%s for %s, measured %s: ", units.Short(x.Bytes), b.named(), units.Short(x.Measured))
	}
	switch {
	case x.Measured > x.Bytes:
		return text + units.Short(x.Measured-x.Bytes) + " too much"
	case x.Kept == Failed:
		return text + "enough in total, but not for each part"
	case x.Kept == Unknown && m.Killed:
		return text + "the program was killed before that"
	}
	return text + units.Short(x.Bytes-x.Measured) + " to spare"
}

// named are the parts of which something was said, in words.
func (b *Budget) named() string {
	var names []string
	for _, p := range b.Parts {
		names = append(names, p.Name)
	}
	return units.List(names, "and")
}

// differenceWords name the row that differs most.
func (b *Budget) differenceWords(r Row, m Measured) string {
	name := "unexplained memory"
	if i := slices.IndexFunc(parts, func(p row) bool { return p.name == r.Name }); i >= 0 {
		name = parts[i].text
	}
	if r.Name == "heap" && m.Ledger.Row(sample.RowNew) > 0 {
		name = "live and new heap" // which of the new part was live is not known
	}
	text := fmt.Sprintf("Largest difference: %s, %s", name, units.Short(r.Measured))
	switch {
	case r.Expected != nil:
		return text + " instead of " + units.Short(*r.Expected)
	case len(b.Parts) > 0:
		return text + ", which the budget does not mention"
	case r.Name != "heap":
		text += fmt.Sprintf(" next to %s of live heap", units.Short(sum(m.Ledger, parts[0].rows)))
	}
	if r.Name == "garbage" && m.GOGC > 0 {
		text += fmt.Sprintf(", as GOGC=%d allows", m.GOGC)
	}
	return text
}
