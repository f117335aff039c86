package procfs

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A process whose first thread has ended, as one that stands at its exit, has its mappings in those that
// are left; where it has none, nobody asks at each read.
func TestMappingsOfAProcessWhoseFirstThreadHasEnded(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const rest = " 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
	write("7/task/7/stat", "7 (prog) Z"+rest)
	write("7/maps", "")
	for _, tid := range []string{"8"} {
		if err := os.MkdirAll(filepath.Join(root, "7/task", tid), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write("8/task/8/stat", "8 (prog) S"+rest)
	write("8/maps", "c000000000-c000400000 rw-p 00000000 00:00 0 \n")
	a := answers{root: root, pid: 7, devices: map[string]bool{}}
	if err := a.has(0xc000001000, 8); err != nil || !a.isKnown(0xc000001000, 0xc000001008) {
		t.Errorf("mappings through the second thread: %v, known %+v", err, a.known)
	}
	write("8/maps", "")
	a.next = time.Time{}
	if err := a.has(0xc000400000, 8); err != nil || len(a.known) != 1 || !a.next.After(time.Time{}) {
		t.Errorf("without mappings: %v; known %+v, want what was; asked again at %v", err, a.known, a.next)
	}
}
