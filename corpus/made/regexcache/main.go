// Regexcache compiles the pattern of each search and keeps it, since compiling is
// slow; the patterns are what users type, and hardly one comes twice. Repaired, it
// keeps 100.
package main

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// perPattern is about what a compiled pattern of this program takes, in bytes.
const perPattern = 4 << 10

type searcher struct {
	mu       sync.RWMutex
	compiled map[string]*regexp.Regexp
	most     int // 0: no bound
}

func main() {
	f := frame.Parse()
	s := &searcher{compiled: map[string]*regexp.Regexp{}}
	if f.Repaired {
		s.most = 100
	}
	lines := []string{"GET /v1/basket 200 12ms", "POST /v1/orders 503 2001ms upstream timed out"}
	typed := 0
	f.Each(func(i int) {
		for upTo := (i + 1) * f.Unit / perPattern; typed < upTo; typed++ {
			s.search(lines, fmt.Sprintf(`(?i)(timed out|refused|reset) .*user-%d(@[a-z]+\.example)?`, typed))
		}
	})
	f.Stay()
}

func (s *searcher) search(lines []string, pattern string) (hits int) {
	re, err := s.compile(pattern)
	if err != nil {
		return 0
	}
	for _, l := range lines {
		if re.MatchString(strings.TrimSpace(l)) {
			hits++
		}
	}
	return hits
}

func (s *searcher) compile(pattern string) (*regexp.Regexp, error) {
	s.mu.RLock()
	re := s.compiled[pattern]
	s.mu.RUnlock()
	if re != nil {
		return re, nil
	}
	re, err := regexp.Compile(pattern) // truth: allocates
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.most > 0 && len(s.compiled) >= s.most {
		clear(s.compiled)
	}
	s.compiled[pattern] = re // truth: keeps
	return re, nil
}
