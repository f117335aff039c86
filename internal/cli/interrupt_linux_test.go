package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/record/recording"
)

// twice is a shell that a first interrupt does not end.
const twice = `trap 'trap - INT; echo caught' INT; echo up; n=0; while [ $n -lt 600 ]; do n=$((n+1)); sleep 0.05; done`

func TestSignalsAreTheProgramsAndTheRunIsStillExplained(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	ticker := testprog(t, "ticker")
	for _, c := range []struct {
		name    string
		args    []string
		await   string // the line after which the signal is sent
		signal  syscall.Signal
		code    int
		outcome string
	}{
		{"an interrupt right after the start", []string{ticker}, "", syscall.SIGINT, 130, "SIGINT, sent to highwater, stopped the program"},
		{"an interrupt", []string{ticker}, `^tick 2 `, syscall.SIGINT, 130, "SIGINT, sent to highwater, stopped the program"},
		{"a request to end", []string{ticker}, `^tick 2 `, syscall.SIGTERM, 143, "SIGTERM, sent to highwater, stopped the program"},
		{"a hangup", []string{ticker}, `^tick 2 `, syscall.SIGHUP, 129, "SIGHUP, sent to highwater, stopped the program"},
		{"an interrupt while the load runs", []string{"--load", "echo loading; sleep 600", ticker}, `^loading`, syscall.SIGINT, 130,
			"SIGINT, sent to highwater, stopped the program"},
		{"an interrupt when the program has ended", []string{ticker, "-for", "300ms"}, `^ended`, syscall.SIGINT, 0, "and used at most"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := begin(t, c.args...)
			pid := b.pid(t)
			if c.await != "" {
				b.await(t, c.await)
			}
			b.signal(t, c.signal)
			if code := b.end(t); code != c.code {
				t.Errorf("code %d, want %d:\n%s", code, c.code, b.seen.String())
			}
			if !strings.Contains(strings.Join(strings.Fields(b.seen.String()), " "), c.outcome) {
				t.Errorf("the answer does not say %q:\n%s", c.outcome, b.seen.String())
			}
			b.leavesNothing(t, pid)
		})
	}
}

func TestAnInterruptBeforeTheStartLeavesNothing(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	ticker := testprog(t, "ticker")
	for _, recorded := range []bool{false, true} {
		b := begin(t, ticker)
		for recorded && !exists(b.recording) {
			runtime.Gosched() // from here on an interrupt is passed on
		}
		b.signal(t, syscall.SIGINT)
		if code := b.end(t); code != 130 {
			t.Errorf("code %d, want 130:\n%s", code, b.seen.String())
		}
		if left := b.cgroups(t); len(left) > 0 {
			t.Errorf("cgroups are left: %v", left)
		}
		if exists(b.recording) {
			if err := recording.Verify(b.recording); err != nil {
				t.Errorf("verify: %v", err)
			}
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestASecondInterruptReachesTheProgramToo(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	b := begin(t, "sh", "-c", twice)
	pid := b.pid(t)
	b.await(t, `^up$`)
	b.signal(t, syscall.SIGINT)
	b.await(t, `^caught$`)
	b.signal(t, syscall.SIGINT)
	if code := b.end(t); code != 130 {
		t.Errorf("code %d, want 130:\n%s", code, b.seen.String())
	}
	b.leavesNothing(t, pid)
}

func TestTheProgramOutlivesAKilledHighwater(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	b := begin(t, testprog(t, "ticker"), "-for", "4s")
	pid := b.pid(t)
	b.await(t, `^tick 12 `) // the recording is written once a second
	b.signal(t, syscall.SIGKILL)
	b.cmd.Wait()
	b.await(t, `^tick`)

	// Another run leaves the cgroup of a program that lives alone.
	if out, err := exec.Command(highwater(t), "run", "-o", filepath.Join(t.TempDir(), "other.hwm"), testprog(t, "quick")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the program did not live on: %v", err)
	}
	t.Log(b.await(t, `^ended, longest gap .*`)[0])

	out, err := exec.Command(highwater(t), "explain", b.recording).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "MEMORY AT THE ") && !strings.Contains(string(out), "MEMORY NEAR THE ") {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	if out, err := exec.Command(highwater(t), "run", "-o", filepath.Join(t.TempDir(), "next.hwm"), testprog(t, "quick")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if left := b.cgroups(t); len(left) > 0 {
		t.Errorf("the next run left %v", left)
	}
}

func TestAFullDiskEndsTheRecordingAndNotTheProgram(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace, hwtest.Root)
	program := testprog(t, "leak")
	for _, size := range []string{"16k", "64k", "96k", "128k", "160k"} {
		t.Run(size, func(t *testing.T) {
			disk := t.TempDir()
			if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size="+size); err != nil {
				t.Skipf("SKIP-REASON: needs a small file system: %v", err)
			}
			t.Cleanup(func() {
				if err := unix.Unmount(disk, 0); err != nil {
					t.Error(err)
				}
			})
			path := filepath.Join(disk, "full.hwm")
			cmd := exec.Command(highwater(t), "run", "-o", path, program, "-rate", "40MiB", "-max", "60MiB", "-for", "3s")
			out, err := cmd.CombinedOutput()
			if !exists(path) { // too small for a first page
				if err == nil || !strings.Contains(string(out), "write the recording: ") || strings.Contains(string(out), "watching") ||
					!strings.Contains(string(out), "no space left on device, in "+disk) || !strings.Contains(string(out), "\n  make room there, or write elsewhere: ") {
					t.Errorf("%v\n%s", err, out)
				}
				if left, err := os.ReadDir(disk); err != nil || len(left) > 0 {
					t.Errorf("%v are left, %v", left, err)
				}
				return
			}
			if err != nil || !strings.Contains(string(out), "ended with 960 units remembered") {
				t.Errorf("the program did not end well: %v\n%s", err, out)
			}
			if !regexp.MustCompile(`highwater: (the recording ends here, the program keeps running|finish the recording): .*no space left on device`).Match(out) {
				t.Errorf("the end of the recording is not said:\n%s", out)
			}
			if out, err := exec.Command(highwater(t), "export", "--csv", path).CombinedOutput(); err != nil {
				t.Errorf("what was written cannot be read: %v\n%s", err, out)
			}
		})
	}
}

// A process has one tracer. Of two highwaters, one inside the other, the inner one
// is it, and the outer one says what it leaves to the inner one.
func TestAWatchedHighwaterWatchesOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	inner := filepath.Join(t.TempDir(), "inner.hwm")
	b := begin(t, highwater(t), "run", "-o", inner, testprog(t, "steady"), "-live", "8MiB", "-for", "1s")
	pid := b.pid(t)
	code := b.end(t)
	b.leavesNothing(t, pid)
	seen := b.seen.String()
	if code != 0 {
		t.Errorf("code %d:\n%s", code, seen)
	}
	if err := recording.Verify(inner); err != nil {
		t.Errorf("verify the inner one: %v", err)
	}
	if !strings.Contains(seen, "\nsteady exited normally after ") {
		t.Errorf("the inner one does not explain:\n%s", seen)
	}
	words := strings.Join(strings.Fields(seen), " ") // of steady or of all that highwater starts, or of both
	if !strings.Contains(words, "NOT SEEN the state at the exit of ") || !strings.Contains(words, "highwater may trace the program, and a thread has one tracer") {
		t.Errorf("the outer one does not say what it misses:\n%s", seen)
	}
}
