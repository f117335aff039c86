package recording

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// inRoot is a directory with files, as Remove sees it.
func inRoot(t *testing.T) (dir string, root *os.Root) {
	t.Helper()
	dir = t.TempDir()
	root, err := os.OpenRoot(dir)
	must(t, err)
	t.Cleanup(func() { root.Close() })
	return dir, root
}

func TestAFinishedRecordingIsRemovedWithWhatIsBesideIt(t *testing.T) {
	dir, root := inRoot(t)
	b := finished(t, 3)
	for name, content := range map[string][]byte{
		"whole.hwm": b, "cut.hwm": b[:len(b)/2], "killed.hwm": b, "killed.hwm-wal": []byte("left"), "killed.hwm-shm": []byte("left"), "other.hwm": b,
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	for _, name := range []string{"whole.hwm", "killed.hwm"} {
		must(t, MayRemove(root, name))
		must(t, Remove(root, name))
	}
	if left := entries(t, dir); !slices.Equal(left, []string{"cut.hwm", "other.hwm"}) {
		t.Errorf("there is left: %q", left)
	}
	if err := Remove(root, "cut.hwm"); !errors.Is(err, ErrInUse) { // it may be one that is being created
		t.Errorf("one without checksums that has just been written: %v", err)
	}
	ago := time.Now().Add(-2 * beginning)
	must(t, os.Chtimes(filepath.Join(dir, "cut.hwm"), ago, ago))
	must(t, Remove(root, "cut.hwm"))
}

func TestWhatIsNoFinishedRecordingStays(t *testing.T) {
	dir, root := inRoot(t)
	outside := filepath.Join(t.TempDir(), "outside.hwm")
	b := finished(t, 3)
	must(t, os.WriteFile(outside, b, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "target.hwm"), b, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "words.hwm"), []byte("words"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "short.hwm"), b[:50], 0o600))
	foreign := slices.Clone(b)
	copy(foreign[68:], []byte{0, 0, 0, 0}) // another program's application id
	must(t, os.WriteFile(filepath.Join(dir, "foreign.hwm"), foreign, 0o600))
	must(t, os.Mkdir(filepath.Join(dir, "folder.hwm"), 0o700))
	must(t, os.Symlink(outside, filepath.Join(dir, "away.hwm")))
	must(t, os.Symlink("target.hwm", filepath.Join(dir, "near.hwm")))
	before := entries(t, dir)
	for _, name := range []string{"words.hwm", "short.hwm", "foreign.hwm", "folder.hwm", "away.hwm", "near.hwm",
		"../" + filepath.Base(filepath.Dir(outside)) + "/outside.hwm"} {
		if MayRemove(root, name) == nil {
			t.Errorf("%s may be removed", name)
		}
		if Remove(root, name) == nil {
			t.Errorf("%s was removed", name)
		}
	}
	if err := Remove(root, "none.hwm"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("one that is not there: %v", err)
	}
	if after := entries(t, dir); !slices.Equal(after, before) {
		t.Errorf("of %q there is left %q", before, after)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}

func TestARecordingThatIsBeingWrittenStays(t *testing.T) {
	dir, root := inRoot(t)
	path := filepath.Join(dir, "r.hwm")
	w, err := Create(path, Meta{At: time.Now(), CPUs: 1})
	must(t, err)
	for range 2 {
		if err := Remove(root, filepath.Base(path)); !errors.Is(err, ErrInUse) {
			t.Errorf("while it is written: %v", err)
		}
		must(t, w.Flush())
	}
	must(t, w.Close())
	must(t, Remove(root, filepath.Base(path)))
}

func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}
