package report

import "strings"

// command prints a command as a shell reads it, in so many lines at most; the end
// of a longer one is left out.
func (p *page) command(indent, text string, most int) {
	room := p.width - columns(indent)
	if columns(text) <= room {
		p.add(indent + text)
		return
	}
	lines := shellLines(text, room-4)
	for i, line := range lines[:min(most, len(lines))] {
		switch {
		case i == most-1 && len(lines) > most:
			line = cut(line+" …", room)
		case i < len(lines)-1:
			line += " \\"
		}
		p.add(indent + line)
		if i == 0 {
			indent += "  "
		}
	}
}

// shellLines breaks a command where a shell breaks words: not within quotes.
func shellLines(text string, n int) []string {
	var out []string
	line, word, quoted := "", "", false
	flush := func() {
		if line != "" && columns(line)+1+columns(word) > n {
			out, line = append(out, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
		word = ""
	}
	for _, r := range text {
		if r == '\'' {
			quoted = !quoted
		}
		if r == ' ' && !quoted {
			flush()
			continue
		}
		word += string(r)
	}
	flush()
	for i := range out {
		out[i] = cut(out[i], n)
	}
	return append(out, cut(line, n))
}
