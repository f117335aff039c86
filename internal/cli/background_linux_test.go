package cli_test

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
)

// patience bounds the wait for a line of output, which is there in a moment
// unless something is wrong.
const patience = time.Minute

// background is a highwater that runs while the test does something to it. Its
// output and the program's are one stream.
type background struct {
	cmd       *exec.Cmd
	recording string
	lines     *bufio.Scanner
	seen      strings.Builder
	unread    []string // lines of seen that are still to be read
}

// begin starts "highwater run -o RECORDING ARGS".
func begin(t *testing.T, args ...string) *background {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.hwm")
	return launch(t, path, exec.Command(highwater(t), append([]string{"run", "-o", path}, args...)...))
}

// launch starts a highwater that writes a recording.
func launch(t *testing.T, path string, cmd *exec.Cmd) *background {
	t.Helper()
	b := &background{recording: path, cmd: cmd}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { read.Close() })
	b.cmd.Stdout, b.cmd.Stderr = write, write
	if err := errors.Join(b.cmd.Start(), write.Close(), read.SetReadDeadline(time.Now().Add(patience))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.cmd.Process.Kill() }) // gone already, unless the test failed
	b.lines = bufio.NewScanner(read)
	return b
}

// await reads on to a line that matches and returns its submatches.
func (b *background) await(t *testing.T, pattern string) []string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	for {
		line, ok := b.next()
		if !ok {
			break
		}
		if m := re.FindStringSubmatch(line); m != nil {
			return m
		}
	}
	t.Fatalf("no line matches %s (%v) in:\n%s", pattern, b.lines.Err(), b.seen.String())
	return nil
}

// next is the next line that nobody has read.
func (b *background) next() (line string, ok bool) {
	if len(b.unread) > 0 {
		line, b.unread = b.unread[0], b.unread[1:]
		return line, true
	}
	if !b.lines.Scan() {
		return "", false
	}
	b.seen.WriteString(b.lines.Text() + "\n")
	return b.lines.Text(), true
}

// pid awaits the program's start. What the program wrote before highwater said
// so stays to be read.
func (b *background) pid(t *testing.T) int {
	t.Helper()
	re := regexp.MustCompile(`^watching .*, pid ([0-9]+);`)
	var skipped []string
	for {
		line, ok := b.next()
		if !ok {
			t.Fatalf("no start (%v) in:\n%s", b.lines.Err(), b.seen.String())
		}
		m := re.FindStringSubmatch(line)
		if m == nil {
			skipped = append(skipped, line)
			continue
		}
		b.unread = append(skipped, b.unread...)
		pid, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if t.Failed() { // it outlives a highwater that was killed
				syscall.Kill(pid, syscall.SIGKILL)
			}
		})
		return pid
	}
}

func (b *background) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := b.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// end reads all that is left, waits, and gives the exit code as a shell does.
func (b *background) end(t *testing.T) int {
	t.Helper()
	for b.lines.Scan() {
		b.seen.WriteString(b.lines.Text() + "\n")
	}
	if err := b.lines.Err(); err != nil {
		t.Fatalf("%v after:\n%s", err, b.seen.String())
	}
	b.cmd.Wait()
	if s := b.cmd.ProcessState.Sys().(syscall.WaitStatus); s.Signaled() {
		return 128 + int(s.Signal())
	}
	return b.cmd.ProcessState.ExitCode()
}

// leavesNothing checks that neither the program nor its cgroup is there any more,
// and that the recording is whole.
func (b *background) leavesNothing(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the program %d is still there (%v)", pid, err)
	}
	if left := b.cgroups(t); len(left) > 0 {
		t.Errorf("cgroups are left: %v", left)
	}
	if err := recording.Verify(b.recording); err != nil {
		t.Errorf("verify: %v", err)
	}
}

// cgroups are the directories that this highwater has made.
func (b *background) cgroups(t *testing.T) (found []string) {
	t.Helper()
	prefix := "highwater-" + strconv.Itoa(b.cmd.Process.Pid) + "-"
	err := filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), prefix) {
			found = append(found, path)
		}
		return nil // others' cgroups come and go
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
