package arch

import (
	"go/ast"
	"strings"
	"testing"
)

// labelled are the declarations whose comment begins like a label, "name: what it is", which godoc does not read
// as a sentence.
func labelled(s source) (places []string) {
	look := func(doc *ast.CommentGroup, names ...*ast.Ident) {
		for _, name := range names {
			if doc != nil && strings.HasPrefix(doc.Text(), name.Name+": ") {
				places = append(places, s.line(doc)+": "+name.Name)
			}
		}
	}
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			look(d.Doc, d.Name)
		case *ast.GenDecl:
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.TypeSpec:
					look(d.Doc, n.Name)
					look(n.Doc, n.Name)
				case *ast.ValueSpec:
					look(d.Doc, n.Names...)
					look(n.Doc, n.Names...)
				case *ast.Field:
					look(n.Doc, n.Names...)
				}
				return true
			})
		}
	}
	return places
}

func TestCommentsOfDeclarationsAreSentences(t *testing.T) {
	for _, s := range sources(t) {
		for _, place := range labelled(s) {
			t.Errorf("%s: say what it does, as in \"X reports whether ...\"", place)
		}
	}
}

func TestACommentLikeALabelIsFound(t *testing.T) {
	s := parse(t, "internal/a/a.go", `package a

// bad: there is none.
func bad() bool { return true }

// good reports whether there is none: never.
func good() bool { return true }

// worse: a number.
const worse = 1

// T: a type.
type T struct {
	// F: a field.
	F bool
	// G is a field.
	G bool
}
`)
	if got := strings.Join(labelled(s), " "); got != "internal/a/a.go:3: bad internal/a/a.go:9: worse internal/a/a.go:12: T internal/a/a.go:14: F" {
		t.Errorf("found %q", got)
	}
}
