package arch

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// What an answer may take: lines and columns of a terminal.
const (
	answerLines   = 25
	answerColumns = 100
)

// bareIt is a sentence that begins with a word for something of another sentence, or has one
// before any noun.
var bareIt = regexp.MustCompile(`(?i)^(it|they|its|their|them|those)\b|^that (is|was|has|would|may)\b|^(\S+ ){0,2}(it|they|them|its|their)\b`)

// finding are the heads of the paragraphs of an answer, and evidence its references.
var (
	finding  = regexp.MustCompile(`^  (Cause|Result|Why|Sure\?|Known|Unknown|Note|Not)\s+`)
	evidence = regexp.MustCompile(`\s+\[e[0-9 e]*\]$`)
)

// The answers of docs/answers.md are as they were printed: none is longer than a screen, and each
// sentence stands by itself.
func TestTheAnswersInTheDocsAreShortAndPlain(t *testing.T) {
	text, err := os.ReadFile("../../../docs/answers.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```\n")
	n := 0
	for i := 1; i < len(blocks); i += 2 {
		title := blocks[i-1][strings.LastIndex(blocks[i-1], "## ")+3:]
		title, _, _ = strings.Cut(title, "\n")
		n++
		answer := strings.Split(strings.TrimRight(blocks[i], "\n"), "\n")
		if len(answer) > answerLines {
			t.Errorf("%s has %d lines", title, len(answer))
		}
		for k, line := range answer {
			command := strings.Contains(line, "highwater ") || k > 0 && strings.HasSuffix(answer[k-1], `\`)
			if utf8.RuneCountInString(line) > answerColumns && !command {
				t.Errorf("%s: too wide: %s", title, line)
			}
		}
		for _, s := range sentencesOf(answer) {
			if bareIt.MatchString(s) {
				t.Errorf("%s: what is meant? %s", title, s)
			}
		}
	}
	if n < 30 {
		t.Errorf("%d answers, want 30", n)
	}
}

// No sentence of any answer begins with a word for something of another sentence.
func TestEverySentenceNamesWhatItIsAbout(t *testing.T) {
	text, err := os.ReadFile("../../../docs/sentences.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, line := range strings.Split(string(text), "\n") {
		line, is := strings.CutPrefix(line, "* ")
		if !is {
			continue
		}
		for _, s := range strings.SplitAfter(line, ". ") {
			n++
			if bareIt.MatchString(s) {
				t.Errorf("what is meant? %s", s)
			}
		}
	}
	if n < 300 {
		t.Errorf("only %d sentences", n)
	}
	for _, bad := range []string{"It grew.", "Most of it is free.", "Their stacks use 2 MiB."} {
		if !bareIt.MatchString(bad) {
			t.Errorf("%q is not found", bad)
		}
	}
}

// sentencesOf are the sentences of what an answer found, above its tables.
func sentencesOf(answer []string) (out []string) {
	var text strings.Builder
	for _, line := range answer {
		if regexp.MustCompile(`^[A-Z]{3,} `).MatchString(line) {
			break
		}
		text.WriteString(" " + strings.TrimSpace(evidence.ReplaceAllString(finding.ReplaceAllString(line, ""), "")))
	}
	for _, s := range strings.SplitAfter(strings.Join(strings.Fields(text.String()), " "), ". ") {
		out = append(out, strings.TrimSpace(s))
	}
	return out
}
