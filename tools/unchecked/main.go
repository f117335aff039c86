// Unchecked reads what errcheck, or a tool that prints alike, says and names each error that is neither looked at
// nor excepted, then each exception that excepts nothing any more:
//
//	errcheck ./... | unchecked EXCEPTIONS
//
// It is not a checker: errcheck finds, a person decides. The code is 1 where it names
// anything, 2 where it cannot read.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"strings"
)

func main() {
	wrong, err := run(os.Args[1:], os.Stdin)
	if err != nil {
		fmt.Fprintf(os.Stderr, "unchecked: %v\n", err)
		os.Exit(2)
	}
	for _, line := range wrong {
		fmt.Println(line)
	}
	if len(wrong) > 0 {
		os.Exit(1)
	}
}

func run(args []string, found io.Reader) ([]string, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("usage: errcheck ./... | unchecked EXCEPTIONS")
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return nil, fmt.Errorf("read the exceptions: %w", err)
	}
	all, err := parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", args[0], err)
	}
	return unexcepted(found, all)
}

// exception is a line of the file: a pattern for "PACKAGE: SOURCE LINE", which it must
// match from the beginning to the end.
type exception struct {
	line    int
	pattern *regexp.Regexp
	used    bool
}

// parse reads exceptions, one a line. Lines that begin with # are the reason for those
// that follow; an exception without a reason above is an error.
func parse(text string) (all []*exception, err error) {
	reason := false
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			reason = false
		case strings.HasPrefix(line, "#"):
			reason = true
		case !reason:
			return nil, fmt.Errorf("line %d: an exception without a reason above it", i+1)
		default:
			re, err := regexp.Compile("^(?:" + line + ")$")
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			all = append(all, &exception{line: i + 1, pattern: re})
		}
	}
	return all, nil
}

// unexcepted gives the lines of errcheck that no exception matches, and a line for
// each exception that matched none.
func unexcepted(found io.Reader, all []*exception) (wrong []string, err error) {
	sc := bufio.NewScanner(found)
	for sc.Scan() {
		if !excepted(sc.Text(), all) {
			wrong = append(wrong, sc.Text())
		}
	}
	for _, e := range all {
		if !e.used {
			wrong = append(wrong, fmt.Sprintf("exceptions, line %d: nothing matches any more, remove it", e.line))
		}
	}
	return wrong, sc.Err()
}

// excepted looks for "dir/file.go:LINE:COLUMN:\tSOURCE" among the exceptions.
func excepted(line string, all []*exception) bool {
	place, source, ok := strings.Cut(line, "\t")
	if !ok {
		return false
	}
	file, _, _ := strings.Cut(place, ":")
	key := path.Dir(file) + ": " + strings.TrimSpace(source)
	for _, e := range all {
		if e.pattern.MatchString(key) {
			e.used = true
			return true
		}
	}
	return false
}
