package explain

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/sample"
	"github.com/highwater-go/highwater/internal/units"
)

// Budget is what somebody expects a program to need: in all, or by parts.
type Budget struct {
	Total sample.Bytes // 0: the sum of the parts
	Parts []BudgetPart // in the order given
}

// BudgetPart is what is expected of one part.
type BudgetPart struct {
	Name  string // one of budgetRows
	Bytes sample.Bytes
}

// budgetRow is a part that people estimate, and the ledger's rows that it is.
type budgetRow struct {
	name, text string
	rows       []string
}

// budgetRows divide all of a ledger but the page cache, which the kernel takes
// back: nobody plans for it, and a program that reads files has as much as it may.
var budgetRows = []budgetRow{
	{"heap", "live heap", []string{sample.RowLive, sample.RowNew}},
	{"garbage", "garbage", []string{sample.RowGarbage}},
	{"idle", "free heap", []string{sample.RowIdle}},
	{"stacks", "goroutine stacks", []string{sample.RowStacks}},
	{"runtime", "Go runtime", []string{sample.RowRuntime, sample.RowUndivided}},
	{"native", "native memory", []string{sample.RowNative, sample.RowProgramData}},
	{"shmem", "shared memory", []string{sample.RowShmem}},
	{"kernel", "kernel", []string{sample.RowKernel, sample.RowSockets}},
	{"others", "other programs", []string{sample.RowOther, sample.RowWatcher}},
}

// ParseBudget reads "500MiB", or "heap=300MiB,stacks=20MiB,total=400MiB".
func ParseBudget(text string) (*Budget, error) {
	b := &Budget{}
	for _, word := range strings.Split(text, ",") {
		name, amount, named := strings.Cut(strings.TrimSpace(word), "=")
		if !named {
			name, amount = "total", name
		}
		n, err := units.ParseSize(amount)
		if err != nil {
			return nil, err
		}
		known := slices.ContainsFunc(budgetRows, func(r budgetRow) bool { return r.name == name })
		switch {
		case name == "total" && b.Total == 0 && n > 0:
			b.Total = sample.Bytes(n)
		case known && !slices.ContainsFunc(b.Parts, func(p BudgetPart) bool { return p.Name == name }):
			b.Parts = append(b.Parts, BudgetPart{name, sample.Bytes(n)})
		case known || name == "total":
			return nil, fmt.Errorf("%q is said twice, or is nothing", name)
		default:
			return nil, fmt.Errorf("%q is not a part of a budget; use total, %s", name, strings.Join(budgetNames(), ", "))
		}
	}
	return b, nil
}

func budgetNames() (names []string) {
	for _, r := range budgetRows {
		names = append(names, r.name)
	}
	return names
}

// in is what is expected in all.
func (b *Budget) in() sample.Bytes {
	if b.Total > 0 {
		return b.Total
	}
	sum := sample.Bytes(0)
	for _, p := range b.Parts {
		sum += p.Bytes
	}
	return sum
}

// of is what is expected of a part, nil if nothing was said of it.
func (b *Budget) of(name string) *sample.Bytes {
	for i := range b.Parts {
		if b.Parts[i].Name == name {
			return &b.Parts[i].Bytes
		}
	}
	return nil
}

// Kept says whether a budget was kept.
type Kept string

// The answers. Unknown is a program that was killed below its budget: what it
// would have needed was not seen.
const (
	BudgetKept    Kept = "kept"
	BudgetFailed  Kept = "failed"
	BudgetUnknown Kept = "unknown"
)

// Expectation is a budget beside what was measured, without page cache.
type Expectation struct {
	Bytes    sample.Bytes `json:"expected_bytes"`
	Measured sample.Bytes `json:"measured_bytes"` // the greatest of the run
	Kept     Kept         `json:"kept"`
	// Rows are the parts at the moment of the answer, which need not be the instant
	// of Measured; they sum to AtMoment.
	AtMoment sample.Bytes     `json:"at_moment_bytes"`
	Rows     []ExpectationRow `json:"rows"`
	Largest  string           `json:"largest_difference"` // name of a row, "" where none differs
	Sentence string           `json:"sentence"`
}

// ExpectationRow is one part. Expected is nil where nothing was said of it.
type ExpectationRow struct {
	Name     string        `json:"name"`
	Expected *sample.Bytes `json:"expected_bytes"`
	Measured sample.Bytes  `json:"measured_bytes"`
}

// expectation compares; nil where nothing is expected or nothing was measured. Of a
// budget without a total only its parts are compared, at the moment.
func (c *Case) expectation() *Expectation {
	b := c.Asked.Budget
	if b == nil || len(c.ledger.Rows) == 0 {
		return nil
	}
	x := &Expectation{Bytes: b.in(), Rows: c.budgetParts(b)}
	for _, r := range x.Rows {
		x.AtMoment += r.Measured
		if b.Total == 0 && r.Expected != nil {
			x.Measured += r.Measured
		}
	}
	if b.Total > 0 {
		x.Measured = max(x.AtMoment, sample.Bytes(c.hardMost()))
	}
	switch {
	case x.Measured > x.Bytes || b.exceeded(x.Rows):
		x.Kept = BudgetFailed
	case c.outcome.Kernel || c.outcome.State == Seen:
		x.Kept = BudgetUnknown
	default:
		x.Kept = BudgetKept
	}
	x.Sentence = c.comparedWith(x)
	if i := largestDifference(x.Rows, b); i >= 0 {
		x.Largest = x.Rows[i].Name
		x.Sentence += ". " + c.differenceWords(x.Rows[i], b)
	}
	return x
}

// budgetParts are the rows that hold anything or of which something was said; what
// the ledger cannot explain is the last.
func (c *Case) budgetParts(b *Budget) []ExpectationRow {
	rows := []ExpectationRow{}
	for _, r := range budgetRows {
		one := ExpectationRow{Name: r.name, Expected: b.of(r.name), Measured: sum(c.ledger, r.rows...)}
		if one.Measured > 0 || one.Expected != nil {
			rows = append(rows, one)
		}
	}
	if c.ledger.Unexplained > 0 {
		rows = append(rows, ExpectationRow{Name: "unexplained", Measured: sample.Bytes(c.ledger.Unexplained)})
	}
	return rows
}

// hardMost is the greatest of what could not be taken back, over the run.
func (c *Case) hardMost() float64 {
	most := 0.0
	for _, v := range c.hard() {
		if !math.IsNaN(v) {
			most = max(most, v)
		}
	}
	return most
}

// exceeded: a part of which something was said took more.
func (b *Budget) exceeded(rows []ExpectationRow) bool {
	return slices.ContainsFunc(rows, func(r ExpectationRow) bool { return r.Expected != nil && r.Measured > *r.Expected })
}
