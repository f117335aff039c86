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
	text string // the answer for people
}

// longest is how many lines an answer may have.
const longest = 30

// right reports whether the outcome is one that the truth knows, the class is right, and the line is named, or not, as
// it should be.
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
	case strings.Count(j.text, "\n") > longest:
		return "too long"
	}
	return "right"
}

// accuses reports whether a line is named. What is to be set, and no line's fault, has none.
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

// named reports whether the culprit is the mistake or a line where its memory shows.
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
	fmt.Printf(columns, j.of, j.name(), mib(j.run.Limit), j.expected(), j.given(), fmt.Sprintf("%.0f", j.took.Seconds()), mib(j.Outcome.Peak), j.residue(),
		j.verdict())
	if !j.right() {
		fmt.Printf("    %s\n", j.Verdict.Sentence)
	}
}

// name is the fault, in parentheses where the repaired program did its run.
func (q *question) name() string {
	name := q.fault.Name
	if q.number > 1 {
		name += fmt.Sprint(" ", q.number)
	}
	if q.flag == "none" && q.fault.Name != "none" {
		name = "(" + name + ")"
	}
	return name
}

func (q *question) expected() string {
	return strings.Join(q.want.Outcomes, "|") + ", " + strings.Join(q.want.Classes, "|")
}

func (j *judgement) given() string {
	given := j.outcome() + ", " + j.Verdict.Class
	if c := j.Verdict.Culprit; j.accuses() {
		given += fmt.Sprintf(" %s:%d", path.Base(c.File), c.Line)
	}
	return given
}

// residue is what of the charge the ledger does not explain.
func (j *judgement) residue() string {
	if j.Ledger.Total == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f%%", 100*float64(j.Ledger.Unexplained)/float64(j.Ledger.Total))
}

func mib(b uint64) string { return fmt.Sprintf("%.0f MiB", float64(b)/(1<<20)) }
