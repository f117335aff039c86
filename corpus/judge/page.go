package main

import (
	"fmt"
	"sort"
	"strings"
)

// markdown is the figures as a page: totals, the confusion matrix, the families,
// and every answer that is not right.
func markdown(all []*judgement) string {
	t := sum(all)
	var b strings.Builder
	b.WriteString("<!-- Written by `make truth`: corpus/judge -o -->\n\n# The corpus, judged\n\n" +
		"Programs with known faults, their repaired forms and innocent ones, each run by [corpus/run](../corpus/run) with a background, a\n" +
		"limit and a length that were drawn by chance; and what `highwater explain` answered about the recordings.\n\n")
	b.WriteString("| | |\n|---|---|\n")
	fmt.Fprintf(&b, "| runs | %d |\n| faults named to class and line | %s |\n", len(all), t.faults)
	if t.haveNumbers {
		fmt.Fprintf(&b, "| of those with three readings | %s |\n", t.enough)
	}
	fmt.Fprintf(&b,
		"| of those undecided | %s |\n| false alarms of innocent and repaired runs | %s |\n| of those undecided | %s |\n| undecided of runs over 20 s | %s |\n",
		t.unnamed, t.alarms, t.open, t.long)
	if t.trends.of > 0 {
		fmt.Fprintf(&b, "| trend right, where it is known | %s |\n", t.trends)
	}
	b.WriteString("\n## How far a stated confidence can be trusted\n\n| confidence | right, of answers that decide |\n|---|---|\n")
	for _, d := range degrees {
		fmt.Fprintf(&b, "| %s | %s |\n", d, t.confidence[d])
	}
	matrix(&b, t)
	leftOutPage(&b, all)
	byFamily(&b, all)
	misses(&b, all)
	return b.String()
}

// matrix has a row for what is true and a column for what was said.
func matrix(b *strings.Builder, t *totals) {
	columns := map[string]bool{}
	for _, row := range t.confusion {
		for said := range row {
			columns[said] = true
		}
	}
	said := names(columns)
	fmt.Fprintf(b,
		"\n## Confusion\n\nRows are what is true, columns what was said. Where several classes are true the row is the one that was said, else the first.\n\n"+
			"| | %s |\n|---|%s\n", strings.Join(said, " | "), strings.Repeat("---|", len(said)))
	for _, truly := range names(t.confusion) {
		fmt.Fprintf(b, "| **%s** |", truly)
		for _, s := range said {
			if n := t.confusion[truly][s]; n > 0 {
				fmt.Fprintf(b, " %d |", n)
			} else {
				b.WriteString(" |")
			}
		}
		b.WriteString("\n")
	}
}

func byFamily(b *strings.Builder, all []*judgement) {
	fmt.Fprintf(b,
		"\n## By family\n\n| family | faulty: right | undecided | wrong | innocent or repaired: right | undecided | false alarms |\n|---|---|---|---|---|---|---|\n")
	groups := map[string][]*judgement{}
	for _, j := range all {
		groups[j.Family] = append(groups[j.Family], j)
	}
	for _, name := range names(groups) {
		var n [2][3]int
		for _, j := range groups[name] {
			n[column(j.Faulty)][rank(j.result())]++
		}
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d | %d | %d |\n", name, n[0][0], n[0][1], n[0][2], n[1][0], n[1][1], n[1][2])
	}
}

// names are a map's keys in order.
func names[T any](of map[string]T) (all []string) {
	for name := range of {
		all = append(all, name)
	}
	sort.Strings(all)
	return all
}

func column(faulty bool) int {
	if faulty {
		return 0
	}
	return 1
}

func rank(r result) int {
	switch r {
	case right:
		return 0
	case undecided:
		return 1
	}
	return 2
}

func misses(b *strings.Builder, all []*judgement) {
	b.WriteString("\n## What is not right\n\n| run | true | said | |\n|---|---|---|---|\n")
	for _, j := range all {
		if r := j.result(); r != right {
			fmt.Fprintf(b, "| %s | %s | %s | %s |\n", j.Name, cell(j.expected()), cell(j.given()), r)
		}
	}
}

// cell is a text that holds no column and no line of a table.
func cell(s string) string { return strings.NewReplacer("|", "/", "\n", " ").Replace(s) }
