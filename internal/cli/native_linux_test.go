package cli_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// part is the bytes of a part of a row.
func part(a explain.Answer, row, name string) sample.Bytes {
	for _, r := range a.Ledger.Rows {
		for _, p := range r.Parts {
			if r.Name == row && p.Name == name {
				return p.Bytes
			}
		}
	}
	return 0
}

// Eight threads, one after the other, fill 50 MB and free all but one of sixteen blocks. In arenas of
// their own they need 400 MB, in one 70.
func TestFragmentationIsToldAndItsFixProved(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	s := watch(t, "--keep-args", "--limit", "256MiB", "--", testprog(t, "cgofrag"), "-threads", "8", "-blocks", "50000", "-for", "2s")
	a := s.answer(t, "")
	closes(t, a)
	if a.Verdict.Class != explain.Fragmented || s.code != 137 {
		t.Fatalf("code %d, %s: %s", s.code, a.Verdict.Class, a.Verdict.Sentence)
	}
	if kept := part(a, sample.RowNative, explain.PartKept); kept < 128*sample.MiB {
		t.Errorf("%d free inside malloc: %+v", kept, a.Ledger.Rows)
	}
	out, _ := exec.Command(highwater(t), "try", s.recording, "--runs", "2", "-o", filepath.Join(t.TempDir(), "kept")).CombinedOutput()
	if !strings.Contains(string(out), "proved: 2 of 2 survived") {
		t.Errorf("try said:\n%s", out)
	}
	proved := func(f explain.Fix) bool { return f.Setting == "MALLOC_ARENA_MAX=1" && f.State == explain.Proved }
	if a := s.answer(t, ""); !slices.ContainsFunc(a.Fixes, proved) {
		t.Errorf("fixes %+v", a.Fixes)
	}
}

// wholly is what is to be kept, less what a busy machine left no time to read, which the answer has to say.
func wholly(a explain.Answer, kept sample.Bytes) sample.Bytes {
	for _, f := range a.Evidence {
		if _, ofMalloc := f.Values["kept_bytes"]; ofMalloc {
			return kept - sample.Bytes(f.Values["unread_bytes"])
		}
	}
	return kept
}

func TestOneBlockOfSixteenKeptIsNoLeak(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	a := watch(t, "--limit", "512MiB", "--", testprog(t, "cgofrag"), "-for", "4s").answer(t, "")
	closes(t, a)
	kept, inUse := part(a, sample.RowNative, explain.PartKept), part(a, sample.RowNative, explain.PartInUse)
	// 9,375 blocks of 1,008 bytes are kept, 140,625 were freed.
	if a.Verdict.Class != explain.Fragmented || inUse > 12*sample.MiB || kept < wholly(a, 120*sample.MiB) {
		t.Errorf("%s: %d in use, %d kept", a.Verdict.Class, inUse, kept)
	}
}

func TestALeakOfCNamesTheSizeOfItsBlocks(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	a := watch(t, "--limit", "128MiB", "--", testprog(t, "cgoleak"), "-piece", "20000").answer(t, "")
	named := func(w explain.Why) bool { return strings.Contains(w.Text, "blocks of 20,016 bytes") }
	if a.Verdict.Class != explain.Native || !slices.ContainsFunc(a.Verdict.Why, named) {
		t.Errorf("%s: %+v", a.Verdict.Class, a.Verdict.Why)
	}
}

func TestThreadsOfLockedGoroutinesAreNamedWithTheirLine(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	program := testprog(t, "lockedthreads")
	a := watch(t, "--limit", "512MiB", "--", program, "-for", "4s").answer(t, "")
	checkCulprit(t, a, truthOf(t, program))
	if a.Verdict.Class != explain.Goroutines || len(a.Verdict.Why) == 0 || !strings.Contains(a.Verdict.Why[0].Text, "locked to a thread") {
		t.Errorf("%s: %s %+v", a.Verdict.Class, a.Verdict.Sentence, a.Verdict.Why)
	}
	stacks, tables := part(a, sample.RowKernel, explain.PartKernelStacks), part(a, sample.RowKernel, explain.PartPageTables)
	if stacks < 31*sample.MiB || tables < 4*sample.MiB || part(a, sample.RowNative, explain.PartCStacks) < 8*sample.MiB {
		t.Errorf("%+v", a.Ledger.Rows)
	}
}

func TestACoreTellsFragmentationToo(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace, hwtest.Program("gcore"))
	dir := t.TempDir()
	cmd := exec.Command(testprog(t, "cgofrag"))
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "freed\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if out, err := exec.Command("gcore", "-o", filepath.Join(dir, "core"), fmt.Sprint(cmd.Process.Pid)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := shown{recording: filepath.Join(dir, "core.hwm")}
	if out, err := exec.Command(highwater(t), "import", "-o", s.recording,
		filepath.Join(dir, fmt.Sprintf("core.%d", cmd.Process.Pid))).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	a := s.answer(t, "")
	kept, inUse := part(a, sample.RowNative, explain.PartKept), part(a, sample.RowNative, explain.PartInUse)
	if a.Verdict.Class != explain.Fragmented || inUse > 12*sample.MiB || kept < wholly(a, 120*sample.MiB) {
		t.Errorf("%s: %s\n%d in use, %d kept", a.Verdict.Class, a.Verdict.Sentence, inUse, kept)
	}
}

func TestFragmentationOfAProgramInCIsTold(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace, hwtest.Program("gcc"))
	program := filepath.Join(t.TempDir(), "frag")
	if out, err := exec.Command("gcc", "-O1", "-fno-builtin", "-o", program, "testdata/native/frag.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	a := watch(t, "--limit", "512MiB", "--", program).answer(t, "")
	kept, inUse := part(a, sample.RowNative, explain.PartKept), part(a, sample.RowNative, explain.PartInUse)
	if a.Verdict.Class != explain.Fragmented || inUse > 12*sample.MiB || kept < wholly(a, 120*sample.MiB) || len(a.WontHelp) > 0 {
		t.Errorf("%s: %d in use, %d kept; won't help %v", a.Verdict.Class, inUse, kept, a.WontHelp)
	}
}

// What malloc says of itself, and threads, need no right but to watch one's own program: no root, no capability, no cgroup.
func TestFragmentationAndThreadsAreToldWithoutAnyRight(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Ptrace, hwtest.Program("setpriv"))
	dir := open(t)
	hw := copied(t, highwater(t), dir, 0o755)
	as := func(program string, args ...string) explain.Answer {
		path := filepath.Join(open(t), "r.hwm")
		flags := []string{"--reuid=65533", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all", hw}
		for _, command := range [][]string{append([]string{"run", "-q", "-o", path, "--", copied(t, testprog(t, program), dir, 0o755)}, args...), {"explain", path}} {
			cmd := exec.Command("setpriv", append(slices.Clone(flags), command...)...)
			cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+open(t))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", command, err, out)
			}
		}
		return shown{recording: path}.answer(t, "")
	}
	a := as("cgofrag", "-for", "5s") // it frees within 2 s, and a busy machine takes longer
	if kept := part(a, sample.RowNative, explain.PartKept); a.Verdict.Class != explain.Fragmented || kept < wholly(a, 120*sample.MiB) {
		t.Errorf("%s: %s\n%d kept", a.Verdict.Class, a.Verdict.Sentence, kept)
	}
	if !slices.ContainsFunc(a.Gaps, func(g explain.Gap) bool { return g.What == sample.GapFaults && strings.HasPrefix(g.Why, "needs root") }) {
		t.Errorf("what was not seen: %+v", a.Gaps)
	}
	if a := as("lockedthreads", "-n", "500", "-for", "3s"); part(a, sample.RowNative, explain.PartCStacks) < 2*sample.MiB {
		t.Errorf("500 stacks of C are not told: %+v", a.Ledger.Rows)
	}
}
