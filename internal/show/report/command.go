package report

import (
	"strings"

	"github.com/highwater-go/highwater/internal/words/visible"
)

// command prints a command so that it can be copied: where it does not fit, broken
// as a shell reads it. Where that would take more lines than most, the last of them goes
// beyond the width, as does a word that is too long for a line: nothing is ever cut.
func (p *page) command(indent, text string, most int) {
	room := p.width - columns(indent)
	lines := []string{text}
	if columns(text) > room && most > 1 {
		lines = shellLines(text, room-4)
	}
	if most = max(1, most); len(lines) > most {
		lines = append(lines[:most-1:most-1], strings.Join(lines[most-1:], " "))
	}
	for i, line := range lines {
		if i < len(lines)-1 {
			line += " \\"
		}
		p.add(indent + line)
		if i == 0 {
			indent = strings.Repeat(" ", columns(indent)+2)
		}
	}
}

// shellLines breaks a command where a shell breaks words: not within quotes, and, where that
// fits, not between a flag and its value. A word longer than n has a line of its own.
func shellLines(text string, n int) []string {
	words, _ := visible.Words(text)
	var out []string
	line := ""
	for i := range words {
		word := words[i].Typed
		need := columns(word)
		if i+1 < len(words) && takesValue(word) {
			if value := words[i+1].Typed; !strings.HasPrefix(value, "-") && need+1+columns(value) <= n {
				need += 1 + columns(value)
			}
		}
		if line != "" && columns(line)+1+need > n {
			out, line = append(out, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(out, line)
}

// takesValue reports whether the next word may be the value of this one: "-rate", not "--" or "-rate=5".
func takesValue(word string) bool {
	return len(word) > 1 && word[0] == '-' && word != "--" && !strings.Contains(word, "=")
}
