package filepages

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// A file system of FUSE whose server answers nothing any more would keep whoever asks it of a file, for
// ever: a program has one of its files open and works in it.
func TestAFileSystemThatNeverAnswersIsNotAsked(t *testing.T) {
	hwtest.Need(t, hwtest.Root, func() error {
		_, err := os.Stat("/dev/fuse")
		return err
	})
	dir := t.TempDir()
	served := write(t, filepath.Join(onDisk(t), "served"), some)
	server := hwtest.StartPiped(t, exec.Command(hwtest.Build(t, "../../cli/testdata/unanswered", hwtest.BuildOptions{}), "serve", dir, served))
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	server.Line() // it is mounted
	f, err := os.Open(filepath.Join(dir, "file"))
	if err != nil {
		t.Fatal(err)
	}
	// Closing asks the server, too: only its end lets that go on.
	t.Cleanup(func() { server.In.Close(); server.Wait(); f.Close() })
	if _, err := server.In.Write([]byte("be silent\n")); err != nil {
		t.Fatal(err)
	}
	server.Line()
	us := ourselves(t)
	got := make(chan *sample.Files, 1)
	go func() {
		l := &Looker{}
		l.Look(Request{Root: "/proc", Processes: []Process{us}, PageCache: 1 << 40, Until: time.Now().Add(time.Second)})
		got <- l.Look(Request{Root: "/proc", Processes: []Process{us}, PageCache: 1 << 40, Until: time.Now().Add(time.Second)})
	}()
	select {
	case files := <-got:
		if files.Why == whyHangs || slices.ContainsFunc(files.List, func(one sample.FilePages) bool { return strings.HasPrefix(one.Path, dir) }) {
			t.Errorf("the file was looked at: %+v", files)
		}
		if files.Unread == 0 || !strings.Contains(files.Why, whyForeign) {
			t.Errorf("that it was left out is not said: %d, %q", files.Unread, files.Why)
		}
	case <-time.After(30 * time.Second):
		t.Error("the look hangs")
	}
}
