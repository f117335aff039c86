package main

import (
	"fmt"
	"math"
	"os"
	"strings"
)

// table is the judgements as a page: a row for each run that was asked for, in the
// order in which they were done.
func table(all []*judgement, kept bool) string {
	var b strings.Builder
	b.WriteString("<!-- Written by `make cases`: cases/judge -o -->\n\n# The cases, judged\n\n" +
		"Each run of each [truth.json](../cases/README.md#truthjson) under `highwater run`, and what `highwater explain` answered. A fault in\n" +
		"parentheses is the same run of the repaired program: there every line that is named would be a false alarm. The residue is the part\n" +
		"of the charge that the ledger does not explain, the one furthest from nothing.\n\n")
	if kept {
		b.WriteString("The runs were done before and their recordings kept; they were explained anew for this page.\n\n")
	}
	b.WriteString("| case | fault | limit | runs | expected | given | peak | residue | |\n|---|---|---|---|---|---|---|---|---|\n")
	right := 0
	for i := 0; i < len(all); {
		n := i
		for n < len(all) && all[n].same(&all[i].question) {
			n++
		}
		row(&b, all[i:n])
		for _, j := range all[i:n] {
			if j.right() {
				right++
			}
		}
		i = n
	}
	fmt.Fprintf(&b, "\n%d of %d answers are right.\n", right, len(all))
	return b.String()
}

func (q *question) same(o *question) bool {
	return q.of == o.of && q.fault.Name == o.fault.Name && q.number == o.number && q.flag == o.flag
}

func row(b *strings.Builder, runs []*judgement) {
	j := runs[0]
	worst, low, high := 0.0, uint64(math.MaxUint64), uint64(0)
	for _, r := range runs {
		low, high = min(low, r.Outcome.Peak), max(high, r.Outcome.Peak)
		if share := float64(r.Ledger.Unexplained) / max(1, float64(r.Ledger.Total)); math.Abs(share) > math.Abs(worst) {
			worst = share
		}
	}
	peak := mib(high)
	if mib(low) != peak {
		peak = fmt.Sprintf("%.0f to %s", float64(low)/(1<<20), peak)
	}
	fmt.Fprintf(b, "| %s | %s | %s | %d | %s | %s | %s | %.2f%% | %s |\n", j.of, j.name(), mib(j.run.Limit), len(runs), cell(j.expected()),
		cell(counted(runs, (*judgement).given)), peak, 100*worst, counted(runs, (*judgement).verdict))
}

// counted lists what the runs have, each with how often where they differ.
func counted(runs []*judgement, what func(*judgement) string) string {
	var order []string
	n := map[string]int{}
	for _, r := range runs {
		s := what(r)
		if n[s]++; n[s] == 1 {
			order = append(order, s)
		}
	}
	if len(order) == 1 {
		return order[0]
	}
	for i, s := range order {
		order[i] = fmt.Sprintf("%dx %s", n[s], s)
	}
	return strings.Join(order, "; ")
}

// cell is a text that holds no column of a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", " or ") }

func writeTable(path string, all []*judgement, kept bool) error {
	return os.WriteFile(path, []byte(table(all, kept)), 0o644)
}
