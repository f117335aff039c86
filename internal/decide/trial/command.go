package trial

import (
	"errors"
	"fmt"
	"strings"

	"github.com/highwater-go/highwater/internal/words/visible"
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
	words, err := bareWords(text)
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

// bareWords are the words of a command without their quotes. What a shell would act upon is an error.
func bareWords(text string) (bare []string, err error) {
	words, open := visible.Words(text)
	for _, w := range words {
		if i := strings.IndexAny(w.Active, forShells); i >= 0 {
			return nil, fmt.Errorf("%q is for a shell, and none is used", w.Active[i])
		}
		bare = append(bare, w.Bare)
	}
	switch open {
	case 0:
		return bare, nil
	case '\\':
		return nil, errors.New("it ends with a backslash")
	}
	return nil, fmt.Errorf("a %c is not closed", open)
}
