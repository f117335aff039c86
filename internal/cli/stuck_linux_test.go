package cli_test

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// unanswered starts a program that serves a file, and goes silent once it gets a line.
func unanswered(t *testing.T, file string) (s *stranger, dir string) {
	t.Helper()
	hwtest.Need(t, hwtest.Root, hwtest.Ptrace, func() error {
		_, err := os.Stat("/dev/fuse")
		return err
	})
	dir = t.TempDir()
	exe := hwtest.Build(t, "testdata/unanswered", hwtest.BuildOptions{})
	s = startStranger(t, exec.Command(exe, "serve", dir, file))
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	if !s.lines.Scan() {
		t.Fatal("it did not begin")
	}
	return s, dir
}

// silence ends its answers.
func silence(t *testing.T, server *stranger) {
	t.Helper()
	fmt.Fprintln(server.in)
	if !server.lines.Scan() {
		t.Fatal("it has ended")
	}
}

// hangs says that a thread of a process waits in the kernel and cannot be interrupted.
func hangs(pid int) bool {
	for range 5 { // any thread does for a moment
		if !sleepsDeep(pid) {
			return false
		}
		unix.Nanosleep(&unix.Timespec{Nsec: 20e6}, nil)
	}
	return true
}

func sleepsDeep(pid int) bool {
	stats, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, path := range stats {
		b, _ := os.ReadFile(path)
		if _, after, ok := bytes.Cut(b, []byte(") ")); ok && after[0] == 'D' {
			return true
		}
	}
	return false
}

// untilHangs waits for it.
func (b *background) untilHangs(t *testing.T) {
	t.Helper()
	for range 3000 {
		if hangs(b.cmd.Process.Pid) {
			return
		}
		unix.Nanosleep(&unix.Timespec{Nsec: 1e6}, nil)
	}
	t.Fatalf("no read hangs:\n%s", b.seen.String())
}

func TestNobodyIsHeldWhileAReadOfAnotherProgramHangs(t *testing.T) {
	t.Parallel()
	innocent := startStranger(t, exec.Command(testprog(t, "ticker"), "-for", "10m"))
	innocent.lines.Scan()
	server, dir := unanswered(t, testprog(t, "ticker"))
	silence(t, server)
	hostile := startStranger(t, exec.Command(server.cmd.Path, "buckets", filepath.Join(dir, "file")))
	hostile.lines.Scan()
	state := t.TempDir()
	cmd := exec.Command(highwater(t), "watch", innocent.pid(), hostile.pid())
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
	b := launch(t, "", cmd)
	path := b.await(t, "watching unanswered, .* recording (.*)")[1]
	for range 600 { // until it has been tried, and written
		if gapOf(t, path, "the heap profile of unanswered") != "" {
			break
		}
		unix.Nanosleep(&unix.Timespec{Nsec: 50e6}, nil)
	}
	if why := gapOf(t, path, "the heap profile of unanswered"); !strings.Contains(why, "does not come") {
		t.Errorf("of its heap profile it says %q:\n%s", why, b.seen.String())
	}
	innocent.cmd.Process.Kill()
	innocent.cmd.Wait() // held, it would never end
	b.await(t, "killed by SIGKILL")
	b.signal(t, syscall.SIGTERM)
	if code := b.end(t); code != 0 {
		t.Errorf("code %d:\n%s", code, b.seen.String())
	}
	hostile.in.Close()
	if err := hostile.cmd.Wait(); err != nil {
		t.Errorf("the other program: %v", err)
	}
}

// An executable is read by other ways than its memory.
func TestAWatchEndsAndLetsGoWhereAnExecutableIsNotAnswered(t *testing.T) {
	t.Parallel()
	server, dir := unanswered(t, testprog(t, "ticker"))
	hostile := startStranger(t, exec.Command(filepath.Join(dir, "file"), "-for", "10m"))
	hostile.lines.Scan()
	innocent := startStranger(t, exec.Command(testprog(t, "ticker"), "-for", "10m"))
	innocent.lines.Scan()
	silence(t, server)
	cmd := exec.Command(highwater(t), "watch", innocent.pid(), hostile.pid())
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
	b := launch(t, "", cmd)
	b.await(t, "watching ticker, pid "+innocent.pid())
	b.untilHangs(t)
	innocent.cmd.Process.Kill()
	innocent.cmd.Wait()
	b.signal(t, syscall.SIGTERM)
	if code := b.end(t); code != 1 {
		t.Errorf("code %d:\n%s", code, b.seen.String())
	}
}

// lockSegments brings into memory what the kernel maps of an executable, and keeps it there.
func lockSegments(t *testing.T, exe string) {
	t.Helper()
	f, err := os.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	e, err := elf.NewFile(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range e.Progs {
		if p.Type != elf.PT_LOAD || p.Filesz == 0 {
			continue
		}
		from := int64(p.Off) &^ int64(os.Getpagesize()-1)
		b, err := unix.Mmap(int(f.Fd()), from, int(int64(p.Off+p.Filesz)-from), unix.PROT_READ, unix.MAP_SHARED)
		if err == nil {
			t.Cleanup(func() { unix.Munmap(b) })
			err = unix.Mlock(b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestARunGoesOnWhereAnExecutableIsNotAnswered(t *testing.T) {
	t.Parallel()
	server, dir := unanswered(t, testprog(t, "ticker"))
	exe := filepath.Join(dir, "file")
	lockSegments(t, exe) // what it takes to run, and not the symbols
	silence(t, server)
	path := filepath.Join(t.TempDir(), "r.hwm")
	cmd := exec.Command(highwater(t), "run", "-o", path, "--", "sh", "-c", `"$0" -for 10m & read x; kill -9 $!; exit 7`, exe)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	b := launch(t, path, cmd)
	b.await(t, "^tick 2 ") // the child runs, though highwater waits for its executable
	b.await(t, "the program keeps running")
	fmt.Fprintln(in)
	if code := b.end(t); code != 7 {
		t.Errorf("code %d, want the program's 7:\n%s", code, b.seen.String())
	}
}
