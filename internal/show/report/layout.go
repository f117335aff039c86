package report

import (
	"strings"
	"unicode/utf8"
)

// columns is how wide a text is; every rune that is printed here is one wide.
func columns(s string) int { return utf8.RuneCountInString(s) }

// fold shortens a path or a name to n columns with an ellipsis, so that its end stays,
// which says most: a path from its left, at a slash where one is near.
func fold(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	r := []rune(s)
	if n < 2 {
		return string(r[:max(0, n)])
	}
	end := string(r[len(r)-(n-1):])
	if i := strings.IndexByte(end, '/'); i >= 0 && i < len(end)/2 {
		end = end[i:]
	}
	return "…" + end
}

// cut shortens a line of source to n columns with an ellipsis at its end.
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
