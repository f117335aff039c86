package source

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const shop = `package cache

import "sync"

// Cache keeps.
type Cache[K comparable] struct {
	m map[K][]byte
}

func New() *Cache[string] { return &Cache[string]{} }

func (c *Cache[K]) Put(k K, v []byte) {
	var once sync.Once
	once.Do(func() {
		c.m[k] = append([]byte(nil), v...)
	})
}

var table = func() []byte {
	return make([]byte, 9)
}()
`

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const put = "example.org/shop/cache.(*Cache[go.shape.string]).Put"

func TestAFileIsFoundWhereverItMayLie(t *testing.T) {
	dir := t.TempDir()
	places := Places{Dir: filepath.Join(dir, "clone"), GOROOT: filepath.Join(dir, "go"), ModCache: filepath.Join(dir, "mod"), Module: "example.org/shop",
		GoVersion: "go1.26.8"}
	write(t, dir, "go/VERSION", "go1.26.8\ntime x\n")
	for name, c := range map[string]struct{ recorded, lies string }{
		"where it was built":                 {"DIR/build/cache/cache.go", "build/cache/cache.go"},
		"of a build with -trimpath":          {"example.org/shop/cache/cache.go", "clone/cache/cache.go"},
		"of another machine":                 {"/home/ci/shop/cache/cache.go", "clone/cache/cache.go"},
		"a directory above the module":       {"/home/ci/shop/cache/cache.go", "clone/shop/cache/cache.go"},
		"a module":                           {"example.org/Lib@v1.2.0/cache/cache.go", "mod/example.org/!lib@v1.2.0/cache/cache.go"},
		"a module, built on another machine": {"/home/ci/go/pkg/mod/example.org/!lib@v1.2.0/cache/cache.go", "mod/example.org/!lib@v1.2.0/cache/cache.go"},
		"a module, vendored":                 {"example.org/lib@v1.2.0/cache/cache.go", "clone/vendor/example.org/lib/cache/cache.go"},
		"the standard library":               {"container/cache.go", "go/src/container/cache.go"},
		"the standard library of elsewhere":  {"/usr/lib/go/src/container/cache.go", "go/src/container/cache.go"},
		"the standard library, a fetched Go": {"container/cache.go", "mod/golang.org/toolchain@v0.0.1-go1.26.8.linux-amd64/src/container/cache.go"},
		"a fetched Go, built on another machine": {"/ci/pkg/mod/golang.org/toolchain@v0.0.1-go1.26.8.linux-arm64/src/container/cache.go",
			"go/src/container/cache.go"},
	} {
		path := write(t, dir, c.lies, shop)
		f := Finder{Places: places}
		recorded := strings.Replace(c.recorded, "DIR", filepath.ToSlash(dir), 1)
		got, err := f.Func(put, recorded, 12, 0)
		if err != nil || got.Path != path || got.First != 12 || len(got.Lines) != 6 || got.Modified.IsZero() {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if _, err := (&Finder{Places: places}).Func(put, recorded, 12, 0); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s, taken away: %v", name, err)
		}
	}
}

func TestSourceThatIsNotThePrograms(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, "cache.go", shop)
	write(t, dir, "go/src/container/cache.go", shop)
	write(t, dir, "go/VERSION", "go1.25.0\n")
	f := Finder{Places: Places{Dir: dir, GOROOT: filepath.Join(dir, "go"), GoVersion: "go1.26.8"}}
	for name, c := range map[string]struct {
		function, file string
		start, last    int
		want           string
	}{
		"a line beyond its end":       {put, path, 12, 99, "has 22 lines, the program's had at least 99"},
		"another function there":      {put, path, 10, 0, "Put does not begin at line 10"},
		"a line of another function":  {"example.org/shop/cache.New", path, 10, 14, "line 14 is not in New"},
		"no function at its start":    {put, path, 13, 0, "Put does not begin at line 13"},
		"a standard library of 1.25":  {put, "container/cache.go", 12, 0, "of go1.25.0, the program is of go1.26.8"},
		"a start that was not stored": {put, path, 0, 14, "the program's had at least 14"},
	} {
		finder := f
		if name == "a standard library of 1.25" {
			finder.Dir = ""
		}
		if _, err := finder.Func(c.function, c.file, c.start, c.last); !errors.Is(err, ErrDiffers) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if text, err := f.Line(put, path, 15); err != nil || text != "c.m[k] = append([]byte(nil), v...)" {
		t.Errorf("%q, %v", text, err)
	}
	for _, c := range []struct {
		function string
		line     int
	}{{put, 10}, {put, 20}, {put, 0}, {put, 23}, {"example.org/shop/cache.Get", 15}} {
		if text, err := f.Line(c.function, path, c.line); !errors.Is(err, ErrDiffers) {
			t.Errorf("%s:%d: %q, %v", c.function, c.line, text, err)
		}
	}
	if text, err := f.Line("example.org/shop/cache.init.func1", path, 20); err != nil || text != "return make([]byte, 9)" {
		t.Errorf("what no declaration has: %q, %v", text, err)
	}
}

func TestTheDeclarationOfALinkersName(t *testing.T) {
	for function, want := range map[string]string{
		"main.main":                                    "main",
		"main.(*index).remember":                       "remember",
		"main.index.remember":                          "remember",
		"main.main.func1":                              "main",
		"main.main.func1.2":                            "main",
		"main.main.gowrap1":                            "main",
		"net/http.(*conn).serve.func2":                 "serve",
		"example.org/a.b/c%2ev2.F":                     "F",
		"example.org/a.Map[go.shape.struct { a/b.X }]": "Map",
		"example.org/a.(*T[go.shape.*uint8]).Do.func3": "Do",
		"main.(*T).Do-fm":                              "Do",
		"main.init.0":                                  "init",
		"main.init.0.func1":                            "init",
		"main.init":                                    "var",
		"main.init.ializers":                           "var",
		"main.glob..func1":                             "var",
		"main.glob.func1":                              "glob",
		"main.init.func2":                              "var",
		"main.T.init":                                  "init",
		"runtime.mallocgc":                             "mallocgc",
		"":                                             "",
	} {
		if got := declared(function); got != want {
			t.Errorf("%s is declared as %q, want %q", function, got, want)
		}
	}
}

func TestTheStandardLibraryOfThisTestIsFound(t *testing.T) {
	pc, recorded, line, ok := runtime.Caller(1) // testing.tRunner
	if !ok {
		t.Fatal("no caller")
	}
	f := Finder{Places: Places{GOROOT: filepath.Join(filepath.Dir(recorded), "..", ".."), GoVersion: runtime.Version()}}
	text, err := f.Line(runtime.FuncForPC(pc).Name(), recorded, line)
	if err != nil || text != "fn(t)" {
		t.Errorf("%s:%d is %q, %v", recorded, line, text, err)
	}
}

func FuzzAnyNameAndAnySource(f *testing.F) {
	f.Add(put, "/a/cache.go", shop, 12)
	f.Add("main.main", "main.go", "func main() {", 1)
	f.Fuzz(func(t *testing.T, function, name, text string, line int) {
		_ = declared(function)
		places := Finder{Places: Places{Dir: "/none", ModCache: "/none", GOROOT: "/none", Module: function}}
		_ = places.candidates(name)
		src := &file{path: name, lines: strings.Split(text, "\n")}
		finder := Finder{files: map[string]*file{name: src}}
		_, _ = finder.Line(function, name, line)
		if got, err := finder.Func(function, name, line, 0); err == nil && len(got.Lines) == 0 {
			t.Errorf("nothing, and no error")
		}
	})
}
