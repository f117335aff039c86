package visible

import "strings"

// Word is one word of a command as a shell reads it (POSIX, "Quoting").
type Word struct {
	Typed string // with its quotes and backslashes
	Bare  string // without them; what a shell would replace stays as it is
	// Active is what a shell may act upon: the characters that no quote and no backslash protects, and $ and `
	// between double quotes.
	Active string
}

// Words are the words of a command. open is what a shell would go on to wait for: the quote that is not closed, a
// backslash that is the last character, or 0.
func Words(command string) (words []Word, open rune) {
	r := wordReader{begin: -1}
	for i, c := range command {
		if r.ends(c) {
			r.end(command[:i])
			continue
		}
		if r.begin < 0 {
			r.begin = i
		}
		r.read(c)
	}
	r.end(command)
	if r.escaped {
		return r.words, '\\'
	}
	return r.words, r.quote
}

// wordReader is where a shell is in a command.
type wordReader struct {
	words        []Word
	begin        int // of the word, -1 between words
	bare, active strings.Builder
	quote        rune // 0: none
	escaped      bool // the last character was a backslash
}

// ends says whether a character is a space between words.
func (r *wordReader) ends(c rune) bool {
	return r.quote == 0 && !r.escaped && strings.ContainsRune(" \t\n", c)
}

// end ends the word that lasts until here.
func (r *wordReader) end(until string) {
	if r.begin >= 0 {
		r.words = append(r.words, Word{until[r.begin:], r.bare.String(), r.active.String()})
	}
	r.begin = -1
	r.bare.Reset()
	r.active.Reset()
}

func (r *wordReader) read(c rune) {
	switch {
	case r.escaped:
		if r.quote == '"' && !strings.ContainsRune("$`\"\\\n", c) {
			r.bare.WriteByte('\\')
		}
		r.bare.WriteRune(c)
		r.escaped = false
	case c == '\\' && r.quote != '\'':
		r.escaped = true
	case c == r.quote:
		r.quote = 0
	case r.quote == 0 && (c == '\'' || c == '"'):
		r.quote = c
	default:
		r.bare.WriteRune(c)
		if r.quote == 0 || r.quote == '"' && (c == '$' || c == '`') {
			r.active.WriteRune(c)
		}
	}
}
