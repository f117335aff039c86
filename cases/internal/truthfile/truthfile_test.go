package truthfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const source = `package main

type store struct{}

func (s *store) get() {
	go func() {
		panic(1) // fault: slow
	}()
	s.get() // also: slow
}
`

const truth = `{"schema":2,"case":"x","faults":[{"fault":"slow","function":"main.(*store).get.func1","file":"a.go","line":LINE,
"seen":[{"function":"main.(*store).get","file":"a.go","line":9}],"effect":"e","fix":"f","must_not_claim":["leak"],
"runs":[{"limit_bytes":1,"command":"{bin}/x -fault {fault}","seconds":9,
"faulty":{"outcomes":["killed"],"classes":["burst"],"names_line":"must"},
"repaired":{"outcomes":["alive"],"classes":["healthy"],"names_line":"must not"}}]}]}`

func TestTheTruthIsHeldAgainstTheMarksAndItself(t *testing.T) {
	for _, c := range []struct {
		name, old, new string // in the truth
		source         string
		known          string
		complaint      string
	}{
		{"agrees", "", "", source, "slow", ""},
		{"another line", "LINE", "8", source, "slow", "UPDATE=1"},
		{"another line seen", `"line":9`, `"line":8`, source, "slow", "UPDATE=1"},
		{"no mark", "", "", "package main\n", "slow", "no line carries"},
		{"marked twice", "", "", source + "\nfunc two() {} // fault: slow\n", "slow", "is marked at"},
		{"unknown to the truth", "", "", source, "big", "knows no fault big"},
		{"unknown to the program", "", "", source, "big", "slow: the program knows no such fault"},
		{"another schema", `"schema":2`, `"schema":1`, source, "slow", "schema is 1"},
		{"a field that nobody reads", `"limit_bytes"`, `"limit"`, source, "slow", "unknown field"},
		{"no runs", `"seconds":9,`, `"seconds":99,`, source, "slow", "99 seconds"},
		{"no such name", "{bin}", "{home}", source, "slow", "{home} stands for nothing"},
		{"no fault to run", "{fault}", "slow", source, "slow", "takes no {fault}"},
		{"no such class", `"burst"`, `"harmless"`, source, "slow", `no class is "harmless"`},
		{"no such outcome", `"killed"`, `"dead"`, source, "slow", `no outcome is "dead"`},
		{"nothing said of the line", `"must not"`, `""`, source, "slow", "names_line"},
	} {
		text := strings.Replace(strings.Replace(truth, c.old, c.new, 1), "LINE", "7", 1)
		err := Check(folder(t, c.source, text), c.known)
		if c.complaint == "" && err != nil || c.complaint != "" && (err == nil || !strings.Contains(err.Error(), c.complaint)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.complaint)
		}
	}
}

func TestRelocateFollowsTheMarks(t *testing.T) {
	dir := folder(t, source, strings.NewReplacer("LINE", "99", `"line":9`, `"line":2`).Replace(truth))
	if err := Relocate(dir); err != nil {
		t.Fatal(err)
	}
	if err := Check(dir, "slow"); err != nil {
		t.Error(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil || !strings.Contains(string(b), `"faulty": {"outcomes": ["killed"], "classes": ["burst"], "names_line": "must"}`) {
		t.Errorf("a verdict is no line of its own: %v\n%s", err, b)
	}
}

func TestACulpritIsRightAtAnyOfTheLines(t *testing.T) {
	read, err := Read(folder(t, source, strings.Replace(truth, "LINE", "7", 1)))
	if err != nil {
		t.Fatal(err)
	}
	f := read.Fault("slow")
	for _, c := range []struct {
		function, file string
		line           int
		want           bool
	}{
		{"main.(*store).get.func1", "/home/x/a.go", 7, true},
		{"main.(*store).get", "a.go", 9, true},
		{"main.(*store).get", "a.go", 8, false},
		{"main.(*store).getAll", "a.go", 9, false},
		{"main.(*store).get", "b.go", 9, false},
	} {
		if got := f.Names(c.function, c.file, c.line); got != c.want {
			t.Errorf("%s at %s:%d: %t", c.function, c.file, c.line, got)
		}
	}
}

func TestTheSameNameIsTheSameAddress(t *testing.T) {
	free := []string{"127.0.0.1:1", "127.0.0.1:2"}
	v := &Values{Programs: "/p", Dir: "/d", Fault: "slow", Address: func() (string, error) {
		if len(free) == 0 {
			return "", errors.New("none is free")
		}
		a := free[0]
		free = free[1:]
		return a, nil
	}}
	r, err := Run{Beside: "{bin}/s {address:a}", Command: "{bin}/x {address:a} {address:b} {dir} {fault}", Ready: "{address:b}"}.Expand(v)
	if err != nil || r.Beside != "/p/s 127.0.0.1:1" || r.Command != "/p/x 127.0.0.1:1 127.0.0.1:2 /d slow" || r.Ready != "127.0.0.1:2" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := (Run{Command: "{address:c}"}).Expand(v); err == nil {
		t.Error("an address was made up")
	}
}

// folder is a case's folder in a module of its own.
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
