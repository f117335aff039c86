package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// proc is a /proc with one process, of a user, and with one of ours.
func proc(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestARefusalSaysWhichRightIsMissing(t *testing.T) {
	t.Parallel()
	const all, none = "Name:\thw\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n", "Name:\thw\nCapEff:\t0000000000000000\n"
	mine := fmt.Sprintf("Name:\tx\nUid:\t%d\n", os.Geteuid())
	for name, c := range map[string]struct {
		files map[string]string
		says  string
	}{
		"another user": {map[string]string{"7/status": "Name:\tx\nUid:\t4242\t4242\t4242\t4242\n", "self/status": none},
			"the process belongs to user 4242"},
		"Yama 1": {map[string]string{"7/status": mine, "self/status": none, "sys/kernel/yama/ptrace_scope": "1\n"},
			"ancestors only: start it with highwater run"},
		"Yama 2":                    {map[string]string{"7/status": mine, "self/status": none, "sys/kernel/yama/ptrace_scope": "2\n"}, "CAP_SYS_PTRACE"},
		"Yama 3, for the superuser": {map[string]string{"7/status": mine, "self/status": all, "sys/kernel/yama/ptrace_scope": "3\n"}, "until the machine restarts"},
		"Yama 1, with the right":    {map[string]string{"7/status": mine, "self/status": all, "sys/kernel/yama/ptrace_scope": "1\n", "7/fd": ""}, "a sandbox"},
		"no Yama":                   {map[string]string{"7/status": mine, "self/status": none, "7/fd": ""}, "a sandbox"},
	} {
		t.Run(name, func(t *testing.T) {
			err := whyUnread(proc(t, c.files), 7, fs.ErrPermission)
			if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
	for caps, may := range map[string]bool{"0000000000080000": false, "0000000000080004": true, "0000000000000004": false} {
		if root := proc(t, map[string]string{"self/status": "Name:\thw\nCapEff:\t" + caps + "\n"}); MayReadAll(root) != may {
			t.Errorf("capabilities %s: may read all is %v", caps, !may)
		}
	}
	if err := whyUnread("/nowhere", 7, fs.ErrNotExist); err != fs.ErrNotExist {
		t.Errorf("what is no refusal: %v", err)
	}
}
