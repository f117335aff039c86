package outfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// onlyThese fails where a directory holds anything else.
func onlyThese(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	if got, want := strings.Join(found, " "), strings.Join(names, " "); got != want {
		t.Errorf("the directory holds %q, want %q", got, want)
	}
}

func TestAFileIsPrivateAndWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "page.html")
	if err := os.WriteFile(path, []byte("old, longer than the new one"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	before, _ := os.Stat(path)
	if err := Write(path, text("new")); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(path)
	if err != nil || after.Mode() != 0o600 || os.SameFile(before, after) || content(t, path) != "new" {
		t.Errorf("%v, %v, %q", after.Mode(), err, content(t, path))
	}
	onlyThese(t, dir, "page.html")
}

func TestAWriteThatFailsLeavesWhatWasThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "page.html")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := Write(path, func(w io.Writer) error {
		_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<16))
		return broken
	})
	if err != broken || content(t, path) != "old" {
		t.Errorf("%v, %q", err, content(t, path))
	}
	onlyThese(t, dir, "page.html")
}

// A stranger who knows the name of an output must not choose where it goes.
func TestThePlaceOfAnUnfinishedFileCannotBeGuessed(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, filepath.Join(dir, "page.html.partial")); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "page.html"), text("new")); err != nil {
		t.Fatal(err)
	}
	if content(t, victim) != "precious" {
		t.Errorf("the link was followed: %q", content(t, victim))
	}
}

func TestALinkIsFollowedAndStays(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, l := range [][2]string{{"absolute", filepath.Join(other, "a")}, {"relative", "other/b"}, {"to a link", "relative"}, {"to nothing", "other/c"}} {
		name, to := l[0], l[1]
		link := filepath.Join(dir, name)
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
		if name == "absolute" {
			if err := os.WriteFile(to, []byte("old"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := Write(link, text(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 || content(t, link) != name {
			t.Errorf("%s: the link is %v now, %v", name, info.Mode(), err)
		}
	}
	if err := os.Symlink("circle", filepath.Join(dir, "circle")); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "circle"), text("x")); !errors.Is(err, ErrRefused) {
		t.Errorf("a circle of links: %v", err)
	}
}

func TestADirectoryIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir, text("x")); !errors.Is(err, ErrRefused) {
		t.Errorf("%v", err)
	}
	if Kind(dir) != "" || Kind(filepath.Join(dir, "nothing")) != "" {
		t.Errorf("a directory is %q, nothing is %q", Kind(dir), Kind(filepath.Join(dir, "nothing")))
	}
}

func TestALogIsNewOrNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run.log")
	f, err := New(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if _, err := New(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second one: %v", err)
	}
	link := filepath.Join(dir, "link.log")
	if err := os.Symlink(filepath.Join(dir, "victim"), link); err != nil {
		t.Fatal(err)
	}
	if _, err := New(link); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a link to nothing: %v", err)
	}
}
