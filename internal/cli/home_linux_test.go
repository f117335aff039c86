package cli_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// homeless is a command without HOME and XDG_STATE_HOME.
func homeless(t *testing.T, tmp string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(highwater(t), args...)
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); name != "HOME" && name != "TMPDIR" && !strings.HasPrefix(name, "XDG_") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
	cmd.Dir = t.TempDir()
	return cmd
}

func TestWithoutAHomeARecordingIsKeptPrivatelyAndThatIsSaid(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	tmp := t.TempDir()
	const hint = "XDG_STATE_HOME=DIR"
	for _, args := range [][]string{{"list"}, {"explain"}, {"note", "hw-12", "x"}} {
		out, err := homeless(t, tmp, args...).CombinedOutput()
		if code(err) != 1 || !strings.Contains(string(out), "neither XDG_STATE_HOME nor HOME is set") || !strings.Contains(string(out), hint) {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	out, err := homeless(t, tmp, "run", "--", testprog(t, "quick")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	dirs, _ := filepath.Glob(filepath.Join(tmp, "highwater-*"))
	if len(dirs) != 1 || strings.Count(string(out), "neither XDG_STATE_HOME nor HOME is set: recordings go to "+dirs[0]) != 1 {
		t.Fatalf("%q\n%s", dirs, out)
	}
	if info, err := os.Stat(dirs[0]); err != nil || info.Mode() != fs.ModeDir|0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if strings.Contains(string(out), "your own causes") {
		t.Errorf("it misses what cannot be there:\n%s", out)
	}
	// From now on others find it; and a file needs no directory.
	listed, err := homeless(t, tmp, "list").CombinedOutput()
	if err != nil || !regexp.MustCompile(`(?m)^quick-1 `).Match(listed) {
		t.Errorf("%v\n%s", err, listed)
	}
	if out, err := homeless(t, t.TempDir(), "explain", filepath.Join(dirs[0], "quick-1.hwm")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestADirectoryThatOthersMadeForUsIsNotUsed(t *testing.T) {
	t.Parallel()
	probe := t.TempDir()
	if out, err := homeless(t, probe, "run", "-q", "--", testprog(t, "quick")).CombinedOutput(); err != nil {
		t.Skipf("SKIP-REASON: needs run: %s", out)
	}
	dirs, err := filepath.Glob(filepath.Join(probe, "highwater-*"))
	if err != nil || len(dirs) != 1 {
		t.Fatal(dirs, err)
	}
	name := filepath.Base(dirs[0])
	for what, make := range map[string]func(string) error{
		"open to all": func(dir string) error {
			if err := os.Mkdir(dir, 0o777); err != nil {
				return err
			}
			return os.Chmod(dir, 0o777)
		},
		"a link": func(dir string) error { return os.Symlink(probe, dir) },
		"another user's": func(dir string) error {
			if os.Geteuid() != 0 {
				return os.Symlink(probe, dir)
			}
			if err := os.Mkdir(dir, 0o700); err != nil {
				return err
			}
			return os.Chown(dir, 65534, 65534)
		},
	} {
		tmp := t.TempDir()
		if err := make(filepath.Join(tmp, name)); err != nil {
			t.Fatal(err)
		}
		out, err := homeless(t, tmp, "run", "--", testprog(t, "quick")).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "is not a directory for this user alone") {
			t.Errorf("%s: %v\n%s", what, err, out)
		}
		entries, _ := os.ReadDir(filepath.Join(tmp, name))
		if kept, _ := filepath.Glob(filepath.Join(tmp, "highwater-*", "quick-*.hwm")); len(kept) != 1 || filepath.Dir(kept[0]) == filepath.Join(tmp, name) ||
			what != "a link" && len(entries) != 0 {
			t.Errorf("%s: the recording is at %v, and %v in the directory of others", what, kept, entries)
		}
	}
}

func TestAProgramOfAnyNameIsRecorded(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for _, name := range []string{strings.Repeat("L", 250), strings.Repeat("ü", 125), "-o", "x;touch PWN;$(id)", "a@last", "two\nlines"} {
		program := filepath.Join(t.TempDir(), name)
		text, err := os.ReadFile(testprog(t, "quick"))
		if err == nil {
			err = os.WriteFile(program, text, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"run", "-q", "--", program}, {"explain"}, {"list"}} {
			if out, err := exec.Command(highwater(t), args...).CombinedOutput(); code(err) != 0 && code(err) != 4 {
				t.Errorf("%q: %v: %v\n%s", name, args[0], err, out)
			}
		}
	}
}
