package cli_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/decide/explain"
)

// TestTenFaultsAreFoundBesideSomethingInnocent runs the programs of
// internal/aside/testprog/causes, which no rule was made for. On a busy machine the
// evidence may not decide: then the answer says so, and still no other class and no
// other line. The connections of bodies are made in net/http's
// goroutines, which is where its answer may point, or to the request whose answer is never closed. Whether a kill meets a program before or after
// a collection is chance: a false answer that is not given with high confidence may be asked for once more.
func TestTenFaultsAreFoundBesideSomethingInnocent(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	program := testprog(t, "causes")
	var undecided atomic.Int32
	t.Cleanup(func() {
		if n := undecided.Load(); n > 3 {
			t.Errorf("%d of 10 were not decided", n)
		}
	})
	for _, name := range []string{"substring", "defer", "context", "buffer", "append", "readall", "fanout", "stuck", "bodies", "regexp"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := truthOfFault(t, program, name)
			lasts := "1m" // for those that are killed in a few seconds; one that ends by itself is a job
			if name == "bodies" || name == "regexp" {
				lasts = "20s"
			}
			ask := func() explain.Answer {
				a := watch(t, "--limit", "256MiB", "--", program, "-fault", name, "-for", lasts).answer(t, "")
				t.Logf("%s, %s: %s", a.Verdict.Class, a.Verdict.Confidence, a.Verdict.Sentence)
				return a
			}
			a := ask()
			if c := a.Verdict.Class; string(c) != want.Class && c != explain.Inconclusive && a.Verdict.Confidence != explain.High {
				a = ask()
			}
			if a.Outcome.Kernel { // one that lives goes on allocating while it is read
				closes(t, a)
			}
			if a.Verdict.Class == explain.Inconclusive {
				undecided.Add(1)
				return
			}
			if string(a.Verdict.Class) != want.Class {
				t.Errorf("verdict %s, want %s", a.Verdict.Class, want.Class)
			}
			if want.Line != 0 {
				checkCulprit(t, a, want)
			} else if c := a.Verdict.Culprit; c != nil && !c.Hint && c.Function != "main.bodies" && !strings.HasPrefix(c.Function, "net/http.") {
				t.Errorf("culprit %+v, want the request or one of net/http", c)
			}
		})
	}
}

// TestHeapThatGoFreedIsNamedWhereAnotherProcessNeedsIt runs one that is killed while next
// to nothing of its memory is live: an index was freed, and the program that it starts
// needs the memory before Go has given it back.
func TestHeapThatGoFreedIsNamedWhereAnotherProcessNeedsIt(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	program := testprog(t, "causes")
	s := watch(t, "--limit", "256MiB", "--", program, "-fault", "freed", "-for", "1m")
	a := s.answer(t, "")
	closes(t, a)
	if want := truthOfFault(t, program, "freed"); !a.Outcome.Kernel || string(a.Verdict.Class) != want.Class || a.Verdict.Culprit != nil {
		t.Fatalf("killed %v, verdict %s, culprit %+v, want a kill and %s: %s", a.Outcome.Kernel, a.Verdict.Class, a.Verdict.Culprit, want.Class, a.Verdict.Sentence)
	}
	if fix := a.Fixes[0]; !strings.Contains(fix.Text, "debug.FreeOSMemory()") {
		t.Errorf("the first fix is %q", fix.Text)
	}
}

// truthOfFault asks the program what is true of one of its faults.
func truthOfFault(t *testing.T, program, name string) (want truth) {
	t.Helper()
	out, err := exec.Command(program, "-fault", name, "-truth").Output()
	if err == nil {
		err = json.Unmarshal(out, &want)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return want
}
