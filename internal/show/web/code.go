package web

import (
	"strings"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Code is three lines of source, one of them the one that is meant.
type Code struct {
	File  string   `json:"file"`  // on this machine, that they were read from
	First int      `json:"first"` // number of the first line
	Mark  int      `json:"mark"`  // index of the one that is meant
	Lines []string `json:"lines"`
}

// code finds the source around a frame; why says why there is none.
func (b *Book) code(f sample.Frame) (code *Code, why string) {
	if b.Source == nil {
		return nil, "source is left out"
	}
	if f.File == "" {
		return nil, "no file is known"
	}
	text, err := b.Source.Func(f.Func, f.File, f.StartLine, f.Line)
	if err != nil {
		return nil, err.Error()
	}
	at := f.Line - text.First
	if at < 0 || at >= len(text.Lines) {
		return nil, "the line is not in the function that was found"
	}
	first, end := max(0, at-1), min(len(text.Lines), at+2)
	return &Code{text.Path, text.First + first, at - first, unindented(text.Lines[first:end])}, ""
}

// unindented takes away the tabs that all lines have.
func unindented(lines []string) []string {
	least := -1
	for _, l := range lines {
		if strings.TrimSpace(l) == "" {
			continue
		}
		if tabs := len(l) - len(strings.TrimLeft(l, "\t")); least < 0 || tabs < least {
			least = tabs
		}
	}
	out := []string{}
	for _, l := range lines {
		out = append(out, strings.ReplaceAll(strings.TrimRight(l[min(max(least, 0), len(l)):], " \t\r"), "\t", "    "))
	}
	return out
}
