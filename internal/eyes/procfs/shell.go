package procfs

import (
	"slices"
	"strings"
)

// RedactShell redacts a shell's command, word by word as Redact does.
func RedactShell(command string) string {
	typed, bare := shellWords(command)
	return asTyped(typed, bare, Redact(bare))
}

// shellWords are a shell's words as they are typed, and what they are without their
// quotes (POSIX, "Quoting"). What a shell would replace stays as it is.
func shellWords(command string) (typed, bare []string) {
	var word strings.Builder
	var quote rune // 0: none
	begin, escaped := -1, false
	for i, r := range command {
		space := strings.ContainsRune(" \t\n", r) && quote == 0 && !escaped
		switch {
		case space && begin >= 0:
			typed, bare = append(typed, command[begin:i]), append(bare, word.String())
			word.Reset()
			begin = -1
			continue
		case space:
			continue
		case begin < 0:
			begin = i
		}
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped = true
		case r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		default:
			word.WriteRune(r)
		}
	}
	if begin >= 0 {
		typed, bare = append(typed, command[begin:]), append(bare, word.String())
	}
	return typed, bare
}

// asTyped puts the words together again: those that were not changed as they were
// typed.
func asTyped(typed, bare, clean []string) string {
	out := slices.Clone(typed[:len(clean)]) // less than was typed where that is too long
	for i := range out {
		switch {
		case clean[i] == bare[i]:
		case strings.ContainsAny(clean[i], " \t\n'\"\\{}()[]&;|<>$`"):
			out[i] = "'" + strings.ReplaceAll(clean[i], "'", `'\''`) + "'"
		default:
			out[i] = clean[i]
		}
	}
	return strings.Join(out, " ")
}
