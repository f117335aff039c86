package regular

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestOnlyRegularFilesAreOpenedAndNoneIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	file, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.WriteFile(file, []byte("text"), 0o600), syscall.Mkfifo(pipe, 0o600), os.Symlink(pipe, filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	for path, what := range map[string]string{pipe: "a pipe", filepath.Join(dir, "link"): "a pipe", dir: "a directory", "/dev/zero": "a device"} {
		if f, err := Open(path); !errors.Is(err, ErrNot) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v, %v", path, f, err)
		}
	}
	f, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, err := io.ReadAll(f); string(text) != "text" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := Open(filepath.Join(dir, "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
