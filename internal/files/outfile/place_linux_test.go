package outfile

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// unchanged fails where a path has become another file than it was.
func unchanged(t *testing.T, path string, before fs.FileInfo) {
	t.Helper()
	after, err := os.Lstat(path)
	if err != nil || !os.SameFile(before, after) || before.Mode() != after.Mode() {
		t.Errorf("%s was %v and is %v, %v", path, before.Mode(), after.Mode(), err)
	}
}

func lstat(t *testing.T, path string) fs.FileInfo {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// node makes a device in a directory of the test's own; the machine's stay out of it.
func node(t *testing.T, mode uint32, major, minor int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "node")
	if err := syscall.Mknod(path, mode|0o600, major<<8|minor); err != nil {
		t.Skip("mknod: ", err)
	}
	return path
}

func TestADeviceIsWrittenToAndStays(t *testing.T) {
	path := node(t, syscall.S_IFCHR, 1, 3) // as /dev/null is
	before := lstat(t, path)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{path, link} {
		linked := lstat(t, to)
		written := false
		err := Write(to, func(w io.Writer) error { written = true; return text("gone")(w) })
		if errors.Is(err, fs.ErrPermission) {
			t.Skip("devices cannot be opened here: ", err) // mounted nodev
		}
		if err != nil || !written {
			t.Errorf("%s: %v", to, err)
		}
		unchanged(t, to, linked)
	}
	unchanged(t, path, before)
	onlyThese(t, filepath.Dir(path), "node")
	if Kind(path) != "a device" || Kind(link) != "a device" {
		t.Errorf("it is %q, by a link %q", Kind(path), Kind(link))
	}
}

func TestADiskIsRefused(t *testing.T) {
	path := node(t, syscall.S_IFBLK, 259, 4095) // of no disk
	before := lstat(t, path)
	if err := Write(path, text("x")); !errors.Is(err, ErrRefused) {
		t.Errorf("%v", err)
	}
	unchanged(t, path, before)
}

func TestAPipeIsWrittenToAndStays(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	before := lstat(t, path)
	got := make(chan string)
	go func() {
		f, err := os.Open(path)
		if err != nil {
			got <- err.Error()
			return
		}
		defer f.Close()
		b, _ := io.ReadAll(f)
		got <- string(b)
	}()
	if err := Write(path, text("through it")); err != nil {
		t.Fatal(err)
	}
	if text := <-got; text != "through it" {
		t.Errorf("the reader got %q", text)
	}
	unchanged(t, path, before)
	onlyThese(t, dir, "pipe")
}

func TestASocketIsWrittenToAndStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	before := lstat(t, path)
	got := make(chan string)
	go func() {
		c, err := l.Accept()
		if err != nil {
			got <- err.Error()
			return
		}
		defer c.Close()
		b, _ := io.ReadAll(c)
		got <- string(b)
	}()
	if err := Write(path, text("to it")); err != nil {
		t.Fatal(err)
	}
	if text := <-got; text != "to it" {
		t.Errorf("it got %q", text)
	}
	unchanged(t, path, before)
}

// As /dev/stdout is with a shell's >> FILE.
func TestAnOpenFileIsGoneOnWith(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o640)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("first "); err != nil {
		t.Fatal(err)
	}
	before := lstat(t, path)
	link := filepath.Join(t.TempDir(), "stdout")
	number := strconv.Itoa(int(f.Fd()))
	if err := os.Symlink("/proc/self/fd/"+number, link); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{link, "/proc/self/fd/" + number, "/dev/fd/" + number} {
		if err := Write(to, text("more ")); err != nil {
			t.Errorf("%s: %v", to, err)
		}
	}
	if _, err := f.WriteString("last"); err != nil { // it is still open
		t.Fatal(err)
	}
	if got := content(t, path); got != "first more more more last" {
		t.Errorf("it holds %q", got)
	}
	unchanged(t, path, before)
}

func TestWhatAStrangerPutIntoASharedDirectoryIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a stranger's files")
	}
	shared, own := t.TempDir(), t.TempDir()
	if err := os.Chmod(shared, 0o777|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	victim := filepath.Join(own, "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{shared, own} {
		link, pipe := filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
		if err := errors.Join(os.Symlink(victim, link), os.Lchown(link, 65534, 65534), syscall.Mkfifo(pipe, 0o600), os.Chown(pipe, 65534, 65534)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"link", "pipe"} {
		if err := Write(filepath.Join(shared, name), text("x")); !errors.Is(err, ErrRefused) {
			t.Errorf("a stranger's %s: %v", name, err)
		}
	}
	if content(t, victim) != "precious" {
		t.Error("the link was followed")
	}
	if err := Write(filepath.Join(own, "link"), text("new")); err != nil || content(t, victim) != "new" {
		t.Errorf("a link in a directory of our own: %v", err)
	}
}
