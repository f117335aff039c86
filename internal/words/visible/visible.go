// Package visible makes texts from outside fit to be shown. Names of programs, files and
// functions, answers of servers and cells of recordings are written by others: what a
// terminal would take for a command, or a reader for a line of ours, is shown and not
// sent. It decides nothing about what is shown.
package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is a text as one line of printable characters and tabs. Control characters are
// in caret notation, "^[" for escape and "^J" for a new line; others that are not seen, or
// that turn the direction of what is read, are as JSON writes them, "\u202e"; bytes that
// are not UTF-8 are "\xff".
func Text(s string) string {
	if clean(s, false) {
		return s
	}
	return string(appendShown(nil, []byte(s), false))
}

// clean says that a text is shown as it is.
func clean(s string, lines bool) bool {
	for _, r := range s {
		if !shown(r, lines) || r == utf8.RuneError {
			return false
		}
	}
	return true
}

// shown says whether a character stays as it is; a new line does within lines of ours.
func shown(r rune, lines bool) bool { return unicode.IsPrint(r) || r == '\t' || r == '\n' && lines }

// appendShown appends a text as it is shown.
func appendShown(out, text []byte, lines bool) []byte {
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1:
			out = fmt.Appendf(out, `\x%02x`, text[0])
		case shown(r, lines):
			out = append(out, text[:n]...)
		default:
			out = append(out, escaped(r)...)
		}
		text = text[n:]
	}
	return out
}

// escaped is a character that is not shown. What may be in a string of JSON, where no
// character below the space is, is escaped as JSON does it, so that the value stays.
func escaped(r rune) string {
	switch {
	case r < ' ':
		return "^" + string(r+'@')
	case r > 0xffff:
		high, low := utf16.EncodeRune(r)
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// Error is an error as one line: errors that were joined are parted by semicolons.
func Error(err error) string {
	switch e := any(err).(type) { // each level in its turn: errors.As would leave some out
	case interface{ Unwrap() []error }:
		var all, lines []string
		for _, one := range e.Unwrap() {
			all, lines = append(all, Error(one)), append(lines, one.Error())
		}
		if strings.Join(lines, "\n") == err.Error() {
			return strings.Join(all, "; ")
		}
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			if before, after, ok := strings.Cut(err.Error(), inner.Error()); ok {
				return Text(before) + Error(inner) + Text(after)
			}
		}
	}
	return Text(err.Error())
}
