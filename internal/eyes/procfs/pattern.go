package procfs

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first used: all of them took 7 ms of each start of a
// program that needs none of them to read a recording.
type pattern func() *regexp.Regexp

func lazily(text string) pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

func (p pattern) MatchString(s string) bool              { return p().MatchString(s) }
func (p pattern) FindStringSubmatch(s string) []string   { return p().FindStringSubmatch(s) }
func (p pattern) ReplaceAllString(s, with string) string { return p().ReplaceAllString(s, with) }
