package recording

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

func TestAFullFileSystemEndsTheRecordingOnce(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
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
	w, err := Create(path, meta)
	must(t, err)
	n, err := fill(t, w)
	checkFull(t, w, path, n, err)
}
