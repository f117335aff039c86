package faults

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheFlagTakesKnownFaultsOnly(t *testing.T) {
	for _, c := range []struct{ value, want, complaint string }{
		{"", "none", ""},
		{"none", "none", ""},
		{"a", "a", ""},
		{"a,b", "a,b", ""},
		{"c", "", "choose of: a, b"},
	} {
		f := flag.NewFlagSet("x", flag.ContinueOnError)
		f.SetOutput(io.Discard)
		s := Flag(f, "a", "b")
		err := f.Parse([]string{"-fault", c.value})
		if c.complaint != "" {
			if err == nil || !strings.Contains(err.Error(), c.complaint) {
				t.Errorf("-fault %q: error %v, want one with %q", c.value, err, c.complaint)
			}
			continue
		}
		if err != nil || s.String() != c.want {
			t.Errorf("-fault %q: %s, %v, want %s", c.value, s, err, c.want)
		}
	}
}

const source = `package main

type store struct{}

func (s *store) get() {
	go func() {
		panic(1) // fault: slow
	}()
}
`

const truth = `{"schema":1,"case":"x","faults":[{"fault":"slow","class":"churn","function":"main.(*store).get.func1",
"file":"a.go","line":LINE,"effect":"e","fix":"f","must_not_claim":["leak"]}]}`

func TestTheTruthIsHeldAgainstTheMark(t *testing.T) {
	for _, c := range []struct {
		name, line, source string
		known              []string
		complaint          string
	}{
		{"agrees", "7", source, []string{"slow"}, ""},
		{"another line", "8", source, []string{"slow"}, "UPDATE=1"},
		{"no mark", "7", "package main\n", []string{"slow"}, "no line carries"},
		{"unknown to the truth", "7", source, []string{"slow", "big"}, "knows no fault big"},
		{"marked twice", "7", source + "\nfunc two() {} // fault: slow\n", []string{"slow"}, "is marked at"},
	} {
		dir := folder(t, c.source, strings.Replace(truth, "LINE", c.line, 1))
		err := Check(dir, c.known...)
		if c.complaint == "" && err != nil || c.complaint != "" && (err == nil || !strings.Contains(err.Error(), c.complaint)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.complaint)
		}
	}
}

func TestRelocateFollowsTheMark(t *testing.T) {
	dir := folder(t, source, strings.Replace(truth, "LINE", "99", 1))
	if err := Relocate(dir); err != nil {
		t.Fatal(err)
	}
	if err := Check(dir, "slow"); err != nil {
		t.Error(err)
	}
}

// folder is a program's folder in a module of its own.
func folder(t *testing.T, source, truth string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module x\n", "a.go": source, FileName: truth} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
