package truthfile

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

// Marked is the lines of the source that are marked with one fault's name, by
// comments at their ends:
//
//	err := r.ParseMultipartForm(memory) // fault: form32
//	b := make([]byte, n)                // fault: reserved; also: defaults
type Marked struct {
	Fault Place
	Also  []Place // by file, then line
}

const (
	faultPrefix = "fault: "
	alsoPrefix  = "also: "
)

// Marks finds the marked lines of the Go files in dir and below, by fault. A
// closure's are the function's that it stands in. Two marks of one fault are an
// error: a mistake has one line.
func Marks(dir string) (map[string]Marked, error) {
	module, err := modulePath(dir)
	if err != nil {
		return nil, err
	}
	marks := map[string]Marked{}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		return marksOf(marks, dir, name, module)
	})
	return marks, err
}

func marksOf(marks map[string]Marked, dir, name, module string) error {
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
			at := Place{Function: pkg + "." + around(file, c.Pos()), File: name, Line: files.Position(c.Pos()).Line}
			for mark := range strings.SplitSeq(strings.TrimPrefix(c.Text, "// "), "; ") {
				if err := note(marks, mark, at); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// note takes a comment for what it may be: a mark, or nothing of ours.
func note(marks map[string]Marked, comment string, at Place) error {
	if fault, ok := strings.CutPrefix(comment, alsoPrefix); ok {
		m := marks[fault]
		m.Also = append(m.Also, at)
		marks[fault] = m
	}
	if fault, ok := strings.CutPrefix(comment, faultPrefix); ok {
		m := marks[fault]
		if m.Fault != (Place{}) {
			return fmt.Errorf("%s is marked at %v and at %v", fault, m.Fault, at)
		}
		m.Fault = at
		marks[fault] = m
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
