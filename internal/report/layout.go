package report

import (
	"strings"
	"unicode/utf8"

	"github.com/highwater-go/highwater/internal/visible"
)

// columns is how wide a text is; every rune that is printed here is one wide.
func columns(s string) int { return utf8.RuneCountInString(s) }

// fold shortens a text to n columns with an ellipsis in its middle, so that the
// end of a path stays, which says most.
func fold(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	r := []rune(s)
	if n < 5 {
		return string(r[:max(0, n)])
	}
	head := (n - 1) / 3
	return string(r[:head]) + "…" + string(r[len(r)-(n-1-head):])
}

// cut shortens a text to n columns with an ellipsis at its end.
func cut(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	return string([]rune(s)[:max(0, n-1)]) + "…"
}

// wrapped breaks a text at spaces into lines of at most n columns; a longer word
// is folded.
func wrapped(text string, n int) []string {
	var out []string
	line := ""
	for _, word := range strings.Fields(text) {
		word = fold(word, n)
		switch {
		case line == "":
			line = word
		case columns(line)+1+columns(word) <= n:
			line += " " + word
		default:
			out = append(out, line)
			line = word
		}
	}
	if line != "" {
		out = append(out, line)
	}
	return out
}

// pad fills a text with spaces to n columns.
func pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-columns(s))) }

// ANSI codes (ECMA-48, select graphic rendition).
const (
	bold  = "\x1b[1m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
	cyan  = "\x1b[36m"
	off   = "\x1b[0m"
)

// paint makes the lines of a page fit for a terminal, whatever the names in them hold,
// and colours headings, the outcome and the bars. Every page goes through it.
func paint(page []string, color bool) []string {
	out := make([]string, len(page))
	for i, line := range page {
		if out[i] = visible.Text(line); color {
			out[i] = paintLine(out[i], i == 0)
		}
	}
	return out
}

func paintLine(line string, first bool) string {
	if first {
		line = strings.Replace(line, "KILLED", bold+red+"KILLED"+off, 1)
		line = strings.Replace(line, "exited", bold+green+"exited"+off, 1)
		return line
	}
	for _, h := range headings {
		if rest, ok := strings.CutPrefix(line, h); ok {
			return bold + h + off + rest
		}
	}
	if start := strings.IndexRune(line, bar); start >= 0 {
		end := strings.LastIndex(line, string(bar)) + len(string(bar))
		return line[:start] + cyan + line[start:end] + off + line[end:]
	}
	return line
}

var headings = []string{"WHERE", "WHICH", "WHO", "WHY NOT", "WHY", "FIX", "NEXT", "NOT SEEN", "REQUESTS", "EXPECTED", "WORK", "HOW LONG", "HOW MANY", "WHEN", "WHAT GREW", "WHAT SHRANK", "WHAT CHANGED", "SAME", "NOTE", "  NO SOURCE"}
