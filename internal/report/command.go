package report

import "strings"

// command prints a command so that it can be copied: where it does not fit, broken
// as a shell reads it. One that would take more lines than most, or whose words
// are too long for a line, is one line beyond the width: it is never cut.
func (p *page) command(indent, text string, most int) {
	room := p.width - columns(indent)
	lines := []string{text}
	if columns(text) > room && most > 1 {
		lines = shellLines(text, room-4)
	}
	if len(lines) > most {
		lines = []string{text}
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

// shellLines breaks a command where a shell breaks words: not within quotes. A
// word longer than n has a line of its own.
func shellLines(text string, n int) []string {
	var out []string
	line, word, quoted, escaped := "", "", false, false
	flush := func() {
		if line != "" && columns(line)+1+columns(word) > n {
			out, line = append(out, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
		word = ""
	}
	for _, r := range text {
		if r == '\'' && !escaped {
			quoted = !quoted
		}
		escaped = r == '\\' && !quoted && !escaped
		if r == ' ' && !quoted {
			flush()
			continue
		}
		word += string(r)
	}
	flush()
	return append(out, line)
}
