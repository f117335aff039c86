package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The rules were made by people who saw the families, and no count can undo that. What can be left out is
// what numbers were chosen by: from which sum of evidence on a class is said, and from which it is said with
// medium and with high confidence. leftOut chooses these three again for each family, by all the others, and
// judges the family by them.

// The parts of answers that must be right, and the grid of sums that are tried.
const (
	mostlyRight = 0.5
	mediumRight = 0.9
	highRight   = 0.99
	leastSum    = 0.0
	mostSum     = 12.0
	stepOfSums  = 0.5
)

// cuts are the sums of evidence from which a class is said, and how surely.
type cuts struct{ said, medium, high float64 }

// weighedRun is a run of which evidence was weighed: the class that it speaks for most.
type weighedRun struct {
	family string
	faulty bool // one of the weighed classes is true of it
	score  float64
	right  bool // the class is true of the run
}

// byWeight are the classes whose evidence is weighed. What else is said is decided by other rules.
var byWeight = []string{"leak", "backlog", "burst"}

// weighedRuns are the runs in which a class that is judged by weighed evidence was not ruled out, and no
// other rule decided.
func weighedRuns(all []*judgement) (list []weighedRun) {
	for _, j := range all {
		said := j.Verdict.Class
		if len(j.weighed) == 0 || j.failed != nil || said != "healthy" && said != "inconclusive" && !slices.Contains(byWeight, said) {
			continue
		}
		most := slices.MaxFunc(j.weighed, func(a, b hypothesis) int { return int(math.Copysign(1, a.score-b.score)) })
		oneOf := slices.ContainsFunc(j.Classes, func(class string) bool { return slices.Contains(byWeight, class) })
		list = append(list, weighedRun{j.Family, j.Faulty && oneOf, most.score, slices.Contains(j.Classes, most.class)})
	}
	return list
}

// rate is the part of runs that are right, of those with a sum from one value to below another; NaN: none.
func rate(list []weighedRun, from, below float64) float64 {
	n, right := 0, 0
	for _, r := range list {
		if r.score >= from && r.score < below {
			n++
			if r.right {
				right++
			}
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return float64(right) / float64(n)
}

// choose finds the cuts: each the least sum from which on enough are right, up to the one above it.
func choose(list []weighedRun) cuts {
	least := func(enough, below float64) float64 {
		best := below
		for s := min(below, mostSum); s >= leastSum; s -= stepOfSums {
			if rate(list, s, below) >= enough {
				best = s
			}
		}
		return min(best, mostSum)
	}
	high := least(highRight, math.Inf(1))
	medium := least(mediumRight, high)
	return cuts{least(mostlyRight, medium), medium, high}
}

// leftOutTotals are the figures of all families, each judged by the cuts of the others.
type leftOutTotals struct {
	named        share // faulty runs whose class is said
	alarms       share // other runs that are accused
	high, medium share // right, of what is said with that confidence
	chosen       map[cuts]int
}

func leftOut(all []*judgement) (t leftOutTotals) {
	t.chosen = map[cuts]int{}
	list := weighedRuns(all)
	families := map[string]bool{}
	for _, r := range list {
		families[r.family] = true
	}
	for _, f := range names(families) {
		others := slices.DeleteFunc(slices.Clone(list), func(r weighedRun) bool { return r.family == f })
		k := choose(others)
		t.chosen[k]++
		for _, r := range list {
			if r.family == f {
				t.add(r, k)
			}
		}
	}
	return t
}

func (t *leftOutTotals) add(r weighedRun, k cuts) {
	said := r.score >= k.said
	if r.faulty {
		t.named.add(said && r.right)
	} else {
		t.alarms.add(said && !r.right)
	}
	switch {
	case r.score >= k.high:
		t.high.add(r.right)
	case r.score >= k.medium:
		t.medium.add(r.right)
	}
}

// leftOutPage is the section of the page.
func leftOutPage(b *strings.Builder, all []*judgement) {
	t := leftOut(all)
	if t.named.of == 0 {
		return
	}
	b.WriteString("\n## Families left out\n\nThe rules were made by hand, by people who had seen most of these families, so no count here is of rules that never saw one: first sight\n" +
		"of new programs, in [truth.md](truth.md), is the measure for that. What can be left out are the numbers that were fitted: the sums of\n" +
		"evidence from which a leak, a backlog or a burst is said at all, and with medium or high confidence. Here they are chosen again for each\n" +
		"family, by the runs of all other families, so that half, 90 % and 99 % of these are right; then the family is judged by them. Counted are\n" +
		"runs in which one of the three classes was not ruled out and no other rule decided, by class alone.\n\n| | |\n|---|---|\n")
	fmt.Fprintf(b,
		"| leaks, backlogs and bursts whose class is said | %s |\n| other runs of which one is said | %s |\n| right with high confidence | %s |\n| right with medium confidence | %s |\n",
		t.named, t.alarms, t.high, t.medium)
	b.WriteString("\n| sums that were chosen: said, medium, high | families |\n|---|---|\n")
	var order []cuts
	for k := range t.chosen {
		order = append(order, k)
	}
	slices.SortFunc(order, func(x, y cuts) int { return t.chosen[y] - t.chosen[x] })
	for _, k := range order {
		fmt.Fprintf(b, "| %g, %g, %g | %d |\n", k.said, k.medium, k.high, t.chosen[k])
	}
	b.WriteString("\nThe tool has 2.5, 3.5 and 6.5.\n")
}
