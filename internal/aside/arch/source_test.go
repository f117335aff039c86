package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// source is one Go file of the module.
type source struct {
	path string // from the module's root, with slashes
	room string // under internal; "cmd" for the commands, "" at the root
	test bool
	file *ast.File
	fset *token.FileSet
}

// line is where a node of the file stands: "internal/x/y.go:12".
func (s source) line(n ast.Node) string {
	return s.path + ":" + strconv.Itoa(s.fset.Position(n.Pos()).Line)
}

// imports are the paths that the file imports.
func (s source) imports() map[string]ast.Node {
	paths := make(map[string]ast.Node)
	for _, i := range s.file.Imports {
		if path, err := strconv.Unquote(i.Path.Value); err == nil {
			paths[path] = i
		}
	}
	return paths
}

// root is the module's root: the nearest folder above with a go.mod.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above this folder")
		}
	}
}

// sources is every Go file of the module, for every system: folders of
// other modules, of test data and of demos' output are left out. They are read once.
func sources(t *testing.T) []source {
	t.Helper()
	once.Do(func() { everything = readSources(t) })
	return everything
}

var (
	once       sync.Once
	everything []source
)

func readSources(t *testing.T) (all []source) {
	t.Helper()
	top := root(t)
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if relative != "." && skipped(path, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		all = append(all, parse(t, filepath.ToSlash(relative), string(text)))
		return nil
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("read %d files: %v", len(all), err)
	}
	return all
}

// skipped says that a folder is no part of this module's code.
func skipped(path, name string) bool {
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil || name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

// parse makes a source of a file's text.
func parse(t *testing.T, path, text string) source {
	t.Helper()
	s := source{path: path, test: strings.HasSuffix(path, "_test.go"), fset: token.NewFileSet()}
	parts := strings.Split(path, "/")
	switch {
	case parts[0] == "internal" && len(parts) > 2:
		s.room = roomOf(strings.Join(parts[1:], "/"))
	case len(parts) > 1:
		s.room = parts[0]
	}
	var err error
	s.file, err = parser.ParseFile(s.fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
