package source

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// secret looks like nothing that Go has, but for a last line that does.
const secret = "root:$6$hash:19000\nfunc main() {\n}\n"

func TestWhatANameFromOutsideMayNotRead(t *testing.T) {
	dir := t.TempDir()
	mod := filepath.Join(dir, "mod")
	for _, name := range []string{"shadow", "key.pem", "mod/a@v1.0.0/notes.txt", "secret.go"} {
		write(t, dir, name, secret)
	}
	link := filepath.Join(dir, "linked.go")
	if err := os.Symlink(filepath.Join(dir, "shadow"), link); err != nil {
		t.Skip("no symbolic links: ", err)
	}
	f := Finder{Places: Places{ModCache: mod, GOROOT: filepath.Join(dir, "go"), Dir: filepath.Join(dir, "source")}}
	for name, why := range map[string]error{
		filepath.Join(dir, "shadow"):  ErrNotTrusted,
		filepath.Join(dir, "key.pem"): ErrNotTrusted,
		link:                          ErrNotTrusted, // what it leads to counts
		"a@v1.0.0/notes.txt":          ErrNotTrusted,
		"a@v1.0.0/../../secret.go":    ErrNotFound,
		"../secret.go":                ErrNotFound,
		"net/../../../secret.go":      ErrNotFound,
		"/proc/self/environ":          ErrNotTrusted,
		"/proc/self/pagemap":          ErrNotTrusted, // 512 GiB
		"/proc/kmsg":                  ErrNotTrusted, // read, its messages are gone
		"/dev/zero":                   ErrNotTrusted,
	} {
		if _, err := os.Stat(name); why == ErrNotTrusted && filepath.IsAbs(name) && err != nil {
			continue // no such file on this system
		}
		for _, function := range []string{"main.main", "main.init.0", "main.glob..func1", ""} {
			for line := range 3 {
				if text, err := f.Line(function, name, line+1); err == nil || !errors.Is(err, why) {
					t.Errorf("%s of %s:%d: %q, %v", function, name, line+1, text, err)
				}
			}
		}
	}
	if shown := f.Shown(); len(shown) > 0 {
		t.Errorf("shown: %v", shown)
	}
}

func TestOnlyLinesOfTheFunctionAreShown(t *testing.T) {
	const text = `package main

// hidden
const password = "x"

var table = []string{
	"a",
}

var other = f()
var (
	third = f()
)

type t struct{}

func init() {
	first()
}

func main() {
	second()
}
`
	path := write(t, t.TempDir(), "main.go", text)
	lines := strings.Split(text, "\n")
	for function, want := range map[string]string{
		"main.init.0":       "func init() {|first()|}",
		"main.init.1.func1": "func init() {|first()|}",
		"main.init":         "var table = []string{|\"a\",|}|var other = f()|var (|third = f()|)",
		"main.init.func1":   "var table = []string{|\"a\",|}|var other = f()|var (|third = f()|)",
		"main.glob..func2":  "var table = []string{|\"a\",|}|var other = f()|var (|third = f()|)",
		"main.main":         "func main() {|second()|}",
		"main.other":        "",
		"main":              "",
		"":                  "",
	} {
		f := Finder{}
		var got []string
		for i := range lines {
			if line, err := f.Line(function, path, i+1); err == nil {
				got = append(got, line)
			}
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q, want %q", function, strings.Join(got, "|"), want)
		}
		if shown := f.Shown(); (want != "") != (len(shown) == 1 && shown[0] == path) {
			t.Errorf("%s: shown are %v", function, shown)
		}
	}
}
