package procfs

import (
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/words/visible"
)

// RedactShell redacts a shell's command, word by word as Redact does.
func RedactShell(command string) string {
	words, _ := visible.Words(command)
	return asTyped(words, Redact(bareOf(words)))
}

// bareOf are words without their quotes.
func bareOf(words []visible.Word) (bare []string) {
	for _, w := range words {
		bare = append(bare, w.Bare)
	}
	return bare
}

// asTyped puts the words together again: those that were not changed as they were
// typed.
func asTyped(words []visible.Word, clean []string) string {
	out := slices.Clone(clean) // less than was typed where that is too long
	for i := range out {
		switch {
		case clean[i] == words[i].Bare:
			out[i] = words[i].Typed
		case strings.ContainsAny(clean[i], " \t\n'\"\\{}()[]&;|<>$`"):
			out[i] = "'" + strings.ReplaceAll(clean[i], "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
