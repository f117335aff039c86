package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/words/sample"
)

func retainers(t *testing.T, o hwtest.BuildOptions) string {
	t.Helper()
	return hwtest.Build(t, filepath.Join("..", "measure", "heapgraph", "testdata", "retainers"), o)
}

// reasons is how many captures of a recording were made why.
func reasons(all []*sample.HeapCapture) map[sample.HeapReason]int {
	n := make(map[sample.HeapReason]int)
	for _, c := range all {
		n[c.Reason]++
	}
	return n
}

// watchEnd runs a program whose end is to be captured. What nobody asked for has little time,
// which on a busy machine may not do: then a gap says so, and it is tried again.
func watchEnd(t *testing.T, reason sample.HeapReason, args ...string) shown {
	t.Helper()
	var s shown
	for range 4 {
		s = watch(t, args...)
		if reasons(captures(t, s.recording))[reason] > 0 {
			return s
		}
		t.Logf("not captured: %+v", gaps(t, s.recording))
	}
	t.Fatalf("the heap was never captured; the last run said:\n%s", s.progress)
	return s
}

// isSilentOnHeaps checks that nothing was said of captures that nobody asked for.
func isSilentOnHeaps(t *testing.T, progress string) {
	t.Helper()
	if strings.Contains(progress, "captured") || strings.Contains(progress, "heap of") {
		t.Errorf("the run said:\n%s", progress)
	}
}

func TestAKilledProgramsHeapIsCapturedThoughNobodyAsked(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	s := watchEnd(t, sample.HeapKill, "--limit", "64MiB", "--", hoard(t, hwtest.BuildOptions{}), "map", "500")
	all := captures(t, s.recording)
	if n := reasons(all); n[sample.HeapKill] != 1 || n[sample.HeapExit] != 0 {
		t.Fatalf("captures %v, gaps %v", n, gaps(t, s.recording))
	}
	isSilentOnHeaps(t, s.progress)
	_, ans := askHeap(t, s.recording, "--json")
	if len(ans.Holders) == 0 || !strings.HasPrefix(ans.Holders[0].Name, "main.sessions map[string]*session, ") || ans.Holders[0].Root != "global" {
		t.Errorf("holders %+v", ans.Holders)
	}
	if len(ans.Collections) == 0 || ans.Collections[0].Name != "main.sessions" || ans.Collections[0].Entries < 1000 {
		t.Errorf("collections %+v", ans.Collections)
	}
	for _, c := range all {
		if c.Reason == sample.HeapPeak && c.Stopped > 100*time.Millisecond {
			t.Errorf("it was paused for %s at a peak", c.Stopped)
		}
	}
}

func TestAProgramThatEndsByItselfIsCapturedAtItsExit(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	for _, strip := range []bool{false, true} {
		s := watchEnd(t, sample.HeapExit, "--", retainers(t, hwtest.BuildOptions{Strip: strip}), "mux", "20000")
		if n := reasons(captures(t, s.recording)); n[sample.HeapExit] != 1 || n[sample.HeapKill] != 0 {
			t.Fatalf("captures %v, gaps %v", n, gaps(t, s.recording))
		}
		isSilentOnHeaps(t, s.progress)
		_, ans := askHeap(t, s.recording, "--at", "last", "--json")
		if len(ans.Holders) == 0 ||
			!strings.HasPrefix(ans.Holders[0].Name, "(*store).sessions map[string]*session, 20,000 entries [main.(*store).login, registered in ") {
			t.Errorf("stripped %v: holders %+v", strip, ans.Holders)
		}
	}
}

func TestASmallHeapAndOneThatNobodyWantsAreNotCaptured(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	for _, args := range [][]string{
		{"--", retainers(t, hwtest.BuildOptions{}), "slice", "10"},
		{"--heap", "off", "--", retainers(t, hwtest.BuildOptions{}), "mux", "20000"},
	} {
		s := watch(t, args...)
		if all := captures(t, s.recording); len(all) > 0 {
			t.Errorf("%v: %v", args[0], reasons(all))
		}
		for _, g := range gaps(t, s.recording) {
			if strings.HasPrefix(g.What, "what retains the heap of") {
				t.Errorf("%v: a gap %+v", args[0], g)
			}
		}
	}
}

// A program that is asked to end cleans up, or returns from main: what it held must be captured before.
func TestAProgramThatIsToEndIsCapturedBeforehand(t *testing.T) {
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	t.Setenv("GODEBUG", "memprofilerate=8192") // a few MiB are enough samples then
	for range 4 {
		s := watch(t, "--for", "900ms", "--", hoard(t, hwtest.BuildOptions{}), "map", "50")
		all := captures(t, s.recording)
		if len(all) == 0 || all[len(all)-1].Reason != sample.HeapEvery && (len(all) < 2 || all[len(all)-2].Reason != sample.HeapEvery) {
			t.Logf("captures %v, gaps %+v", reasons(all), gaps(t, s.recording)) // the machine was busy
			continue
		}
		for _, c := range all {
			if c.Reason == sample.HeapEvery && (len(c.Lines) == 0 || !strings.HasPrefix(c.Lines[0].At.Func, "main.") || 2*c.Lines[0].Bytes < c.LiveBytes) {
				t.Errorf("of %d live bytes the lines are %+v", c.LiveBytes, c.Lines)
			}
		}
		return
	}
	t.Error("the heap was never captured before its program was asked to end")
}
