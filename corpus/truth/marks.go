package truth

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// Mark is a line of a program's source with a comment at its end that says what
// it does to the memory:
//
//	s := &session{data: make([]byte, size)} // truth: allocates
//	go func() { // truth: send, receive
type Mark struct {
	Words    []string
	Function string // the declared function around it: main.load, store.(*Store).Put
	File     string // below the program's folder
	Line     int
}

const prefix = "// truth: "

// Marks finds the marks of the program whose package main is in dir, of its file
// main.go first, then of its own packages in folders below.
func Marks(dir string) ([]Mark, error) {
	below, err := filepath.Glob(filepath.Join(dir, "*", "*.go"))
	if err != nil {
		return nil, err
	}
	var marks []Mark
	for _, file := range append([]string{filepath.Join(dir, "main.go")}, below...) {
		some, err := marksOf(dir, file)
		if err != nil {
			return nil, err
		}
		marks = append(marks, some...)
	}
	return marks, nil
}

// marksOf finds the marks of a file by line.
func marksOf(dir, path string) ([]Mark, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	name, err := filepath.Rel(dir, path)
	if err != nil {
		return nil, err
	}
	var marks []Mark
	for _, group := range file.Comments {
		for _, c := range group.List {
			if words, ok := strings.CutPrefix(c.Text, prefix); ok {
				marks = append(marks, Mark{strings.Split(words, ", "), around(file, c.Pos()), filepath.ToSlash(name), files.Position(c.Pos()).Line})
			}
		}
	}
	return marks, nil
}

// Pick keeps the marks that have one of words, all of them where there are no
// words. None left is an error.
func Pick(marks []Mark, words []string) (picked []Mark, err error) {
	for _, m := range marks {
		if len(words) == 0 || slices.ContainsFunc(m.Words, func(w string) bool { return slices.Contains(words, w) }) {
			picked = append(picked, m)
		}
	}
	if len(picked) == 0 {
		return nil, fmt.Errorf("no line is marked with %q", words)
	}
	return picked, nil
}

// around is the function that pos is in: main.load, main.(*cache).lookup.
func around(file *ast.File, pos token.Pos) string {
	in := file.Name.Name
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || pos < f.Pos() || f.Body.Rbrace < pos {
			continue
		}
		if f.Recv == nil {
			return in + "." + f.Name.Name
		}
		return in + "." + receiver(f.Recv.List[0].Type) + "." + f.Name.Name
	}
	return in
}

func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return "(*" + receiver(t.X) + ")"
	case *ast.IndexExpr: // a generic type: (*Cache[...]) to the linker
		return receiver(t.X) + "[...]"
	case *ast.IndexListExpr:
		return receiver(t.X) + "[...]"
	case *ast.Ident:
		return t.Name
	}
	return "?"
}
