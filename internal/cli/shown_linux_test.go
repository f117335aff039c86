package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/aside/thirdparty"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// limit is what the programs of known memory are built to meet.
const limit = 256 * sample.MiB

// truth is what a program of known memory prints of itself.
type truth struct {
	Class, Function, File string
	Line                  int
	LiveBytes             int64 `json:"live_bytes"`
}

// shown is one run of a program and what highwater says of it.
type shown struct {
	recording string
	code      int
	progress  string
}

// watch runs a program under highwater and checks the recording.
func watch(t *testing.T, args ...string) shown {
	t.Helper()
	s := shown{recording: filepath.Join(t.TempDir(), "shown.hwm")}
	cmd := exec.Command(highwater(t), append([]string{"run", "-q", "-o", s.recording}, args...)...)
	cmd.Dir = t.TempDir() // what a killed program leaves there goes with it
	var progress strings.Builder
	cmd.Stdout, cmd.Stderr = &progress, &progress
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	s.code, s.progress = cmd.ProcessState.ExitCode(), progress.String()
	t.Cleanup(func() {
		if err := recording.Verify(s.recording); err != nil {
			t.Errorf("verify: %v", err)
		}
		if t.Failed() {
			out, _ := exec.Command(highwater(t), "explain", "--evidence", "all", s.recording).CombinedOutput()
			t.Logf("the run said:\n%s\nexplain says:\n%s", s.progress, out)
		}
	})
	return s
}

// answer is explain --json at a moment ("": its own choice), with flags.
func (s shown) answer(t *testing.T, at string, flags ...string) explain.Answer {
	t.Helper()
	args := append([]string{"explain", "--json", s.recording}, flags...)
	if at != "" {
		args = append(args, "--at", at)
	}
	out, err := exec.Command(highwater(t), args...).Output()
	var a explain.Answer
	if jsonErr := json.Unmarshal(out, &a); jsonErr != nil {
		t.Fatalf("explain %q: %v, %v; the run said:\n%s", at, err, jsonErr, s.progress)
	}
	return a
}

// closes checks that the ledger adds up to the kernel's charge and that what it
// leaves unexplained is at most 2 % of it.
func closes(t *testing.T, a explain.Answer) {
	t.Helper()
	l := a.Ledger
	sum := l.UnexplainedBytes
	for _, r := range l.Rows {
		sum += int64(r.Bytes)
	}
	if !l.OfCgroup || sum != int64(l.TotalBytes) {
		t.Errorf("at the %s the ledger's rows and the rest make %d, its total is %d", a.Outcome.Moment, sum, l.TotalBytes)
	}
	if rest := max(l.UnexplainedBytes, -l.UnexplainedBytes); rest*50 > int64(l.TotalBytes) {
		t.Errorf("at the %s %d of %d bytes are unexplained:\n%+v", a.Outcome.Moment, l.UnexplainedBytes, l.TotalBytes, l.Rows)
	}
	t.Logf("%s: charge %d, unexplained %d", a.Outcome.Moment, l.TotalBytes, l.UnexplainedBytes)
}

func highwater(t *testing.T) string {
	t.Helper()
	return hwtest.Build(t, "../../cmd/highwater", hwtest.BuildOptions{})
}

func testprog(t *testing.T, name string) string {
	t.Helper()
	return hwtest.Build(t, "../aside/testprog/"+name, hwtest.BuildOptions{CGO: name == "cgoleak" || name == "cgofrag" || name == "lockedthreads" ||
		name == "cgothreads"})
}

func TestProgramsOfKnownMemoryGetTheirVerdict(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	for _, c := range []struct {
		name   string
		args   []string
		class  explain.Class
		killed bool
	}{
		{"leak", nil, explain.Leak, true},
		{"burst", nil, explain.Burst, true},
		{"garbage", nil, explain.GCUnaware, true},
		{"cgoleak", nil, explain.Native, true},
		{"mmapper", nil, explain.Native, true},
		{"mmapper", []string{"-shared"}, explain.Shmem, true},
		{"goroutines", nil, explain.Goroutines, true},
		{"recursion", nil, explain.Burst, true},
		{"filewriter", nil, explain.PageCache, false},
		{"steady", nil, explain.Healthy, false},
	} {
		t.Run(strings.Join(append([]string{c.name}, c.args...), " "), func(t *testing.T) {
			t.Parallel()
			program := testprog(t, c.name)
			s := watch(t, append([]string{"--limit", fmt.Sprint(uint64(limit)), "--", program}, c.args...)...)
			a := s.answer(t, "")
			if a.Verdict.Class != c.class {
				t.Errorf("verdict %s: %s\nwant %s", a.Verdict.Class, a.Verdict.Sentence, c.class)
			}
			if got := a.Outcome.By == explain.ByCgroup; got != c.killed {
				t.Errorf("outcome %s by %s, want killed %v", a.Outcome.State, a.Outcome.By, c.killed)
			}
			if want := map[bool]int{true: 137, false: 0}[c.killed]; s.code != want {
				t.Errorf("exit code %d, want %d", s.code, want)
			}
			checkCulprit(t, a, truthOf(t, program))
			closes(t, a)
			if c.killed {
				closes(t, s.answer(t, "peak"))
			}
		})
	}
}

// truthOf asks a program of known memory.
func truthOf(t *testing.T, program string) truth {
	t.Helper()
	out, err := exec.Command(program, "-truth").Output()
	var want truth
	if err == nil {
		err = json.Unmarshal(out, &want)
	}
	if err != nil {
		t.Fatalf("%s -truth: %v", program, err)
	}
	return want
}

// checkCulprit compares the line to blame with the one that the program marks.
func checkCulprit(t *testing.T, a explain.Answer, want truth) {
	t.Helper()
	if want.Line == 0 {
		return
	}
	c := a.Verdict.Culprit
	if c == nil || c.Function != want.Function || c.File != want.File || c.Line != want.Line {
		t.Errorf("culprit %+v, want %s at %s:%d", c, want.Function, want.File, want.Line)
		return
	}
	if low := want.LiveBytes / 2; want.LiveBytes <= int64(limit) && int64(c.Bytes) < low {
		t.Errorf("the culprit holds %d bytes, want most of %d", c.Bytes, want.LiveBytes)
	}
}

func TestSeveralProcessesAreToldApart(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	for _, shell := range []bool{false, true} {
		t.Run(fmt.Sprintf("processes, shell %v", shell), func(t *testing.T) {
			s := watch(t, "--limit", "256MiB", "--", testprog(t, "processes"), fmt.Sprintf("-shell=%v", shell), "-leak", "2")
			a := s.answer(t, "")
			closes(t, a)
			closes(t, s.answer(t, "peak"))
			if n := len(a.Program.Processes); n < 4 {
				t.Errorf("%d processes at the kill, want the parent and its three children", n)
			}
			// On a busy machine too few moments may show the goroutines' stacks to
			// exclude one long call; then the answer says so, and never another class.
			if c := a.Verdict.Class; c != explain.Leak && c != explain.Inconclusive ||
				!strings.Contains(a.Verdict.Sentence, fmt.Sprintf("processes (pid %d)", a.Program.PID)) {
				t.Errorf("verdict %s: %s; one child leaks", a.Verdict.Class, a.Verdict.Sentence)
			}
			if len(a.Holders) == 0 || !strings.HasSuffix(a.Holders[0].File, "processes/main.go") {
				t.Errorf("holders %+v, want the child's line first", a.Holders)
			}
			if p := a.Program.Processes[0]; !p.Subject || !strings.Contains(p.Args, "-leak 1") {
				t.Errorf("the largest process is %+v, want the child that leaks", p)
			}
		})
	}
}

// Children that are started one after another and do not end fill a limit that each of them fits.
func TestProcessesThatPileUpAreTold(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	sizes := strings.TrimSuffix(strings.Repeat("12MiB,", 20), ",")
	a := watch(t, "--limit", "128MiB", "--", testprog(t, "processes"), "-sizes", sizes, "-every", "300ms", "-for", "7s").answer(t, "")
	closes(t, a)
	if !a.Outcome.Kernel || a.Verdict.Class != explain.Processes || !strings.Contains(a.Verdict.Sentence, "processes of processes -child") {
		t.Errorf("%s: %s", a.Verdict.Class, a.Verdict.Sentence)
	}
}

// TestProgramsNobodyHereWrote builds two servers from their public modules and
// drives each into its limit.
func TestProgramsNobodyHereWrote(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	load := hwtest.Build(t, "../aside/thirdparty/load", hwtest.BuildOptions{})
	for _, server := range thirdparty.All() {
		t.Run(server.Name, func(t *testing.T) {
			dir := thirdPartyDir(t, server.Name)
			program, err := server.Build(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			a := killed(t, server, program, load)
			// It dies within seconds, and on a busy machine too little may be seen until then.
			for range 2 {
				if string(a.Verdict.Class) == server.Truth.Class {
					break
				}
				t.Logf("once more: verdict %s: %s", a.Verdict.Class, a.Verdict.Sentence)
				a = killed(t, server, program, load)
			}
			if string(a.Verdict.Class) != server.Truth.Class {
				t.Errorf("verdict %s: %s\nwant %s", a.Verdict.Class, a.Verdict.Sentence, server.Truth.Class)
			}
			closes(t, a)
			checkThirdParty(t, a, server, dir)
		})
	}
}

// killed drives a server into its limit, and is the answer about its kill.
func killed(t *testing.T, server thirdparty.Server, program, load string) explain.Answer {
	t.Helper()
	port, err := thirdparty.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--limit", "256MiB", "--ready", fmt.Sprint(port), "--load", fmt.Sprintf("%s %s 127.0.0.1:%d", load, server.Name, port), "--", program}
	s := watch(t, append(args, server.Args(t.TempDir(), port)...)...)
	a := s.answer(t, "")
	if a.Outcome.By != explain.ByCgroup || s.code != 137 {
		t.Fatalf("outcome %+v, code %d; want a kill by the limit:\n%s", a.Outcome, s.code, s.progress)
	}
	return a
}

// thirdPartyDir is where a server's module is prepared, kept between runs.
func thirdPartyDir(t *testing.T, name string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "highwater-test", "thirdparty", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func checkThirdParty(t *testing.T, a explain.Answer, server thirdparty.Server, dir string) {
	t.Helper()
	line, err := server.Line(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range a.Holders {
		if h.Function == server.Truth.Function && strings.HasSuffix(h.File, server.Truth.FileSuffix) && h.Line == line {
			t.Logf("holder %d of %d: %d bytes", i+1, len(a.Holders), h.Bytes)
			return
		}
	}
	t.Errorf("no holder at %s, %s:%d; there are %+v", server.Truth.Function, server.Truth.FileSuffix, line, a.Holders)
}

// Every death is caught and read as a whole.
func TestTwentyKillsAtFullSpeedAreHeld(t *testing.T) {
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	program := testprog(t, "leak")
	for i := range 20 {
		s := watch(t, "--limit", "256MiB", "--", program, "-rate", "0")
		m := deathMoment(t, s.recording)
		if m == nil || len(m.Processes) == 0 {
			t.Errorf("kill %d: no death was held: %+v", i+1, m)
			continue
		}
		p := m.Processes[0]
		if p.Signal != 9 || p.Incomplete != "" || p.Go == nil || p.Residency == nil || p.Profile == nil || p.Live == nil {
			t.Errorf("kill %d: incomplete %q; figures %v, pages %v, profile %v, mark %v", i+1, p.Incomplete, p.Go != nil, p.Residency != nil, p.Profile != nil,
				p.Live != nil)
		}
		closes(t, s.answer(t, "kill"))
	}
}

// deathMoment is the moment of a process's end in a recording, nil if none was
// kept.
func deathMoment(t *testing.T, path string) *sample.Moment {
	t.Helper()
	r, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	moments, err := r.Moments()
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range moments {
		if info.Kind == sample.MomentDeath {
			m, err := r.Moment(info.ID)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
	}
	return nil
}
