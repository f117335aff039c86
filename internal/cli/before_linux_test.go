package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
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
	t.Parallel()
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
		{"a tracer", "strace", "strace traces what it starts, and a thread has one tracer: highwater leaves that to strace", false, 0},
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
			for _, args := range [][]string{{"run", "-o", filepath.Join(open(t), "r.hwm"), "--", c.program}, {"doctor", c.program}} {
				out := sayAs(c.user, dir, hw, args...)
				if got := strings.Contains(out, "which the kernel ignores") || strings.Contains(out, "leaves that to"); got != (c.says != "") ||
					!strings.Contains(out, c.says) {
					t.Errorf("%s says\n%s\nwant %q", args[0], out, c.says)
				}
			}
		})
	}
}

// sayAs is what a command says to a user. Its code may be a program's.
func sayAs(user uint32, dir, name string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// A shell starts what it starts from the thread that is traced; a Go program does not.
func TestAWatchSaysBeforeWhatATracedProgramLoses(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Ptrace, hwtest.Program("setcap"))
	dir := open(t)
	hw, ticker := copied(t, highwater(t), dir, 0o755), copied(t, testprog(t, "ticker"), dir, 0o755)
	capable := copied(t, testprog(t, "ticker"), open(t), 0o755)
	if out, err := exec.Command("setcap", "cap_net_bind_service=+ep", capable).CombinedOutput(); err != nil {
		t.Fatalf("setcap: %v\n%s", err, out)
	}
	const loses = "runs without set-user-ID bits and file capabilities"
	for _, c := range []struct {
		name    string
		program []string
		user    uint32 // that watches
		says    string
	}{
		{"a shell", []string{"sh", "-c", "read x; exit"}, 65534, loses},
		{"a shell, as root", []string{"sh", "-c", "read x; exit"}, 0, ""},
		{"a Go program", []string{ticker, "-for", "10m"}, 65534, ""},
		{"one with capabilities, which another user may not trace", []string{capable, "-for", "10m"}, 65534, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command(c.program[0], c.program[1:]...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			program := startStranger(t, cmd)
			watch := []string{"watch", program.pid(), "--figures-alone", "--for", "300ms", "-o", filepath.Join(open(t), "w.hwm")}
			for _, args := range [][]string{watch, {"doctor", program.pid()}} {
				out := sayAs(c.user, dir, hw, args...)
				if got := strings.Contains(out, "while it is watched"); got != (c.says != "") || !strings.Contains(out, c.says) {
					t.Errorf("%s says\n%s\nwant %q", args[0], out, c.says)
				}
				if at := strings.Index(out, "watching "); args[0] == "watch" && (at < 0 || at < strings.Index(out, c.says)) {
					t.Errorf("it is not said before:\n%s", out)
				}
			}
		})
	}
}

func TestAProgramStartsThoughItsRecordingCannotBeWritten(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	shell := []string{"run", "--", "sh", "-c", "echo it runs; exit 7"}
	for name, c := range map[string]struct{ env, says string }{
		"where recordings go": {"TMPDIR=" + t.TempDir(), "the recording goes to"},
		"on any disk":         {"TMPDIR=/proc/none", "the recording is in memory, at /dev/shm/"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(highwater(t), shell...)
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "XDG_STATE_HOME=/proc/none", c.env}
			out, _ := cmd.CombinedOutput()
			if dir := regexp.MustCompile(`/dev/shm/highwater-\d+`).Find(out); dir != nil {
				defer os.RemoveAll(string(dir))
			}
			if code := cmd.ProcessState.ExitCode(); code != 7 || !strings.Contains(string(out), "it runs") || !strings.Contains(string(out), c.says) {
				t.Errorf("code %d, want 7, and %q in\n%s", code, c.says, out)
			}
		})
	}
}
