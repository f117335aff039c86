package arch

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// byTheirNameAlone are options that nothing has to read.
var byTheirNameAlone = map[string]string{"Pprof": "export writes a profile where no other form is asked for, and cobra refuses two"}

// options are the exported fields of structs of internal/app whose name ends in Flags: what the flags
// of a command are bound to.
func options(all []source) map[string]string {
	fields := map[string]string{} // to where each stands
	for _, s := range all {
		if s.room != "app" || s.test {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || !strings.HasSuffix(spec.Name.Name, "Flags") {
				return true
			}
			structure, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for _, f := range structure.Fields.List {
				for _, name := range f.Names {
					if name.IsExported() && byTheirNameAlone[name.Name] == "" {
						fields[name.Name] = s.line(name) + ": " + spec.Name.Name + "." + name.Name
					}
				}
			}
			return true
		})
	}
	return fields
}

// unread are the options that no code of internal/app or internal/cli uses by their names. To bind a
// flag, &f.Name, does not count.
func unread(all []source) (places []string) {
	fields := options(all)
	for _, s := range all {
		if s.room != "app" && s.room != "cli" || s.test {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.UnaryExpr:
				_, selector := n.X.(*ast.SelectorExpr)
				return n.Op != token.AND || !selector
			case *ast.SelectorExpr:
				delete(fields, n.Sel.Name)
			}
			return true
		})
	}
	return slices.Sorted(maps.Values(fields))
}

func TestEveryOptionOfACommandIsRead(t *testing.T) {
	all := sources(t)
	if n := len(options(all)); n < 60 {
		t.Errorf("only %d options were found", n)
	}
	for _, place := range unread(all) {
		t.Errorf("%s is read by nothing: the flag that is bound to it has no effect", place)
	}
}

func TestAnOptionThatNothingReadsIsFound(t *testing.T) {
	s := parse(t, "internal/app/a.go", `package app; type AFlags struct { Read, Unread int }; func (f AFlags) Run() int { return f.Read }`)
	bound := parse(t, "internal/cli/a.go", `package cli; func f(f app.AFlags) { bind(&f.Unread) }`)
	if got := unread([]source{s, bound}); len(got) != 1 || !strings.HasSuffix(got[0], "AFlags.Unread") {
		t.Errorf("found %q", got)
	}
}
