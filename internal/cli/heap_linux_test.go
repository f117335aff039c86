package cli_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// heapJSON is the fields that scripts rely on.
type heapJSON struct {
	Schema  string
	Objects uint64
	Live    uint64  `json:"live_bytes"`
	Stop    float64 `json:"stop_ms"`
	Holders []struct {
		Name      string
		Root      string
		Path      string
		Retained  uint64                      `json:"retained_bytes"`
		Error     *uint64                     `json:"error_bytes"`
		Young     *uint64                     `json:"young_bytes"`
		Allocated []struct{ Function string } `json:"allocated_at"`
	}
	Collections []struct {
		Name    string
		Entries uint64
	}
	Types, Chains, Gaps []json.RawMessage
	Frames              struct{ Exact, Whole int } `json:"stack_frames"`
	Sample              *struct{ Objects uint64 }
	Strings             *struct {
		Bytes  uint64
		Copied uint64 `json:"copied_bytes"`
		Paths  []struct{ Distinct uint64 }
	}
}

// shape starts a program with one shape of heap.
func shape(t *testing.T, name string) (pid string) {
	t.Helper()
	return shapeOf(t, name, 2000)
}

func shapeOf(t *testing.T, name string, n int) (pid string) {
	t.Helper()
	cmd := exec.Command(hwtest.Build(t, filepath.Join("..", "measure", "heapgraph", "testdata", "heapshapes"), hwtest.BuildOptions{}), name, strconv.Itoa(n))
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Process.Kill(); cmd.Wait() })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(cmd.Process.Pid)
}

func askHeap(t *testing.T, args ...string) (out string, ans heapJSON) {
	t.Helper()
	text, err := exec.Command(highwater(t), append([]string{"heap"}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(string(text), "{") {
		if err := json.Unmarshal(text, &ans); err != nil {
			t.Fatal(err)
		}
	}
	return string(text), ans
}

func TestHeapNamesTheHolderAndTheLineThatAllocated(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	pid := shape(t, "map")
	for _, stop := range []string{"--max-stop=1m", "--no-stop"} {
		_, ans := askHeap(t, pid, stop, "--json")
		if ans.Schema != "highwater.heap/1" || ans.Types == nil || ans.Collections == nil || ans.Chains == nil || ans.Gaps == nil {
			t.Errorf("%s: schema %q, or a null list", stop, ans.Schema)
		}
		if (ans.Frames.Exact > 0) != (stop != "--no-stop") || ans.Frames.Exact+ans.Frames.Whole == 0 {
			t.Errorf("%s: stack frames %+v", stop, ans.Frames)
		}
		if (ans.Stop > 0) != (stop != "--no-stop") {
			t.Errorf("%s: stopped for %v ms", stop, ans.Stop)
		}
		if len(ans.Holders) == 0 || ans.Holders[0].Path != "main.cache.entries[].body" || ans.Holders[0].Retained != 2000*512 {
			t.Fatalf("%s: holders %+v", stop, ans.Holders)
		}
		if young := ans.Holders[0].Young; young == nil || *young != 0 {
			t.Errorf("%s: %v bytes are young, and three collections found all of them alive", stop, young)
		}
		if at := ans.Holders[0].Allocated; len(at) == 0 || at[0].Function != "main.newStore" {
			t.Errorf("%s: allocated at %+v", stop, at)
		}
	}
	text, _ := askHeap(t, pid, "--max-stop=1m")
	if lines := strings.Count(text, "\n"); lines > 30 || !strings.Contains(text, "main.cache.entries[].body") {
		t.Errorf("%d lines:\n%s", lines, text)
	}
}

func TestHowManyStringsAreCopiesIsSaid(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace, hwtest.Program("gcore"))
	path := hwtest.Build(t, filepath.Join("..", "measure", "heapgraph", "testdata", "copies"), hwtest.BuildOptions{Strip: true})
	p := hwtest.StartPiped(t, exec.Command(path))
	p.Line()
	pid := strconv.Itoa(p.PID)
	core := filepath.Join(t.TempDir(), "core")
	if text, err := exec.Command("gcore", "-o", core, pid).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, target := range []string{pid, core + "." + pid} {
		text, _ := askHeap(t, target, "--strings")
		if !strings.Contains(text, "1.7 MiB are copies") || !strings.Contains(text, "20 strings, 2 different") || strings.Count(text, "\n") > 30 {
			t.Errorf("of %s:\n%s", target, text)
		}
		_, ans := askHeap(t, target, "--strings", "--json")
		if s := ans.Strings; s == nil || s.Copied < 1_800_000 || s.Copied > s.Bytes || len(s.Paths) < 7 || s.Paths[0].Distinct != 2 || len(ans.Gaps) > 1 {
			t.Errorf("of %s: %+v, gaps %s", target, s, ans.Gaps)
		}
	}
	if _, ans := askHeap(t, pid, "--json"); ans.Strings != nil {
		t.Error("strings were compared, and nobody asked for it")
	}
	// Room for the analysis, and hardly more.
	for kib := 100; ; kib += 20 {
		cmd := exec.Command(highwater(t), "heap", pid, "--strings", fmt.Sprintf("--max-memory=%dKiB", kib))
		if text, err := cmd.Output(); err == nil {
			if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), "found no room within --max-memory") {
				t.Errorf("with %d KiB nothing is missed:\n%s", kib, text)
			}
			break
		} else if kib > 4000 {
			t.Fatal(err)
		}
	}
	if text, err := exec.Command(highwater(t), "heap", pid, "--strings", "--type=string").CombinedOutput(); err == nil ||
		!strings.Contains(string(text), "goes with neither") {
		t.Errorf("%v: %s", err, text)
	}
}

func TestACoreSaysTheSame(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace, hwtest.Program("gcore"))
	pid := shape(t, "map")
	prefix := filepath.Join(t.TempDir(), "core")
	if text, err := exec.Command("gcore", "-o", prefix, pid).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	_, ans := askHeap(t, prefix+"."+pid, "--json")
	if len(ans.Holders) == 0 || ans.Holders[0].Path != "main.cache.entries[].body" || ans.Holders[0].Retained != 2000*512 {
		t.Errorf("holders %+v", ans.Holders)
	}
}

func TestAHeapThatIsTooLargeForItsBoundsIsRefused(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	pid := shape(t, "map")
	for _, c := range []struct {
		flag string
		code int
		says string // what to do instead
	}{{"--max-memory=64KiB", 1, "gcore " + pid + " makes a core"}, {"--max-stop=1ns", 4, "--no-stop"}} {
		cmd := exec.Command(highwater(t), "heap", pid, c.flag)
		if text, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != c.code || !strings.Contains(string(text), c.says) {
			t.Errorf("%s ends with %v\n%s", c.flag, cmd.ProcessState, text)
		}
	}
}

// TestAHeapThatIsTooLargeIsRefusedBeforeItIsStoppedAndThenSampled runs the command that the refusal prints.
func TestAHeapThatIsTooLargeIsRefusedBeforeItIsStoppedAndThenSampled(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	const n, limit = 600_000, "--max-memory=24MiB"
	pid := shapeOf(t, "tree", n)
	cmd := exec.Command(highwater(t), "heap", pid, limit, "--max-stop=1ns") // a stop would be too long
	text, err := cmd.CombinedOutput()
	hint := regexp.MustCompile(`highwater (heap ` + pid + ` --sample.*?) reads a random part`).FindStringSubmatch(string(text))
	if err == nil || cmd.ProcessState.ExitCode() != 1 || hint == nil {
		t.Fatalf("%v\n%s", cmd.ProcessState, text)
	}
	args := append(strings.Fields(hint[1]), "--json", "--max-stop=1m")[1:]
	text2, ans := askHeap(t, args...)
	if s := ans.Sample; s == nil || s.Objects == 0 || s.Objects > n/2 || len(ans.Holders) == 0 || ans.Holders[0].Error == nil {
		t.Fatal(text2)
	}
	whole, _ := askHeap(t, pid, "--max-stop=1m", "--json")
	var all heapJSON
	if err := json.Unmarshal([]byte(whole), &all); err != nil {
		t.Fatal(err)
	}
	got, want := ans.Holders[0], all.Holders[0]
	if off := max(got.Retained, want.Retained) - min(got.Retained, want.Retained); got.Path != want.Path || off > 2**got.Error+want.Retained/50 {
		t.Errorf("%s retains %d +- %d, of all objects %s %d", got.Path, got.Retained, *got.Error, want.Path, want.Retained)
	}
	if out, _ := askHeap(t, pid, "--sample", "--max-stop=1m"); !strings.Contains(out, "sampled ") || !strings.Contains(out, "±") || strings.Count(out, "\n") > 30 {
		t.Error(out)
	}
	for _, flag := range []string{"--strings", "--path=0xc000000000"} {
		if text, err := exec.Command(highwater(t), "heap", pid, "--sample", flag).CombinedOutput(); err == nil ||
			!strings.Contains(string(text), "neither --strings nor --path") {
			t.Errorf("%s: %s", flag, text)
		}
	}
}

func TestAnAnswerTakesNoMoreMemoryThanItMay(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	const ownMiB = 32 // the executable, and the garbage of a small heap
	for _, c := range []struct {
		shape   string
		n       int
		tooFew  int // MiB
		allowed int
	}{
		{"dense", 100_000, 150, 230}, // ten million pointers: a copy of 76 MiB, twice as much for them
		{"tree", 1_000_000, 50, 200},
		{"map", 300_000, 20, 150}, // of its bodies nothing is copied
	} {
		pid := shapeOf(t, c.shape, c.n)
		for _, limit := range []int{c.tooFew, c.allowed} {
			cmd := exec.Command(highwater(t), "heap", pid, "--max-stop=1m", fmt.Sprintf("--max-memory=%dMiB", limit))
			text, used, err := peakOf(t, cmd)
			if used > limit+ownMiB {
				t.Errorf("%s: %d MiB were used, %d MiB allowed", c.shape, used, limit)
			}
			if refused := limit == c.tooFew; refused != (err != nil) || refused && !strings.Contains(text, "more memory than it may") {
				t.Errorf("%s with %d MiB: %v\n%s", c.shape, limit, err, text)
			}
			t.Logf("%s: %d MiB allowed, %d MiB used", c.shape, limit, used)
		}
	}
}

// peakOf runs a command and gives what it prints, and its largest resident set in MiB, as
// far as that was seen. A resource usage has that of this process, too, from before execve.
func peakOf(t *testing.T, cmd *exec.Cmd) (text string, peak int, err error) {
	t.Helper()
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if peak == 0 {
				t.Error("its memory was never seen")
			}
			return out.String(), peak >> 10, err
		default:
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			if _, at, ok := strings.Cut(string(status), "VmHWM:"); ok {
				fmt.Sscan(at, &peak) // kB
			}
		}
	}
}

func TestWhoTracesAProgramAlreadyIsNamed(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	pid := shape(t, "map")
	path := filepath.Join(t.TempDir(), "watch.hwm")
	watch := launch(t, path, exec.Command(highwater(t), "watch", "-o", path, pid))
	watch.await(t, `^watching `)
	out, err := exec.Command(highwater(t), "heap", pid).CombinedOutput()
	if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() != 5 {
		t.Fatalf("heap of a watched program: %v\n%s", err, out)
	}
	if want := fmt.Sprintf("highwater (pid %d) already traces the process", watch.cmd.Process.Pid); !strings.Contains(string(out), want) ||
		!strings.Contains(string(out), "--no-stop") {
		t.Errorf("it does not say %q:\n%s", want, out)
	}
	watch.signal(t, os.Interrupt.(syscall.Signal))
	watch.end(t)
}
