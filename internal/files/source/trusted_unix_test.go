//go:build unix

package source

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// It would wait for a writer.
func TestAPipeIsNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "main.go")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Finder{}).Line("main.main", path, 1); !errors.Is(err, ErrNotTrusted) {
		t.Errorf("%v", err)
	}
}

func TestAFileThatGrowsBeyondTheBoundIsNotRead(t *testing.T) {
	path := write(t, t.TempDir(), "main.go", "func main() {}\n")
	if err := os.Truncate(path, maxFile+1); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Finder{}).Line("main.main", path, 1); !errors.Is(err, ErrNotTrusted) {
		t.Errorf("%v", err)
	}
}

func TestSourceThatOthersMayChangeIsReadWhereTheReaderTrustsItAlone(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	for name, c := range map[string]struct {
		mode     fs.FileMode
		uid, gid int
		trusted  bool
	}{
		"our own":                           {0o644, 0, 0, true},
		"our own and our group's":           {0o664, 0, 0, true},
		"another user's":                    {0o644, 65534, 65534, false},
		"another user's, for himself alone": {0o600, 65534, 65534, false},
		"everybody's":                       {0o666, 0, 0, false},
		"another group's":                   {0o664, 0, 65534, false},
		"read by another group":             {0o644, 0, 65534, true},
	} {
		dir := t.TempDir()
		path := write(t, dir, "main.go", "func main() {}\n")
		if err := errors.Join(os.Chown(path, c.uid, c.gid), os.Chmod(path, c.mode)); err != nil {
			t.Fatal(err)
		}
		if _, err := (&Finder{}).Line("main.main", path, 1); (err == nil) != c.trusted || err != nil && !errors.Is(err, ErrNotTrusted) {
			t.Errorf("%s: %v", name, err)
		}
		named := Finder{Places: Places{Dir: dir}}
		if _, err := named.Line("main.main", path, 1); err != nil {
			t.Errorf("%s, below --source: %v", name, err)
		}
		outside := t.TempDir() // a clone whose link leads out of it
		if err := os.Symlink(path, filepath.Join(outside, "main.go")); err != nil {
			t.Fatal(err)
		}
		linked := Finder{Places: Places{Dir: outside}}
		if _, err := linked.Line("main.main", "/build/main.go", 1); (err == nil) != c.trusted {
			t.Errorf("%s, by a link below --source: %v", name, err)
		}
	}
}
