package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Shell is words as a shell reads them, to be copied from where they are shown. A word
// with characters that are not shown is in the form of $'...', which POSIX has since 2024
// and bash, zsh, ksh and busybox know.
func Shell(words ...string) string {
	out := make([]string, len(words))
	for i, w := range words {
		switch {
		case !clean(w, false) || strings.ContainsRune(w, '\t'):
			out[i] = dollarQuoted(w)
		case w == "" || strings.ContainsFunc(w, special):
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		default:
			out[i] = w
		}
	}
	return strings.Join(out, " ")
}

// special reports whether a shell may not take a character as it is.
func special(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r > 0x7f || strings.ContainsRune("-_./:=,+@%", r))
}

// dollarQuoted writes what is not shown as octal numbers of its bytes.
func dollarQuoted(word string) string {
	var b strings.Builder
	b.WriteString("$'")
	for rest := word; rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		if unicode.IsPrint(r) && r != '\'' && r != '\\' && !(r == utf8.RuneError && n == 1) {
			b.WriteString(rest[:n])
		} else {
			for i := range n {
				fmt.Fprintf(&b, `\%03o`, rest[i])
			}
		}
		rest = rest[n:]
	}
	b.WriteByte('\'')
	return b.String()
}
