package cli_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/corefile"
	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/goheap"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/gostats"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// waiting starts the program profiled, which has done its work when it says so.
func waiting(t *testing.T, program, dir string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program, "-wait", "-goroutines", "50")
	cmd.Env, cmd.Dir = append(os.Environ(), env...), dir
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == "ready" {
			return cmd
		}
	}
	t.Fatal("the program ended before it was ready")
	return nil
}

// reading is what package gomem says of one memory.
type reading struct {
	Figures    sample.Runtime
	Profile    sample.HeapProfile
	Buckets    []sample.Bucket
	Goroutines map[string]int // by state, reason and stack
	Ranges     []sample.PageRange
	Live       sample.Liveness
}

func readRuntime(t *testing.T, r *gomem.Runtime) (out reading) {
	t.Helper()
	stats := gostats.New(r)
	groups, err := stats.Goroutines()
	if err != nil {
		t.Fatal(err)
	}
	out.Goroutines = map[string]int{}
	for _, g := range groups {
		out.Goroutines[fmt.Sprint(g.State, g.Reason, g.Stack, g.Creator, g.StackBytes)] += g.Count
	}
	live, err := goheap.New(r).LiveObjects(t.Context(), stats)
	if err != nil {
		t.Fatal(err)
	}
	out.Live = *live
	out.Live.Took = 0
	if err := stats.Counters(&out.Figures); err != nil {
		t.Fatal(err)
	}
	if err := stats.Profile(&out.Profile); err != nil {
		t.Fatal(err)
	}
	out.Profile.At = out.Figures.LastGC
	out.Buckets = stats.Buckets(0)
	if out.Ranges, err = r.Ranges(nil); err != nil {
		t.Fatal(err)
	}
	return out
}

// attachCore opens a core file with its executable.
func attachCore(t *testing.T, path, exe string) (*corefile.Core, *gomem.Runtime) {
	t.Helper()
	core, err := corefile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { core.Close() })
	if verified, err := core.UseExecutable(exe); err != nil || !verified {
		t.Fatalf("verified %v, %v", verified, err)
	}
	bin := openBinary(t, exe)
	base, err := core.Base()
	if err != nil {
		t.Fatal(err)
	}
	r, err := gomem.Attach(core, bin, base-bin.Base())
	if err != nil {
		t.Fatal(err)
	}
	return core, r
}

func openBinary(t *testing.T, exe string) *gobin.Binary {
	t.Helper()
	bin, err := gobin.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bin.Close() })
	return bin
}

// A process that stands still, read live and from the core that gcore makes of it.
func TestACoreIsReadAsTheProcessThatItIsOf(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace, hwtest.Program("gcore"))
	exe, dir := hwtest.Build(t, "testdata/profiled", hwtest.BuildOptions{PIE: true}), t.TempDir()
	cmd := waiting(t, exe, dir)
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcore", "-o", filepath.Join(dir, "core"), fmt.Sprint(cmd.Process.Pid)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	core, fromCore := attachCore(t, filepath.Join(dir, fmt.Sprintf("core.%d", cmd.Process.Pid)), exe)
	if core.PID != cmd.Process.Pid || filepath.Base(core.ExecutablePath()) != "profiled" {
		t.Errorf("pid %d, executable %s", core.PID, core.ExecutablePath())
	}
	memory, err := procfs.OpenMemory("/proc", cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	base, err := core.Base() // the live process has the same mappings
	if err != nil {
		t.Fatal(err)
	}
	bin := openBinary(t, exe)
	live, err := gomem.Attach(memory, bin, base-bin.Base())
	if err != nil {
		t.Fatal(err)
	}
	want, got := readRuntime(t, live), readRuntime(t, fromCore)
	if len(want.Buckets) < 2 || want.Live.Bytes < 24<<20 || len(want.Goroutines) < 2 {
		t.Fatalf("little was read live: %d buckets, %d bytes, %d places", len(want.Buckets), want.Live.Bytes, len(want.Goroutines))
	}
	for i := range reflect.TypeFor[reading]().NumField() {
		w, g := reflect.ValueOf(want).Field(i).Interface(), reflect.ValueOf(got).Field(i).Interface()
		if !reflect.DeepEqual(w, g) {
			core, live := fmt.Sprint(g), fmt.Sprint(w)
			t.Errorf("%s:\n core %s\n live %s", reflect.TypeFor[reading]().Field(i).Name, core[:min(2000, len(core))], live[:min(2000, len(live))])
		}
	}
}

// The kernel's own core of a program that crashes: what it remembered is there.
func TestTheKernelsCoreIsReadToo(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, kernelWritesCores)
	exe, dir := hwtest.Build(t, "testdata/profiled", hwtest.BuildOptions{}), t.TempDir()
	cmd := waiting(t, exe, dir, "GOTRACEBACK=crash")
	unlimited := syscall.Rlimit{Cur: 1 << 40, Max: 1 << 40}
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(cmd.Process.Pid), syscall.RLIMIT_CORE, uintptr(unsafe.Pointer(&unlimited)), 0, 0,
		0); errno != 0 {
		t.Fatal(errno)
	}
	if err := cmd.Process.Signal(syscall.SIGABRT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed, as it must be
	files, err := filepath.Glob(filepath.Join(dir, "core*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("core files %v, %v", files, err)
	}
	core, runtime := attachCore(t, files[0], exe)
	if core.Signal != int(syscall.SIGABRT) || core.PID != cmd.Process.Pid {
		t.Errorf("signal %d of pid %d", core.Signal, core.PID)
	}
	got := readRuntime(t, runtime)
	if got.Live.Bytes < 24<<20 || got.Live.Bytes > 27<<20 || got.Figures.NumGC < 24 {
		t.Errorf("%d bytes live, %d collections", got.Live.Bytes, got.Figures.NumGC)
	}
	r, err := core.Residency(got.Ranges, true)
	if err != nil || r.GoObjects < 24<<20 || r.GoObjects > 40<<20 || r.Mmap > 2<<20 {
		t.Errorf("%+v, %v", r, err)
	}
}

// kernelWritesCores is an error unless cores go to files in the working directory.
func kernelWritesCores() error {
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil {
		return err
	}
	if p := strings.TrimSpace(string(pattern)); p != "core" && p != "core.%p" {
		return fmt.Errorf("needs a kernel that writes core files into the working directory: core_pattern is %q", p)
	}
	return nil
}
