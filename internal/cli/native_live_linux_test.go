package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/faultprofile"
)

// probesAllocators needs what probes on C's allocator need.
func probesAllocators() error {
	p, err := faultprofile.NewAllocs(0)
	if err != nil {
		return err
	}
	return p.Close()
}

func TestARunSaysWhichLinesHoldNativeMemoryNow(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Ptrace, probesAllocators)
	program := hwtest.Build(t, "../record/watch/testdata/allocator", hwtest.BuildOptions{CGO: true})
	path := filepath.Join(t.TempDir(), "r.hwm")
	out, err := exec.Command(highwater(t), "run", "--native=live", "-o", path, "--", program, "-only", "two", "-rounds", "60", "-pause", "20ms").CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	for _, want := range []string{"sets breakpoints on malloc", "NATIVE, ALLOCATED BY", "C: malloc < keep"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	text, err := exec.Command(highwater(t), "explain", "--json", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var a struct {
		NativeLive struct {
			Lines []struct {
				Line          int
				Bytes         int64
				OldestSeconds float64 `json:"oldest_seconds"`
			}
		} `json:"native_live"`
	}
	if err := json.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	at, lines := placesOf(t, program), a.NativeLive.Lines
	if len(lines) != 2 || lines[0].Line != at["large"] || lines[1].Line != at["little"] || lines[0].OldestSeconds < 0.5 {
		t.Errorf("lines %+v, want %d and %d", lines, at["large"], at["little"])
	}
	profile := filepath.Join(t.TempDir(), "n.pb.gz")
	top, err := exec.Command("sh", "-c", `"$0" export --native -o "$2" "$1" && go tool pprof -sample_index=inuse_space -top "$2"`, highwater(t), path,
		profile).CombinedOutput()
	if err != nil || !strings.Contains(string(top), "main.large") {
		t.Errorf("%v:\n%s", err, top)
	}
}

// When highwater is killed the kernel closes its files, and takes the probes out.
func TestAKilledWatchLeavesNoBreakpoints(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Ptrace, probesAllocators)
	program := hwtest.Build(t, "../record/watch/testdata/allocator", hwtest.BuildOptions{CGO: true})
	victim := exec.Command(program, "-wait", "-only", "two")
	in, err := victim.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	defer victim.Process.Kill()
	var before []byte
	until(t, "libc is mapped", func() bool { before = codeOfC(t, victim.Process.Pid); return before != nil })
	watcher := exec.Command(highwater(t), "watch", "--native=live", "-o", filepath.Join(t.TempDir(), "w.hwm"), fmt.Sprint(victim.Process.Pid))
	if err := watcher.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "its code has breakpoints", func() bool { return !bytes.Equal(before, codeOfC(t, victim.Process.Pid)) })
	if err := watcher.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = watcher.Wait() // it was killed
	until(t, "its code is as it was", func() bool { return bytes.Equal(before, codeOfC(t, victim.Process.Pid)) })
	if _, err := io.WriteString(in, "x"); err != nil {
		t.Fatal(err)
	}
	if err := victim.Wait(); err != nil {
		t.Errorf("the program ended with %v", err)
	}
}

// until waits for something that comes soon.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not yet: %s", what)
		}
	}
}

// codeOfC is the code of the C library in a process; nil: it is not mapped yet.
func codeOfC(t *testing.T, pid int) []byte {
	t.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		var start, end int64
		if n, _ := fmt.Sscanf(line, "%x-%x", &start, &end); n == 2 && strings.Contains(line, "r-xp") && strings.Contains(line, "/libc.so") {
			mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
			if err != nil {
				t.Fatal(err)
			}
			defer mem.Close()
			b := make([]byte, end-start)
			if _, err := mem.ReadAt(b, start); err != nil {
				t.Fatal(err)
			}
			return b
		}
	}
	return nil
}

// heap --native answers from a recording, and of a process that is being followed.
func TestHeapNativeListsLiveBlocksByLine(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Ptrace, probesAllocators)
	program := hwtest.Build(t, "../record/watch/testdata/allocator", hwtest.BuildOptions{CGO: true})
	path := filepath.Join(t.TempDir(), "r.hwm")
	// As a program of its own, so that it is there when it is asked for.
	run := exec.Command(highwater(t), "run", "--native=live", "-o", path, "--", program, "-only", "two", "-rounds", "1200", "-each", "65536", "-pause", "50ms")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { run.Process.Signal(os.Interrupt); run.Wait() }()
	at := placesOf(t, program)
	ask := func(what string) (told nativeTold, err error) {
		out, err := exec.Command(highwater(t), "heap", "--native", "--json", what).CombinedOutput()
		if err != nil {
			return told, fmt.Errorf("%w: %s", err, out)
		}
		return told, json.Unmarshal(out, &told)
	}
	var told nativeTold
	var err error
	for end := time.Now().Add(40 * time.Second); time.Now().Before(end); { // rows are handed over every ten seconds
		if told, err = ask(path); err == nil && len(told.Lines) >= 2 {
			break
		}
	}
	for n := len(told.Lines); n > 2 && told.Lines[n-1].Line == 0; n-- { // on a busy machine a stack may be missed
		told.Lines = told.Lines[:n-1]
	}
	if err != nil || len(told.Lines) != 2 || told.Lines[0].Line != at["large"] || told.Lines[1].Line != at["little"] || !told.Running ||
		told.Schema != "highwater.native/1" {
		t.Fatalf("%+v, want lines %d and %d: %v", told, at["large"], at["little"], err)
	}
	if same, err := ask(fmt.Sprint(told.PID)); err != nil || same.PID != told.PID || len(same.Lines) < 2 || same.TotalBytes < told.TotalBytes {
		t.Errorf("by its PID %+v, %v; by the recording %+v", same, err, told)
	}
	if _, err := ask(fmt.Sprint(os.Getpid())); err == nil || !strings.Contains(err.Error(), "watch --native=live") {
		t.Errorf("of a process that nobody follows: %v", err)
	}
	text, err := exec.Command(highwater(t), "heap", "--native", path).Output()
	if err != nil || !strings.Contains(string(text), "of native memory in use by C") || !strings.Contains(string(text), "C: malloc < keep") {
		t.Errorf("%v:\n%s", err, text)
	}
}

// nativeTold is the JSON of heap --native.
type nativeTold struct {
	Schema     string
	PID        int
	Running    bool
	TotalBytes uint64 `json:"total_bytes"`
	Lines      []struct{ Line int }
}
