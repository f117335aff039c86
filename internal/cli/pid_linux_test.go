package cli_test

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/decide/explain"
)

// One of two programs is killed; each is asked for.
func TestEachOfSeveralProcessesCanBeAskedFor(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	s := watch(t, "--limit", "256MiB", "--", "sh", "-c", testprog(t, "steady")+" -live 24MiB -for 20s & "+testprog(t, "leak")+"; kill $!; wait")
	whole := s.answer(t, "")
	if whole.Program.Name != "leak" || len(whole.Program.Processes) < 2 {
		t.Fatalf("the answer is about %s of %+v", whole.Program.Name, whole.Program.Processes)
	}
	for _, p := range whole.Program.Processes {
		if p.Name != "leak" && p.Name != "steady" {
			continue // the shell
		}
		pid := strconv.Itoa(p.PID)
		a := s.answer(t, "", "--pid", pid)
		if a.Program.Name != p.Name || a.Outcome.Kernel != (p.Name == "leak") {
			t.Errorf("--pid %s: %s, %+v", pid, a.Program.Name, a.Outcome)
		}
		if len(a.Holders) == 0 || !strings.HasSuffix(a.Holders[0].File, p.Name+"/main.go") {
			t.Errorf("--pid %s, %s: held by %+v", pid, p.Name, a.Holders)
		}
		if p.Name == "steady" && (a.Verdict.Class == explain.Leak || a.Outcome.Moment != "peak") {
			t.Errorf("%s at the %s: %s", a.Verdict.Class, a.Outcome.Moment, a.Verdict.Sentence)
		}
		out, err := exec.Command(highwater(t), "diff", s.recording, "--from", "1s", "--pid", pid).CombinedOutput()
		if err != nil || !strings.Contains(string(out), p.Name+", pid "+pid) {
			t.Errorf("diff --pid %s: %v\n%s", pid, err, out)
		}
	}
	out, err := exec.Command(highwater(t), "explain", s.recording, "--pid", "1").CombinedOutput()
	if code := err.(*exec.ExitError).ExitCode(); code != 2 || !strings.Contains(string(out), "no process 1 is in the recording; recorded: ") {
		t.Errorf("code %d: %s", code, out)
	}
}
