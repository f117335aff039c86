package main

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/cases/internal/truthfile"
)

// judgement is an answer beside what it should be.
type judgement struct {
	question
	answer
	took time.Duration
}

// right: the outcome is one that the truth knows, the class is right, and the
// line is named, or not, as it should be.
func (j *judgement) right() bool { return j.verdict() == "right" }

func (j *judgement) verdict() string {
	switch {
	case !slices.Contains(j.want.Outcomes, j.outcome()):
		return "another outcome"
	case j.Verdict.Class == "inconclusive":
		return "undecided"
	case !slices.Contains(j.want.Classes, j.Verdict.Class):
		return "WRONG CLASS"
	case !j.accuses() && j.want.NamesLine == "must":
		return "no line"
	case j.accuses() && j.want.NamesLine == "must not":
		return "ACCUSES"
	case j.accuses() && !j.named():
		return "WRONG LINE"
	}
	return "right"
}

// accuses: a line is named. What is to be set, and no line's fault, has none.
func (j *judgement) accuses() bool { return j.Verdict.Culprit != nil && j.Verdict.Culprit.File != "" }

// outcome is the outcome in the words of the truth. A livelock is what explain
// calls thrash.
func (j *judgement) outcome() string {
	switch {
	case j.Outcome.State == "killed" && j.Outcome.By != "signal":
		return "killed"
	case j.Verdict.Class == "thrash":
		return "livelock"
	}
	return "alive"
}

// named: the culprit is the mistake or a line where its memory shows.
func (j *judgement) named() bool {
	c := j.Verdict.Culprit
	for _, p := range append([]truthfile.Place{j.fault.Place}, j.fault.Seen...) {
		if c.Line == p.Line && strings.HasSuffix(c.File, "/"+path.Join(j.of, p.File)) {
			return true
		}
	}
	return false
}

const columns = "%-13s %-14s %-9s %-26s %-34s %6s %9s %6s  %s\n"

func printHead() {
	fmt.Printf(columns, "case", "fault", "limit", "expected", "given", "s", "peak", "resid.", "")
}

func (j *judgement) print() {
	name := j.fault.Name
	if j.flag == "none" && name != "none" {
		name = "(" + name + ")" // repaired, the same run
	}
	given := j.outcome() + ", " + j.Verdict.Class
	if c := j.Verdict.Culprit; j.accuses() {
		given += fmt.Sprintf(" %s:%d", path.Base(c.File), c.Line)
	}
	residue := "-"
	if j.Ledger.Total > 0 {
		residue = fmt.Sprintf("%.2f%%", 100*float64(j.Ledger.Unexplained)/float64(j.Ledger.Total))
	}
	expected := strings.Join(j.want.Outcomes, "|") + ", " + strings.Join(j.want.Classes, "|")
	fmt.Printf(columns, j.of, name, mib(j.run.Limit), expected, given, fmt.Sprintf("%.0f", j.took.Seconds()), mib(j.Outcome.Peak), residue, j.verdict())
	if !j.right() {
		fmt.Printf("    %s\n", j.Verdict.Sentence)
	}
}

func mib(b uint64) string { return fmt.Sprintf("%.0f MiB", float64(b)/(1<<20)) }
