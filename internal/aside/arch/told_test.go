package arch

import (
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// told are the pages that a contributor follows: what they name has to be there.
var told = []string{"CONTRIBUTING.md", "ARCHITECTURE.md", "docs/tour.md"}

// placeholders stand for a name that the reader puts in, or are words of Go's and of its tools.
var placeholders = []string{
	"TestPromises/NAME", "rule_NAME.go", "after_NAME", "_linux.go", "_other.go", "x.go", "web/ui", // web/ui is inside its room
	"PID/mem", "/proc/PID/mem", "net/http/pprof", "net/http", "debug/elf", "io.ReaderAt", "errors.Is", "errors.As",
	"errors.ErrUnsupported", "t.Parallel", "init", "util", "cmp", "stdout", "testdata", "benchmarks.md",
	"bin/release", // what make release makes
}

// house is what pages may name.
type house struct {
	top      string
	files    []string                   // all, from the top, with slashes
	targets  map[string]bool            // of the Makefile
	declared map[string]map[string]bool // by room, and under "" of all rooms: types, functions, methods, fields, variables
	words    string                     // the text of all Go files and of .ci: flags, classes and features are strings there
}

func theHouse(t *testing.T) house {
	h := house{top: root(t), targets: make(map[string]bool), declared: map[string]map[string]bool{"": {}}}
	var text strings.Builder
	err := filepath.WalkDir(h.top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == h.top {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "bin" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		relative, err := filepath.Rel(h.top, path)
		h.files = append(h.files, filepath.ToSlash(relative))
		if err == nil && !d.IsDir() && (filepath.Ext(path) == ".go" || strings.HasPrefix(filepath.ToSlash(relative), ".ci/")) &&
			filepath.Base(path) != "told_test.go" {
			var code []byte
			code, err = os.ReadFile(path)
			text.Write(code)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	h.words = text.String()
	makefile, err := os.ReadFile(filepath.Join(h.top, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(string(makefile), -1) {
		h.targets[m[1]] = true
	}
	for _, s := range sources(t) {
		if h.declared[s.room] == nil {
			h.declared[s.room] = make(map[string]bool)
		}
		for name := range declaredIn(s.file) {
			h.declared[s.room][name], h.declared[""][name] = true, true
		}
	}
	return h
}

// declaredIn are the names of a file's types, functions, methods, fields, constants and variables.
func declaredIn(file *ast.File) map[string]bool {
	names := make(map[string]bool)
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			names[f.Name.Name] = true
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				names[n.Name.Name] = true
			case *ast.ValueSpec:
				for _, name := range n.Names {
					names[name.Name] = true
				}
			case *ast.Field:
				for _, name := range n.Names {
					names[name.Name] = true
				}
			}
			return true
		})
	}
	return names
}

// has says that a file or folder is there: from the top, or as the end of a path.
func (h house) has(path string) bool {
	path = strings.TrimSuffix(strings.TrimPrefix(path, "./"), "/")
	if decision.MatchString(path) {
		return slices.ContainsFunc(h.files, func(f string) bool { return strings.HasPrefix(f, path+"-") })
	}
	return slices.ContainsFunc(h.files, func(f string) bool {
		parts := strings.Split(f, "/")
		n := strings.Count(path, "/") + 1
		if len(parts) < n {
			return false
		}
		whole := strings.HasPrefix(path, "internal/") || strings.HasPrefix(path, "docs/")
		ok, err := filepath.Match(path, strings.Join(parts[len(parts)-n:], "/"))
		return ok && err == nil && (!whole || len(parts) == n)
	})
}

var (
	codeSpans  = regexp.MustCompile("`([^`]+)`")
	anyPath    = regexp.MustCompile(`(?:^|[\s(,` + "`" + `])((?:\./|\.ci/)?[a-z][\w-]*(?:/[\w.*-]+)+/?|[\w*-]+\.(?:go|json|sql|csv|txt|md|css|ts|tsx|txtar))\b`)
	decision   = regexp.MustCompile(`^docs/adr/\d{4}$`)
	madeTarget = regexp.MustCompile(`\bmake ([a-z-]+)`)
	tested     = regexp.MustCompile(`-run (Test\w+)`)
	runPackage = regexp.MustCompile(`go run (?:-C (\S+) )?\./(\S+)`)
	identifier = regexp.MustCompile(`^(?:([a-z]+)\.)?([A-Za-z]\w*)(?:\.([A-Z]\w*))?$`)
)

// missing are the names on a page that are nowhere, and how many were looked at.
func (h house) missing(page string) (gone []string, looked int) {
	check := func(ok bool, name string) {
		looked++
		if !ok && !slices.Contains(placeholders, name) {
			gone = append(gone, name)
		}
	}
	page = regexp.MustCompile(`https?://\S+`).ReplaceAllString(page, "")
	for _, m := range anyPath.FindAllStringSubmatch(page, -1) {
		check(h.has(m[1]), m[1])
	}
	code := codeSpans.FindAllStringSubmatch(page, -1)
	for _, line := range strings.Split(page, "\n") {
		if strings.HasPrefix(line, "    make ") {
			code = append(code, []string{"", line})
		}
	}
	for _, m := range code {
		said := strings.Join(strings.Fields(m[1]), " ")
		if target := madeTarget.FindStringSubmatch(said); target != nil {
			check(h.targets[target[1]], "make "+target[1])
		}
		if test := tested.FindStringSubmatch(said); test != nil {
			check(strings.Contains(h.words, "func "+test[1]), test[1])
		}
		if run := runPackage.FindStringSubmatch(said); run != nil {
			check(h.has(filepath.Join(run[1], run[2])), said)
		}
		if id := identifier.FindStringSubmatch(said); id != nil && !anyPath.MatchString(said) {
			check(h.names(id[1], id[2], id[3]), said)
		}
	}
	return gone, looked
}

// names says that there is something of this name: in its room if it has one, else a room, a
// declaration, a target, or a word that the code has as a string, such as a class.
func (h house) names(room, name, member string) bool {
	if _, ok := floors[room]; room != "" && ok {
		in := h.declared[room]
		return in[name] && (member == "" || in[member])
	}
	if strings.HasPrefix(name, "HIGHWATER_") {
		return strings.Contains(h.words, name)
	}
	_, isRoom := floors[name]
	_, isWing := wings[name]
	return room == "" && (isRoom || isWing || h.declared[""][name]) || strings.Contains(h.words, `"`+strings.Trim(room+"."+name, ".")+`"`)
}

func TestWhatContributorsAreToldOfIsThere(t *testing.T) {
	h := theHouse(t)
	all := 0
	for _, name := range told {
		text, err := os.ReadFile(filepath.Join(h.top, name))
		if err != nil {
			t.Fatal(err)
		}
		gone, looked := h.missing(string(text))
		all += looked
		for _, what := range gone {
			t.Errorf("%s names %s, which is nowhere", name, what)
		}
	}
	t.Logf("%d names were looked at", all)
	if all < 250 {
		t.Errorf("only %d names were looked at", all)
	}
}

func TestWhatIsNowhereIsFound(t *testing.T) {
	page := "Read internal/procfs/watch.go and `internal/eyes/procfs/watch.go`, `no_such.go`, `rules.go`, docs/adr/0104 and docs/adr/9999.\n" +
		"`make check` and `make cheek`; `go run -C tools ./page`, `go run -C tools ./pages`; `recording.Writer`, `recording.Wroter`;\n" +
		"`UPDATE=1 go test\n ./internal/cli -run TestEveryCommand`, `UPDATE=1 go test ./internal/cli -run TestEachCommand`, `feature`, `featurette`.\n"
	gone, _ := theHouse(t).missing(page)
	slices.Sort(gone)
	want := []string{"TestEachCommand", "docs/adr/9999", "featurette", "go run -C tools ./pages", "internal/procfs/watch.go", "make cheek", "no_such.go",
		"recording.Wroter"}
	if !slices.Equal(gone, want) {
		t.Errorf("nowhere are\n %q, want\n %q", gone, want)
	}
}
