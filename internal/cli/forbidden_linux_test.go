package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// A file that may not be read is not one that is not there.
func TestARecordingThatMayNotBeReadIsToldFromOneThatIsNotThere(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root)
	dir := open(t)
	hw := copied(t, highwater(t), dir, 0o755)
	hidden := filepath.Join(dir, "hidden")
	if err := os.Mkdir(hidden, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "r.hwm"), filepath.Join(hidden, "r.hwm")} {
		if err := os.WriteFile(path, []byte("of somebody else"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]struct {
		code int
		says string
	}{
		"r.hwm":          {5, "read the recording r.hwm: permission denied\n  a recording is for the user who made it"},
		"hidden/r.hwm":   {5, "read the recording hidden/r.hwm: permission denied\n  a recording is for the user who made it"},
		"hidden/no-such": {5, "read the recording hidden/no-such: permission denied"},
		"no-such":        {2, `no recording "no-such"`},
	} {
		cmd := exec.Command(hw, "explain", name)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "XDG_STATE_HOME="+dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != want.code || !strings.Contains(string(out), want.says) {
			t.Errorf("%s: %v, want code %d and %q:\n%s", name, err, want.code, want.says, out)
		}
	}
}

// Whoever may not make a cgroup is told that in a sentence, on every run and by doctor.
func TestARunWithoutACgroupSaysSoInASentence(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Ptrace)
	dir := open(t)
	hw := copied(t, highwater(t), dir, 0o755)
	for _, args := range [][]string{{"run", "-o", filepath.Join(open(t), "r.hwm"), "--", "true"}, {"doctor"}} {
		cmd := exec.Command(hw, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "XDG_STATE_HOME="+dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "no permission to create a memory cgroup") || strings.Contains(string(out), "mkdir") {
			t.Errorf("%s: %v\n%s", args[0], err, out)
		}
	}
}
