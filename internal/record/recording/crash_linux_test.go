package recording

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// smallDisk is a directory on a file system of that size.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
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
	return dir
}

func TestAFullFileSystemEndsTheRecordingOnce(t *testing.T) {
	path := filepath.Join(smallDisk(t, "1m"), "full.hwm")
	w, err := Create(path, meta)
	must(t, err)
	n, err := fill(t, w)
	checkFull(t, w, path, n, err)
	r := open(t, path)
	gaps, err := r.Gaps()
	must(t, err)
	events, err := r.Events()
	must(t, err)
	if len(gaps) != 1 || !strings.Contains(gaps[0].Why, "the disk was full") || gaps[0].From.IsZero() || !gaps[0].To.IsZero() {
		t.Errorf("gaps %+v", gaps)
	}
	if len(events) != 1 || events[0].Kind != sample.EventRecordFull {
		t.Errorf("events %+v", events)
	}
}

func TestADiskTooSmallForARecordingIsNamedAndLeftAsItWas(t *testing.T) {
	created := 0
	for kib := 4; kib <= 132; kib += 8 {
		dir := smallDisk(t, fmt.Sprintf("%dk", kib))
		w, err := Create(filepath.Join(dir, "a.hwm"), meta)
		if err == nil {
			created++
			w.Close()
			continue
		}
		var full ErrFull
		if !errors.As(err, &full) || full.Dir != dir || created > 0 {
			t.Errorf("%d KiB: %v", kib, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%d KiB: %v are left, %v", kib, left, err)
		}
	}
	if created == 0 {
		t.Error("no size was enough")
	}
}
