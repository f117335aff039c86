package arch

import (
	"strings"
	"testing"
)

// mostLines is what a file of source may have: beyond that it is two things.
const mostLines = 440

// mostOfCLI is what the commands may have: flags, help, completion.
const mostOfCLI = 3000

// linesOf are the lines of the sources that are no tests, by path.
func linesOf(all []source) map[string]int {
	lines := make(map[string]int)
	for _, s := range all {
		if !s.test && !strings.HasSuffix(s.path, ".pb.go") {
			lines[s.path] = s.fset.File(s.file.Pos()).LineCount()
		}
	}
	return lines
}

func TestFilesAreShortAndTheCommandsThin(t *testing.T) {
	commands, lines := 0, linesOf(sources(t))
	if len(lines) < 500 {
		t.Fatalf("only %d files", len(lines))
	}
	for path, n := range lines {
		if n > mostLines {
			t.Errorf("%s has %d lines", path, n)
		}
		if strings.HasPrefix(path, "internal/cli/") {
			commands += n
		}
	}
	t.Logf("internal/cli has %d lines", commands)
	if commands == 0 || commands > mostOfCLI {
		t.Errorf("internal/cli has %d lines", commands)
	}
}
