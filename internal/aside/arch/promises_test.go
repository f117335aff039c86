package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// holder is a test that a promise names: "room: TestName" or "cli: name.txtar".
var holder = regexp.MustCompile("`([a-z]+): (Test\\w+|[\\w-]+\\.txtar)`")

// promises are the rows of docs/promises.md: what is promised, and by which tests it is
// held.
func promises(t *testing.T, text string) map[string][][]string {
	t.Helper()
	all := map[string][][]string{}
	for _, line := range strings.Split(text, "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "| ") || len(cells) != 2 || strings.TrimSpace(cells[0]) == "promise" {
			continue
		}
		all[strings.TrimSpace(cells[0])] = holder.FindAllStringSubmatch(cells[1], -1)
	}
	return all
}

// isHeld says whether a room has a test.
func isHeld(t *testing.T, room, test string) bool {
	t.Helper()
	if strings.HasSuffix(test, ".txtar") {
		_, err := os.Stat(filepath.Join("../../..", "internal", folderOf(room), "testdata/script", test))
		return err == nil
	}
	files, err := filepath.Glob(filepath.Join("../../..", "internal", folderOf(room), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+test+"(t *testing.T)") {
			return true
		}
	}
	return false
}

func TestEveryPromiseHasATestThatExists(t *testing.T) {
	text, err := os.ReadFile("../../../docs/promises.md")
	if err != nil {
		t.Fatal(err)
	}
	all := promises(t, string(text))
	if len(all) < 30 {
		t.Errorf("%d promises", len(all))
	}
	for what, tests := range all {
		if len(tests) == 0 {
			t.Errorf("%q is held by no test", what)
		}
		for _, one := range tests {
			if !isHeld(t, one[1], one[2]) {
				t.Errorf("%q: internal/%s has no %s", what, one[1], one[2])
			}
		}
	}
}

func TestAPromiseWithoutATestIsFound(t *testing.T) {
	all := promises(t, "| promise | held by |\n|---|---|\n| a | `arch: TestMissing` |\n| b | nobody |\n| c | `cli: open.txtar`, `cli: missing.txtar` |\n")
	if len(all) != 3 || len(all["b"]) != 0 || len(all["c"]) != 2 {
		t.Fatalf("read as %q", all)
	}
	for name, want := range map[string]bool{"TestMissing": false, "TestAPromiseWithoutATestIsFound": true} {
		if isHeld(t, "arch", name) != want {
			t.Errorf("%s exists: %v", name, !want)
		}
	}
	if isHeld(t, "cli", "missing.txtar") || !isHeld(t, "cli", "open.txtar") {
		t.Error("a script is not told from one that is missing")
	}
}
