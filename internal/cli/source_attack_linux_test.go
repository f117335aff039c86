package cli_test

import (
	"context"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

const shadow = "root:$6$FAKEHASH$notreal:19000:0:99999:7:::"

// liner is a program that says of itself that it was built from other files.
const liner = `package main

import "time"

var kept [][]byte

func init() {
	for range 40 {
//line SHADOW:1
		kept = append(kept, make([]byte, 1<<20))
//line main.go:11
	}
}

func main() {
	for range 10 {
		time.Sleep(50 * time.Millisecond)
	}
	println(len(kept))
}
`

func TestAProgramCannotHaveItsReadersFilesShown(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	dir := t.TempDir()
	file := filepath.Join(dir, "shadow")
	for name, text := range map[string]string{"shadow": shadow + "\n", "go.mod": "module x\n\ngo 1.22\n", "main.go": strings.ReplaceAll(liner, "SHADOW", file)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", "liner", ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := watch(t, "--profile-rate", "1", "--", filepath.Join(dir, "liner"))
	out := everyAnswer(t, s.recording)
	if !strings.Contains(out, "shadow:1") { // else nothing was tried
		t.Fatalf("no frame names the file:\n%s", out)
	}
	if strings.Contains(out, "FAKEHASH") {
		t.Errorf("its line is shown:\n%s", out)
	}
}

func TestARecordingCannotHaveItsReadersFilesShown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "shadow")
	if err := os.WriteFile(file, []byte(shadow+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(dir, "pipe.go")
	if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
		t.Skipf("SKIP-REASON: needs mkfifo: %s", out)
	}
	genuine := imported(t)
	for _, forged := range []string{file, pipe, "/proc/self/environ", "/proc/self/pagemap", "../../../.." + file, filepath.Base(file)} {
		for _, function := range []string{"main.init.0", "main.glob..func1", "main.main", ""} {
			path := filepath.Join(t.TempDir(), "forged.hwm")
			text, err := os.ReadFile(genuine)
			if err == nil {
				err = os.WriteFile(path, text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			change(t, path, "UPDATE frame SET function = ?, file = ?, line = 1, start_line = 1", function, forged)
			cmd := exec.Command(highwater(t), "explain", path)
			cmd.Env = append(os.Environ(), "MYTOKEN=FAKEHASH")
			if out, _ := cmd.CombinedOutput(); strings.Contains(string(out), "FAKEHASH") {
				t.Errorf("%s of %s:\n%s", function, forged, out)
			}
		}
	}
}

// Each of these waited for ever.
func TestAPipeInAFilesPlaceKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe.hwm")
	if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
		t.Skipf("SKIP-REASON: needs mkfifo: %s", out)
	}
	for _, args := range [][]string{{"explain", pipe}, {"heap", pipe}, {"open", pipe, "--html", filepath.Join(t.TempDir(), "page")}, {"export", "--csv", pipe},
		{"doctor", pipe}, {"run", "--", pipe}} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		out, err := exec.CommandContext(ctx, highwater(t), args...).CombinedOutput()
		if ctx.Err() != nil || code(err) <= 0 {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
		cancel()
	}
}

// change runs SQL on a copy of a recording, as a stranger would.
func change(t *testing.T, path, statement string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement, args...); err != nil {
		t.Fatal(err)
	}
}

// everyAnswer is what explain, --list and the page say of a recording.
func everyAnswer(t *testing.T, path string) string {
	t.Helper()
	page := filepath.Join(t.TempDir(), "page.html")
	var all strings.Builder
	for _, args := range [][]string{{"explain", path}, {"explain", path, "--list", "init"}, {"open", path, "--html", page}} {
		out, _ := exec.Command(highwater(t), args...).CombinedOutput()
		all.Write(out)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatalf("%v\n%s", err, all.String())
	}
	return all.String() + string(text)
}
