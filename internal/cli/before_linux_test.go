package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/highwater-go/highwater/internal/hwtest"
)

// copied is an executable where everybody may run it.
func copied(t *testing.T, path, dir string, mode os.FileMode) string {
	t.Helper()
	b, err := os.ReadFile(path)
	to := filepath.Join(dir, filepath.Base(path))
	if err == nil {
		err = os.WriteFile(to, b, 0o755)
	}
	if err == nil {
		err = os.Chmod(to, mode) // WriteFile leaves the further bits out
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// open is a directory in which everybody may write.
func open(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "highwater-test")
	if err == nil {
		err = os.Chmod(dir, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestARunSaysWhatATracedProgramLoses(t *testing.T) {
	hwtest.Need(t, hwtest.Root, hwtest.Ptrace)
	dir := open(t)
	hw := copied(t, highwater(t), dir, 0o755)
	plain := testprog(t, "quick")
	setUser := copied(t, plain, dir, os.ModeSetuid|0o755)
	for _, c := range []struct {
		name, program, says string
		capabilities        bool
		user                uint32
	}{
		{"set-user-id, as another user", setUser, "has set-user-id (to user 0), which the kernel ignores", false, 65534},
		{"set-user-id, as root", setUser, "", false, 0},
		{"file capabilities, as another user", setUser, "has file capabilities", true, 65534},
		{"a tracer", "strace", "strace traces what it starts, and cannot here", false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.capabilities {
				hwtest.Need(t, hwtest.Program("setcap"))
				os.Chmod(c.program, 0o755)
				if out, err := exec.Command("setcap", "cap_net_bind_service=+ep", c.program).CombinedOutput(); err != nil {
					t.Fatalf("setcap: %v\n%s", err, out)
				}
			}
			if c.program == "strace" {
				hwtest.Need(t, hwtest.Program("strace"))
			}
			cmd := exec.Command(hw, "run", "-o", filepath.Join(open(t), "r.hwm"), "--", c.program)
			cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: c.user, Gid: c.user}}
			out, _ := cmd.CombinedOutput() // its code is the program's
			if got := strings.Contains(string(out), "which the kernel ignores") || strings.Contains(string(out), "cannot here"); got != (c.says != "") || !strings.Contains(string(out), c.says) {
				t.Errorf("it says\n%s\nwant %q", out, c.says)
			}
		})
	}
}

func TestAProgramStartsThoughItsRecordingCannotBeWritten(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	shell := []string{"run", "--", "sh", "-c", "echo it runs; exit 7"}
	for name, c := range map[string]struct{ env, says string }{
		"where recordings go": {"TMPDIR=" + t.TempDir(), "the recording goes to"},
		"anywhere":            {"TMPDIR=/proc/none", "runs unwatched"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(highwater(t), shell...)
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "XDG_STATE_HOME=/proc/none", c.env}
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != 7 || !strings.Contains(string(out), "it runs") || !strings.Contains(string(out), c.says) {
				t.Errorf("code %d, want 7, and %q in\n%s", code, c.says, out)
			}
		})
	}
}
