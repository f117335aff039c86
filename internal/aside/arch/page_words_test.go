package arch

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// said is what of a line of TypeScript people read: strings with a space in them, and the
// text between two tags.
var said = regexp.MustCompile(`'[^'<{]* [^'<{]*'|"[^"]* [^"]*"|` + "`[^`]* [^`]*`" + `|[a-z"}]>[^<>{}=]* [^<>{}=]*[<{]`)

// The page says nothing that an answer does not say.
func TestThePageHasNoBannedPhrase(t *testing.T) {
	files, err := filepath.Glob("../../show/web/ui/*.ts*")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	n := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "//") {
				continue
			}
			code, _, _ := strings.Cut(line, " // ")
			for _, words := range said.FindAllString(code, -1) {
				ban(t, fmt.Sprintf("%s:%d", file, i+1), words)
				n++
			}
		}
	}
	if n < 300 {
		t.Errorf("only %d texts", n)
	}
}
