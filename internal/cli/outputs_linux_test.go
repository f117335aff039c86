package cli_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"syscall"
	"testing"
)

// imported is a recording made of this test's own heap profile.
func imported(t *testing.T, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	heap, path := filepath.Join(dir, "heap.pb.gz"), filepath.Join(dir, "own.hwm")
	f, err := os.Create(heap)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := pprof.WriteHeapProfile(f); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(highwater(t), append([]string{"import", "-q", "-o", path, heap}, flags...)...).CombinedOutput()
	if code(err) != 0 && code(err) != 4 { // 4: one profile does not decide
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// code is the exit code of a command that was run, -1 where it was not.
func code(err error) int {
	if err == nil {
		return 0
	}
	if ended, ok := err.(*exec.ExitError); ok {
		return ended.ExitCode()
	}
	return -1
}

// writers are the commands that write a file of a recording; the file's name follows.
var writers = [][]string{
	{"export", "--pprof", "RECORDING", "-o"}, {"export", "--csv", "RECORDING", "-o"}, {"export", "--json", "RECORDING", "-o"},
	{"open", "RECORDING", "--html"},
}

func writeTo(t *testing.T, writer []string, path, to string) ([]byte, error) {
	t.Helper()
	args := strings.Split(strings.ReplaceAll(strings.Join(writer, "\n"), "RECORDING", path), "\n")
	return exec.Command(highwater(t), append(args, to)...).CombinedOutput()
}

func TestAnOutputNeverReplacesADeviceOrALink(t *testing.T) {
	t.Parallel()
	path := imported(t)
	for _, w := range writers {
		dir := t.TempDir()
		device, link, target := filepath.Join(dir, "null"), filepath.Join(dir, "link"), filepath.Join(dir, "target")
		if err := syscall.Mknod(device, syscall.S_IFCHR|0o666, 1<<8|3); err != nil {
			t.Skip("SKIP-REASON: needs mknod: ", err)
		}
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		for _, to := range []string{device, link} {
			before, _ := os.Lstat(to)
			if out, err := writeTo(t, w, path, to); err != nil {
				t.Errorf("%v %s: %v\n%s", w, to, err, out)
			}
			if after, err := os.Lstat(to); err != nil || !os.SameFile(before, after) {
				t.Errorf("%v: %s was replaced", w, to)
			}
		}
		if info, err := os.Stat(target); err != nil || info.Mode() != 0o600 || info.Size() == 0 {
			t.Errorf("%v: what the link leads to: %v, %v", w, info, err)
		}
	}
}

// By a link of the test's own: one that a mistake replaces must not be the machine's.
func TestAnOutputGoesThroughAPipe(t *testing.T) {
	t.Parallel()
	path := imported(t)
	stdout := filepath.Join(t.TempDir(), "stdout")
	if err := os.Symlink("/proc/self/fd/1", stdout); err != nil {
		t.Fatal(err)
	}
	for _, w := range writers {
		cmd := exec.Command(highwater(t), strings.Split(strings.ReplaceAll(strings.Join(w, "\n"), "RECORDING", path)+"\n"+stdout, "\n")...)
		var out, said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &said
		if err := cmd.Run(); err != nil || out.Len() == 0 {
			t.Errorf("%v: %v, %d bytes\n%s", w, err, out.Len(), &said)
		}
	}
}

func TestAnOutputIsPrivateWhateverTheUmask(t *testing.T) {
	t.Parallel()
	path := imported(t)
	for _, w := range writers {
		file := filepath.Join(t.TempDir(), "out")
		if out, err := writeTo(t, w, path, file); err != nil {
			t.Errorf("%v: %v\n%s", w, err, out)
		}
		if info, err := os.Stat(file); err != nil || info.Mode() != fs.FileMode(0o600) {
			t.Errorf("%v: %v, %v", w, info.Mode(), err)
		}
	}
}

func TestARecordingNeedsAFileOfItsOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	link, stdout := filepath.Join(dir, "link"), filepath.Join(dir, "stdout")
	if err := errors.Join(os.Symlink(pipe, link), os.Symlink("/proc/self/fd/1", stdout)); err != nil {
		t.Fatal(err)
	}
	for to, kind := range map[string]string{pipe: "a pipe", link: "a pipe", stdout: "an open file", "-": "standard output"} {
		cmd := exec.Command(highwater(t), "run", "-o", to, "--", "true")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if code(err) != 2 || !strings.Contains(string(out), to+" is "+kind+"; a recording is a database") {
			t.Errorf("%s: %v\n%s", to, err, out)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("left: %v, %v", entries, err)
	}
}
