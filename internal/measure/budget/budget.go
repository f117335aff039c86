// Package budget compares what somebody expects a program to need, in all or by parts, with what was
// measured: highwater run --expect.
package budget

import (
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// Budget is what somebody expects a program to need: in all, or by parts.
type Budget struct {
	Total sample.Bytes // 0: the sum of the parts
	Parts []Part       // in the order given
}

// Part is what is expected of one part.
type Part struct {
	Name  string // one of parts
	Bytes sample.Bytes
}

// row is a part that people estimate, and the ledger's rows that it is.
type row struct {
	name, text string
	rows       []string
}

// parts divide all of a ledger but the page cache, which the kernel takes
// back: nobody plans for it, and a program that reads files has as much as it may.
var parts = []row{
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

// Parse reads "500MiB", or "heap=300MiB,stacks=20MiB,total=400MiB".
func Parse(text string) (*Budget, error) {
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
		known := slices.ContainsFunc(parts, func(r row) bool { return r.name == name })
		switch {
		case name == "total" && b.Total == 0 && n > 0:
			b.Total = sample.Bytes(n)
		case known && !slices.ContainsFunc(b.Parts, func(p Part) bool { return p.Name == name }):
			b.Parts = append(b.Parts, Part{name, sample.Bytes(n)})
		case known || name == "total":
			return nil, fmt.Errorf("%q is said twice, or is nothing", name)
		default:
			return nil, fmt.Errorf("%q is not a part of a budget; use total, %s", name, strings.Join(names(), ", "))
		}
	}
	return b, nil
}

func names() (names []string) {
	for _, r := range parts {
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

// Result says whether a budget was kept.
type Result string

// The answers. Unknown is a program that was killed below its budget: what it
// would have needed was not seen.
const (
	Kept    Result = "kept"
	Failed  Result = "failed"
	Unknown Result = "unknown"
)

// Expectation is a budget beside what was measured, without page cache.
type Expectation struct {
	Bytes    sample.Bytes `json:"expected_bytes"`
	Measured sample.Bytes `json:"measured_bytes"` // the greatest of the run
	Kept     Result       `json:"kept"`
	// Rows are the parts at the moment of the answer, which need not be the instant
	// of Measured; they sum to AtMoment.
	AtMoment sample.Bytes `json:"at_moment_bytes"`
	Rows     []Row        `json:"rows"`
	Largest  string       `json:"largest_difference"` // name of a row, "" where none differs
	Sentence string       `json:"sentence"`
}

// Row is one part. Expected is nil where nothing was said of it.
type Row struct {
	Name     string        `json:"name"`
	Expected *sample.Bytes `json:"expected_bytes"`
	Measured sample.Bytes  `json:"measured_bytes"`
}

// Measured is what a run needed.
type Measured struct {
	Ledger sample.Ledger // of the moment of the answer
	Most   sample.Bytes  // the greatest of the run, without page cache; 0: not known
	Killed bool          // by the kernel
	Ended  bool          // it was seen to end, or to be killed
	GOGC   int           // that alone bounds the garbage; 0: a memory limit does, or it is not known
}

// Compare is nil where nothing was measured. Of a budget without a total only its parts
// are compared, at the moment.
func (b *Budget) Compare(m Measured) *Expectation {
	if len(m.Ledger.Rows) == 0 {
		return nil
	}
	x := &Expectation{Bytes: b.in(), Rows: b.rows(m.Ledger)}
	for _, r := range x.Rows {
		x.AtMoment += r.Measured
		if b.Total == 0 && r.Expected != nil {
			x.Measured += r.Measured
		}
	}
	if b.Total > 0 {
		x.Measured = max(x.AtMoment, m.Most)
	}
	switch {
	case x.Measured > x.Bytes || b.exceeded(x.Rows):
		x.Kept = Failed
	case m.Killed || !m.Ended:
		x.Kept = Unknown
	default:
		x.Kept = Kept
	}
	x.Sentence = b.comparedWith(x, m)
	if i := largestDifference(x.Rows, b); i >= 0 {
		x.Largest = x.Rows[i].Name
		x.Sentence += ". " + b.differenceWords(x.Rows[i], m)
	}
	return x
}

// rows are the rows that hold anything or of which something was said; what
// the ledger cannot explain is the last.
func (b *Budget) rows(l sample.Ledger) []Row {
	rows := []Row{}
	for _, r := range parts {
		one := Row{Name: r.name, Expected: b.of(r.name), Measured: sum(l, r.rows)}
		if one.Measured > 0 || one.Expected != nil {
			rows = append(rows, one)
		}
	}
	if l.Unexplained > 0 {
		rows = append(rows, Row{Name: "unexplained", Measured: sample.Bytes(l.Unexplained)})
	}
	return rows
}

func sum(l sample.Ledger, rows []string) (b sample.Bytes) {
	for _, name := range rows {
		b += l.Row(name)
	}
	return b
}

// exceeded reports whether a part of which something was said took more.
func (b *Budget) exceeded(rows []Row) bool {
	return slices.ContainsFunc(rows, func(r Row) bool { return r.Expected != nil && r.Measured > *r.Expected })
}
