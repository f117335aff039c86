package faults

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Mark is a line of the source with a comment "fault: NAME".
type Mark struct {
	Function string // as the runtime names it; closures under the function they stand in
	File     string // relative to the program's folder, with slashes
	Line     int
}

const markPrefix = "fault: "

// Marks finds the marked lines of the Go files in dir and below, by fault. Two
// marks of one name are an error: a fault has one line.
func Marks(dir string) (map[string]Mark, error) {
	module, err := modulePath(dir)
	if err != nil {
		return nil, err
	}
	marks := map[string]Mark{}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		return marksOf(marks, dir, name, module)
	})
	return marks, err
}

func marksOf(marks map[string]Mark, dir, name, module string) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, filepath.Join(dir, name), nil, parser.ParseComments)
	if err != nil {
		return err
	}
	pkg := "main"
	if file.Name.Name != "main" {
		pkg = path.Join(module, path.Dir(name))
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			fault, ok := strings.CutPrefix(c.Text, "// "+markPrefix)
			if !ok {
				continue
			}
			fault, _, _ = strings.Cut(fault, " ")
			m := Mark{Function: pkg + "." + around(file, c.Pos()), File: name, Line: files.Position(c.Pos()).Line}
			if had, twice := marks[fault]; twice {
				return fmt.Errorf("%s is marked at %s:%d and at %s:%d", fault, had.File, had.Line, m.File, m.Line)
			}
			marks[fault] = m
		}
	}
	return nil
}

// around names the function declaration that a position lies in, as the
// runtime does without the package: "(*store).get", "run".
func around(file *ast.File, pos token.Pos) string {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || pos < f.Pos() || pos > f.End() {
			continue
		}
		if f.Recv == nil {
			return f.Name.Name
		}
		switch t := f.Recv.List[0].Type.(type) {
		case *ast.StarExpr:
			return fmt.Sprintf("(*%s).%s", t.X, f.Name.Name)
		default:
			return fmt.Sprintf("%s.%s", t, f.Name.Name)
		}
	}
	return ""
}

// modulePath is the import path of dir, by the go.mod above it.
func modulePath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for at := abs; ; at = filepath.Dir(at) {
		b, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil {
			first, _, _ := strings.Cut(string(b), "\n")
			rel, err := filepath.Rel(at, abs)
			return path.Join(strings.TrimPrefix(first, "module "), filepath.ToSlash(rel)), err
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("no go.mod above %s", dir)
		}
	}
}
