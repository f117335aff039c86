package trial

import (
	"errors"
	"fmt"
	"strings"
)

// Command is how a program is started: what is added to the environment, then the
// program and its arguments.
type Command struct {
	Env  []string // "GOMEMLIMIT=410MiB"
	Args []string
}

// forShells are characters that mean something to a shell and nothing here.
const forShells = "$`|&;<>()*?[]{}~#!"

// ParseCommand reads a command as it is typed, "GOMEMLIMIT=410MiB ./server -v 'a b'":
// words, quotes and backslashes as in a shell, and settings in front. What only a
// shell can do is refused: the program is started without one.
func ParseCommand(text string) (c Command, err error) {
	words, err := split(text)
	if err != nil {
		return c, err
	}
	for len(words) > 0 && isSetting(words[0]) {
		c.Env, words = append(c.Env, words[0]), words[1:]
	}
	if len(words) == 0 {
		return c, errors.New("it names no program")
	}
	c.Args = words
	return c, nil
}

// isSetting reports whether it has the form NAME=VALUE, with a name as POSIX has it.
func isSetting(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	for i, r := range name {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return ok && name != ""
}

// split takes a text apart at spaces that are not quoted.
func split(text string) (words []string, err error) {
	var word strings.Builder
	var quote rune // 0: none
	inWord, escaped := false, false
	for _, r := range text {
		switch {
		case escaped:
			if quote == '"' && r != '"' && r != '\\' {
				word.WriteByte('\\')
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote == 0 && (r == '\'' || r == '"'):
			quote, inWord = r, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && strings.ContainsRune(" \t\n", r):
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		case quote != '\'' && (r == '$' || r == '`'), quote == 0 && strings.ContainsRune(forShells, r):
			return nil, fmt.Errorf("%q is for a shell, and none is used", r)
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("a %c is not closed", quote)
	case escaped:
		return nil, errors.New("it ends with a backslash")
	case inWord:
		words = append(words, word.String())
	}
	return words, nil
}
