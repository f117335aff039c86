package arch

import (
	"go/ast"
	"testing"
)

// spelled are the structs that have a line of code in fields of their own, and why they do not embed sample.Place.
var spelled = map[string]string{
	"sample.Place":   "is it",
	"sample.Frame":   "is a call, with the start of its function",
	"gobin.Frame":    "is a call, with what the compiler made of it",
	"explain.Part":   "its place may be absent",
	"fleet.Incident": "has the columns of a table", "fleet.Stack": "has the columns of a table",
	"fleet.LineDiff": "is read from columns", "fleet.Growth": "is read from columns",
	"web.Line": "is what the page reads, in its order",
}

// placed are the structs of a file that have function, file and line as fields.
func placed(s source) (names []string) {
	for _, d := range s.file.Decls {
		ast.Inspect(d, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if st, ok := spec.Type.(*ast.StructType); ok {
				has := make(map[string]bool)
				for _, f := range st.Fields.List {
					for _, name := range f.Names {
						has[name.Name] = true
					}
				}
				if (has["Function"] || has["Func"]) && has["File"] && has["Line"] {
					names = append(names, s.file.Name.Name+"."+spec.Name.Name)
				}
			}
			return true
		})
	}
	return names
}

// A line of code is one type, which has its names in JSON, so that all answers speak of it alike.
func TestALineOfCodeIsAPlace(t *testing.T) {
	found := make(map[string]bool)
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, name := range placed(s) {
			found[name] = true
			if spelled[name] == "" {
				t.Errorf("%s: %s has function, file and line: embed sample.Place, or say why not", s.path, name)
			}
		}
	}
	for name := range spelled {
		if !found[name] {
			t.Errorf("%s has no such fields any more", name)
		}
	}
}

func TestASecondPlaceIsFound(t *testing.T) {
	s := parse(t, "internal/a/a.go", `package a

type one struct {
	Function, File string
	Bytes int
	Line int
}

type two struct {
	File string
	Line int
}
`)
	if got := placed(s); len(got) != 1 || got[0] != "a.one" {
		t.Errorf("found %q", got)
	}
}
