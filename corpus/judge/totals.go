package main

import (
	"fmt"
	"slices"
	"strings"
)

// share is how many of how many.
type share struct{ n, of int }

func (s *share) add(yes bool) {
	s.of++
	if yes {
		s.n++
	}
}

func (s share) String() string {
	if s.of == 0 {
		return "0 of 0"
	}
	return fmt.Sprintf("%d of %d (%.0f %%)", s.n, s.of, 100*float64(s.n)/float64(s.of))
}

// totals are the figures of the corpus.
type totals struct {
	faults      share // named right
	enough      share // named right, of those with three readings
	unnamed     share // of these with three readings, undecided
	alarms      share // of innocent and repaired runs, accused
	open        share // of these, undecided
	long        share // of runs over 20 s, undecided
	trends      share // right, of answers that have one where it is known
	confidence  map[string]share
	confusion   map[string]map[string]int // what is true, what was said
	mistakes    map[result]int
	haveNumbers bool // readings were said
}

var degrees = []string{"high", "medium", "low"}

func sum(all []*judgement) *totals {
	t := &totals{confidence: map[string]share{}, confusion: map[string]map[string]int{}, mistakes: map[result]int{}}
	for _, j := range all {
		t.add(j)
	}
	return t
}

func (t *totals) add(j *judgement) {
	r := j.result()
	t.mistakes[r]++
	t.haveNumbers = t.haveNumbers || j.readings != nil
	t.confuse(j)
	if j.Run.Seconds > 20 {
		t.long.add(r == undecided)
	}
	if said := j.answer.Trend.State; j.Truth.Trend != "unknown" && said != "" && said != "not-enough-data" {
		t.trends.add(said == j.Truth.Trend)
	}
	if r != undecided && r != noAnswer {
		s := t.confidence[j.Verdict.Confidence]
		s.add(r == right)
		t.confidence[j.Verdict.Confidence] = s
	}
	if !j.Faulty {
		t.alarms.add(r == falseAlarm)
		t.open.add(r == undecided)
		return
	}
	t.faults.add(r == right)
	if j.enough() {
		t.enough.add(r == right)
		t.unnamed.add(r == undecided)
	}
}

func (t *totals) confuse(j *judgement) {
	if t.confusion[j.truly()] == nil {
		t.confusion[j.truly()] = map[string]int{}
	}
	t.confusion[j.truly()][j.said()]++
}

// truly is the row of the confusion matrix: where what was said is accepted, that.
func (j *judgement) truly() string {
	if slices.Contains(j.Classes, j.Verdict.Class) {
		return j.Verdict.Class
	}
	return j.Classes[0]
}

func (j *judgement) said() string {
	if j.failed != nil || j.Verdict.Class == "" {
		return "no answer"
	}
	return j.Verdict.Class
}

// figures are the totals in lines.
func figures(all []*judgement) string {
	t := sum(all)
	var b strings.Builder
	fmt.Fprintf(&b, "faults named to class and line     %s\n", t.faults)
	if t.haveNumbers {
		fmt.Fprintf(&b, "  of those with 3 readings         %s\n", t.enough)
	}
	fmt.Fprintf(&b, "  undecided of those               %s\n", t.unnamed)
	fmt.Fprintf(&b, "false alarms                       %s innocent or repaired runs\n", t.alarms)
	fmt.Fprintf(&b, "  undecided of those               %s\n", t.open)
	fmt.Fprintf(&b, "undecided of runs over 20 s        %s\n", t.long)
	if t.trends.of > 0 {
		fmt.Fprintf(&b, "trend right                        %s\n", t.trends)
	}
	for _, d := range degrees {
		fmt.Fprintf(&b, "right where confidence is %-6s   %s\n", d, t.confidence[d])
	}
	return b.String()
}
