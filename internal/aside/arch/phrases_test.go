package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// phrases.txt has a phrase a line that readers who met Highwater for the first time had to read twice,
// by the part that tells it, and after "=>" a part of what is said instead, or "gone".
const phrases = "testdata/phrases.txt"

// A phrase of that list is printed nowhere, and what was to be said instead is said.
func TestNoPhraseOfTheFirstReadersIsBack(t *testing.T) {
	list, err := os.ReadFile(phrases)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(list)), "\n")
	if len(lines) != 96 {
		t.Fatalf("%d phrases", len(lines))
	}
	texts := readByPeople(t)
	for i, line := range lines {
		old, instead, ok := strings.Cut(line, " => ")
		if !ok || len(old) < 7 || len(instead) < 4 {
			t.Fatalf("line %d: %s", i+1, line)
		}
		said := instead == "gone"
		for file, text := range texts {
			if strings.Contains(text, old) {
				t.Errorf("%s: phrase %d is back: %s", file, i+1, old)
			}
			said = said || strings.Contains(text, instead)
		}
		if !said {
			t.Errorf("phrase %d: %q is said nowhere", i+1, instead)
		}
	}
}

// readByPeople are the texts that people read: pages, what was printed, the page's source and the strings of
// the source, by their files.
func readByPeople(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, glob := range append(rendered, "../../../docs/*.md", "../../../docs/commands/*.md", "../../../docs/howto/*.md", "../../../docs/kubernetes/*.md",
		"../../show/web/ui/*.tsx", "../../show/web/ui/*.ts", "../../cli/testdata/script/*.txtar", "../../../README.md") {
		for _, file := range matches(t, glob) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts[file] = string(text)
		}
	}
	n := len(texts)
	for _, glob := range []string{"../../*/*/*.go", "../../*/*/*/*.go", "../../app/*.go", "../../cli/*.go"} {
		for _, file := range matches(t, glob) {
			if !strings.HasSuffix(file, "_test.go") {
				texts[file] = literals(t, file)
			}
		}
	}
	if len(texts)-n < 300 {
		t.Fatalf("%d files of source", len(texts)-n)
	}
	return texts
}

func matches(t *testing.T, glob string) []string {
	t.Helper()
	files, err := filepath.Glob(glob)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v", glob, err)
	}
	return files
}

// literals are the texts of a file of Go, one a line.
func literals(t *testing.T, file string) string {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	ast.Inspect(tree, func(node ast.Node) bool {
		if lit, ok := node.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				all.WriteString(text + "\n")
			}
		}
		return true
	})
	return all.String()
}
