package arch

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// What contributors are told of tests has to be there.
func TestTheTestsOfTheRecipesExist(t *testing.T) {
	top := root(t)
	known := map[string]bool{"TestEveryCommand": true, "TestMain": true} // the first is the beginning of one
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.test {
				known[f.Name.Name] = true
			}
		}
	}
	tests := regexp.MustCompile(`\bTest[A-Z]\w+`)
	named := 0
	for _, page := range []string{"CONTRIBUTING.md", "docs/tour.md"} {
		text, err := os.ReadFile(filepath.Join(top, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range tests.FindAllString(string(text), -1) {
			named++
			if !known[name] {
				t.Errorf("%s names %s, which is not a test", page, name)
			}
		}
	}
	if named < 20 {
		t.Errorf("only %d names were found", named)
	}
}
