package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/corpus/truth"
)

// judgement is an answer beside what is true.
type judgement struct {
	*truth.Truth
	answer
	failed error
}

// result is what an answer is worth.
type result string

// The results. Undecided accuses nobody and names nothing.
const (
	right      result = "right"
	undecided  result = "undecided"
	falseAlarm result = "FALSE ALARM" // an innocent or repaired program is accused
	wrongClass result = "WRONG CLASS"
	wrongLine  result = "WRONG LINE"
	noLine     result = "no line"
	notSaid    result = "NOT SAID" // what the sentence must have is not there
	noAnswer   result = "NO ANSWER"
)

// shortOfRoom are the classes that accuse a limit or a setting: whoever was killed at the limit was
// short of room, with a fault or without.
var shortOfRoom = []string{"gc-unaware", "baseline"}

func (j *judgement) result() result {
	class := j.Verdict.Class
	switch {
	case j.failed != nil || class == "":
		return noAnswer
	case !j.Faulty && j.Outcome.ByKernel && slices.Contains(shortOfRoom, class):
		return right
	case !slices.Contains(j.Classes, class):
		return j.notAccepted()
	case !j.Faulty:
		return right
	case !j.says():
		return notSaid
	case class == "healthy" || class == "inconclusive":
		return right
	}
	return j.line()
}

// notAccepted is the result where the class is not true, or nothing was decided.
func (j *judgement) notAccepted() result {
	switch {
	case j.Verdict.Class == "inconclusive":
		return undecided
	case !j.Faulty:
		return falseAlarm
	}
	return wrongClass
}

func (j *judgement) line() result {
	switch c := j.Verdict.Culprit; {
	case j.named():
		return right
	case c != nil && c.File != "":
		return wrongLine
	case j.NeedsLine:
		return noLine
	}
	return right
}

// named reports whether the line is one of the marked ones, or who keeps it is named, be it the function of a library in
// which goroutines wait that no line of the program started.
func (j *judgement) named() bool {
	c := j.Verdict.Culprit
	if c == nil {
		return false
	}
	if j.Verdict.Class == "goroutine-leak" && !j.NeedsLine && slices.ContainsFunc(j.Holder, func(h string) bool { return strings.Contains(c.Function, h) }) {
		return true
	}
	if j.Marked(c.File, c.Line) || j.inModule(c) {
		return true
	}
	return c.HeldBy != nil && slices.ContainsFunc(j.Holder, func(h string) bool {
		return strings.Contains(c.HeldBy.Path, h) || strings.Contains(c.HeldBy.Type, h)
	})
}

// inModule reports whether the place is in the module that has the fault, by function or by file; of the program's own
// file only by function.
func (j *judgement) inModule(c *culprit) bool {
	return slices.ContainsFunc(j.Functions, func(f string) bool { return strings.Contains(c.Function, f) }) ||
		slices.ContainsFunc(j.Files, func(f string) bool { return f != "main.go" && strings.HasSuffix("/"+c.File, "/"+f) })
}

func (j *judgement) says() bool {
	return len(j.Says) == 0 || slices.ContainsFunc(j.Says, func(s string) bool { return strings.Contains(j.Verdict.Sentence, s) })
}

// enough reports whether the verdict had three readings of whether it grows. One that does not say how many had them.
func (j *judgement) enough() bool { return j.readings == nil || *j.readings >= 3 }

// expected is what should be said, in a few words.
func (j *judgement) expected() string {
	s := strings.Join(j.Classes, " or ")
	if j.NeedsLine {
		s += fmt.Sprint(" ", path.Base(path.Dir(j.File)), ":", joined(j.Lines))
	}
	return s
}

// given is what was said.
func (j *judgement) given() string {
	if j.failed != nil {
		return j.failed.Error()
	}
	s := j.Outcome.State + ", " + j.Verdict.Class + " " + j.Verdict.Confidence
	if c := j.Verdict.Culprit; c != nil && c.File != "" {
		s += fmt.Sprintf(" %s:%d", path.Base(path.Dir(c.File)), c.Line)
	}
	return s
}

func joined(lines []int) string {
	words := make([]string, len(lines))
	for i, l := range lines {
		words[i] = fmt.Sprint(l)
	}
	return strings.Join(words, ",")
}

func printRows(all []*judgement, onlyWrong bool) {
	for _, j := range all {
		r := j.result()
		if onlyWrong && r == right {
			continue
		}
		fmt.Printf("%-34s %-11s %-44s | %s\n", j.Name, r, j.expected(), j.given())
		if r != right && j.failed == nil {
			fmt.Printf("    %s\n", j.Verdict.Sentence)
		}
	}
}
