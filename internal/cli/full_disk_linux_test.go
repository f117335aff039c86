package cli_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

func TestAfterAFullDiskTheAnswerSaysSo(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=600k"); err != nil {
		if errors.Is(err, syscall.EPERM) {
			t.Skip("mounting a small file system needs root")
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(dir, "full.hwm")
	run := exec.Command(highwater(t), "run", "-o", path, "--", testprog(t, "steady"), "-for", "8s", "-live", "4MiB")
	var errs strings.Builder
	run.Stderr = &errs
	out, err := run.Output()
	if err != nil || !strings.Contains(errs.String(), "the recording ends here, the program keeps running: ") {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	again, err := exec.Command(highwater(t), "explain", path).Output()
	if err != nil {
		t.Error(err)
	}
	for what, text := range map[string]string{"run": string(out), "explain": string(again)} {
		if i := strings.Index(text, "NOT SEEN"); i < 0 || !strings.Contains(strings.Join(strings.Fields(text[i:]), " "), "everything after this: the disk was full") {
			t.Errorf("%s says\n%s", what, text)
		}
	}
}
