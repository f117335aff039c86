package arch

import (
	"bufio"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestTheHouseKeepsItsShape(t *testing.T) {
	all := sources(t)
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, s := range all {
				for _, complaint := range r.check(s) {
					t.Error(complaint)
				}
			}
		})
	}
}

// Each of these must be refused, by exactly the rule that is meant for it.
func TestTheRulesRefuseWhatTheyAreFor(t *testing.T) {
	for _, c := range []struct{ rule, path, text string }{
		{rules[0].name, "internal/eyes/gobin/a.go", `package gobin; import _ "` + module + `internal/cli"`},
		{rules[0].name, "internal/eyes/gobin/a.go", `package gobin; import _ "` + module + `internal/eyes/gomem"`},
		{rules[0].name, "internal/eyes/gomem/a.go", `package gomem; import _ "` + module + `internal/eyes/gostats"`},
		{rules[0].name, "internal/eyes/gostats/a_test.go", `package gostats; import _ "` + module + `internal/eyes/goheap"`},
		{rules[0].name, "internal/eyes/goheap/a.go", `package goheap; import _ "` + module + `internal/eyes/gostats"`},
		{rules[0].name, "internal/eyes/gobin/a_test.go", `package gobin; import _ "` + module + `internal/record/recording"`},
		{rules[0].name, "internal/record/watch/a.go", `package watch; import _ "` + module + `internal/aside/hwtest"`},
		{rules[0].name, "internal/record/watch/a.go", `package watch; import _ "` + module + `internal/nowhere"`},
		{rules[0].name, "internal/app/a.go", `package app; import _ "` + module + `internal/cli"`},
		{rules[1].name, "internal/app/a.go", `package app; import _ "github.com/spf13/cobra"`},
		{rules[8].name, "internal/app/a.go", `package app; import "fmt"; func f(s *Streams) { fmt.Fprintf(s.Err, "x %s", "y") }`},
		{rules[0].name, "internal/nowhere/a.go", `package nowhere`},
		{rules[0].name, "internal/cli/sub/a.go", `package sub; import _ "` + module + `cmd/highwater"`},
		{rules[0].name, "cmd/highwater/main.go", `package main; import _ "` + module + `internal/record/watch"`},
		{rules[1].name, "internal/decide/explain/a.go", `package explain; import _ "modernc.org/sqlite/lib"`},
		{rules[1].name, "internal/record/capture/a.go", `package capture; import _ "net/http"`},
		{rules[2].name, "internal/eyes/gobin/util/a.go", `package util`},
		{rules[3].name, "internal/eyes/gobin/a_test.go", `package gobin; func init() {}`},
		{rules[4].name, "internal/eyes/gobin/a.go", `package gobin; import "runtime"; var x = runtime.GOOS == "linux"`},
		{rules[5].name, "internal/show/report/a.go", `package report; import system "os"; func f() { system.Exit(1) }`},
		{rules[5].name, "internal/show/report/a.go", `package report; import "log"; func f() { log.Fatalf("x") }`},
		{rules[6].name, "internal/show/report/a.go", `package report; import "fmt"; func f() { fmt.Println("x") }`},
		{rules[6].name, "internal/record/watch/a.go", `package watch; import "os"; var out = os.Stderr`},
		{rules[7].name, "internal/cli/a.go", `package cli; import "os"; func f() { os.WriteFile("x", nil, 0o600) }`},
		{rules[8].name, "internal/cli/a.go", `package cli; import "fmt"; func f(s *streams) { fmt.Fprintf(s.err, "x %s", "y") }`},
		{rules[8].name, "internal/cli/a.go", `package cli; import f "fmt"; func g(s *streams) { w := s.out; f.Fprintln(w) }`},
		{rules[8].name, "internal/cli/a.go", `package cli; func f(s *streams) any { return s.out.Unescaped() }`},
		{rules[8].name, "internal/cli/a.go", `package cli; import "os"; var out = os.Stdout`},
		{rules[9].name, "internal/eyes/malloc/a.go", `package malloc; import "debug/elf"; var x, _ = elf.NewFile(nil)`},
		{rules[7].name, "internal/show/web/a.go", `package web; import "os"; var made = os.O_CREATE`},
	} {
		for _, r := range rules {
			wrong := r.check(parse(t, c.path, c.text))
			if r.name == c.rule && len(wrong) != 1 || r.name != c.rule && len(wrong) != 0 {
				t.Errorf("%s: %s\n%q complains %q", c.path, c.text, r.name, wrong)
			}
		}
	}
}

func TestTheRulesAllowWhatIsRight(t *testing.T) {
	for _, c := range []struct{ path, text string }{
		{"internal/eyes/gomem/a.go", `package gomem; import _ "` + module + `internal/eyes/gobin"`},
		{"internal/eyes/goheap/a.go", `package goheap; import _ "` + module + `internal/eyes/gomem"`},
		{"internal/eyes/gomem/a_test.go", `package gomem_test; import _ "` + module + `internal/eyes/gostats"`},
		{"internal/eyes/lastbreath/a.go", `package lastbreath; import _ "` + module + `internal/eyes/procfs"`},
		{"internal/record/watch/a_test.go", `package watch; import _ "` + module + `internal/aside/hwtest"`},
		{"internal/aside/hwtest/a.go", `package hwtest; import _ "` + module + `internal/eyes/cgroup"`},
		{"internal/eyes/gobin/layoutgen/main.go", `package main; import ("os"; "fmt"); func main() { fmt.Println(1); os.Exit(1) }`},
		{"internal/eyes/gobin/a.go", `package gobin; type t struct{}; func (t) init() {}`},
		{"internal/app/a.go", `package app; import _ "net/http"`},
		{"internal/cli/a.go", `package cli; import _ "github.com/spf13/cobra/doc"`},
		{"internal/cli/a.go", `package cli; import ("fmt"; "strings"); func f(b strings.Builder) { fmt.Fprintf(&b, "x") }`},
		{"internal/app/streams.go", `package app; func f(s *streams) any { return s.out.Unescaped() }`},
		{"cmd/highwater/main.go", `package main; import _ "` + module + `internal/cli"`},
	} {
		for _, r := range rules {
			if wrong := r.check(parse(t, c.path, c.text)); len(wrong) > 0 {
				t.Errorf("%s: %s\n%q complains %q", c.path, c.text, r.name, wrong)
			}
		}
	}
}

func TestMainIsFifteenLinesAtMost(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "cmd", "highwater", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(strings.TrimRight(string(text), "\n"), "\n") + 1; lines > 15 {
		t.Errorf("cmd/highwater/main.go has %d lines", lines)
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	said := make(map[string]bool)
	for _, s := range sources(t) {
		dir := path.Dir(s.path)
		if !s.test {
			said[dir] = said[dir] || s.file.Doc != nil
		}
	}
	for dir, ok := range said {
		if !ok {
			t.Errorf("%s has no package comment", dir)
		}
	}
}

func TestTheDocumentHasTheSameRooms(t *testing.T) {
	top := root(t)
	f, err := os.Open(filepath.Join(top, "ARCHITECTURE.md"))
	if os.IsNotExist(err) {
		t.Skip("no ARCHITECTURE.md yet")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	documented := documentedRooms(bufio.NewScanner(f))
	for room, floor := range documented {
		if want, ok := floors[room]; !ok || floor != want {
			t.Errorf("ARCHITECTURE.md has %s on floor %d; this test has %d (%v)", room, floor, want, ok)
		}
	}
	rooms, err := os.ReadDir(filepath.Join(top, "internal"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rooms {
		_, wing := wings[r.Name()]
		if _, ok := documented[r.Name()]; r.IsDir() && !wing && !ok {
			t.Errorf("ARCHITECTURE.md does not have %s", r.Name())
		}
	}
}

var (
	floorLine = regexp.MustCompile(`^(\s+)(?:floor (\d)|(aside))\s+(.*)`)
	roomLine  = regexp.MustCompile(`^(\s+)[a-z]+/\s`)
	roomNames = regexp.MustCompile(`(?:^|\s)([a-z]+)/\s`)
)

// documentedRooms reads the picture of the house: an indented block in which a
// line begins with "floor N" or "aside" and a room, "procfs/", and the lines
// after it, indented deeper, with further rooms of that floor. Aside rooms may
// share a line.
func documentedRooms(lines *bufio.Scanner) map[string]int {
	rooms := make(map[string]int)
	floor, indent := -1, 0
	for lines.Scan() {
		line := lines.Text()
		if m := floorLine.FindStringSubmatch(line); m != nil {
			floor, indent = aside, len(m[1])
			if m[2] != "" {
				floor, _ = strconv.Atoi(m[2])
			}
			line = " " + m[4]
		} else if m := roomLine.FindStringSubmatch(line); m == nil || len(m[1]) <= indent {
			floor = -1
		}
		if floor < 0 {
			continue
		}
		for _, m := range roomNames.FindAllStringSubmatch(line+" ", -1) {
			rooms[m[1]] = floor
			if floor != aside {
				break
			}
		}
	}
	return rooms
}

func TestThePictureOfTheHouseIsRead(t *testing.T) {
	picture := `
    internal/
      floor 0  sample/     the words, as in docs/ of others
               units/      sizes
      floor 1  procfs/     /proc/PID/*
      aside    arch/       tests   hwtest/  fixtures
    docs/                  no room
`
	got := documentedRooms(bufio.NewScanner(strings.NewReader(picture)))
	want := map[string]int{"sample": 0, "units": 0, "procfs": 1, "arch": aside, "hwtest": aside}
	for room, floor := range want {
		if got[room] != floor {
			t.Errorf("%s is on floor %d, want %d", room, got[room], floor)
		}
	}
	if len(got) != len(want) {
		t.Errorf("rooms %v", got)
	}
}
