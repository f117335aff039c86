package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/highwater-go/highwater/internal/answer/heapgrowth"
	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

func hoard(t *testing.T, o hwtest.BuildOptions) string {
	t.Helper()
	return hwtest.Build(t, filepath.Join("..", "measure", "heapgraph", "testdata", "hoard"), o)
}

// captures are all heap captures of a recording.
func captures(t *testing.T, path string) (all []*sample.HeapCapture) {
	t.Helper()
	r, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	list, err := r.Heaps()
	for _, h := range list {
		var c *sample.HeapCapture
		if c, err = r.Heap(h.ID); err != nil {
			break
		}
		all = append(all, c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func gaps(t *testing.T, path string) (all []sample.Gap) {
	t.Helper()
	r, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if all, err = r.Gaps(); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestTheHeapOfAKilledProgramSaysWhoHeldIt(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	for _, c := range []struct {
		name, kind, holder, allocated string
		build                         hwtest.BuildOptions
	}{
		{"map", "map", "main.sessions[].body", "main.newSession", hwtest.BuildOptions{}},
		{"goroutines", "goroutines", "goroutine main.add.gowrap1 in main.wait", "main.wait", hwtest.BuildOptions{}},
		{"stripped", "map", "a variable at 0x", "main.newSession", hwtest.BuildOptions{Strip: true, PIE: true}},
		{"go1.20", "map", "main.sessions[].body", "main.newSession", hwtest.BuildOptions{Toolchain: "go1.20.14"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := watch(t, "--limit", "64MiB", "--heap", "kill", "--", hoard(t, c.build), c.kind, "500")
			all := captures(t, s.recording)
			if len(all) != 1 || all[0].Reason != sample.HeapKill {
				t.Fatalf("captures %+v, gaps %v; the run said:\n%s", all, gaps(t, s.recording), s.progress)
			}
			got := all[0]
			if d := deathMoment(t, s.recording); d == nil {
				t.Error("the death was not seen")
			} else if live := d.Processes[0].Live; live == nil {
				t.Log("no time was left for the mark")
			} else if !alike(got.LiveBytes, live.Bytes) || !alike(got.LiveObjects, live.Objects) {
				t.Errorf("%d objects of %d bytes are live, the mark at the same instant found %d of %d", got.LiveObjects, got.LiveBytes, live.Objects, live.Bytes)
			}
			if typed := c.kind == "map"; typed && got.Untyped*20 > got.LiveBytes { // a buffer on the heap, held by a stack, has no type
				t.Errorf("of %d live bytes the type of %d is not known", got.LiveBytes, got.Untyped)
			}
			_, ans := askHeap(t, s.recording, "--json")
			if len(ans.Holders) == 0 || !strings.HasPrefix(ans.Holders[0].Path, c.holder) || ans.Holders[0].Retained*2 < ans.Live {
				t.Fatalf("holders %+v", ans.Holders)
			}
			if at := ans.Holders[0].Allocated; len(at) == 0 || at[0].Function != c.allocated {
				t.Errorf("allocated at %+v", at)
			}
			if text, _ := askHeap(t, s.recording+"@kill"); !strings.Contains(text, ans.Holders[0].Path) {
				t.Errorf("as text:\n%s", text)
			}
			sumsUp(t, s.recording, ans.Live)
		})
	}
}

// sumsUp checks that the holders' pprof file has as much as was live.
func sumsUp(t *testing.T, path string, live uint64) {
	t.Helper()
	out, err := exec.Command(highwater(t), "export", "--holders", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseData(out)
	if err != nil {
		t.Fatal(err)
	}
	sum := uint64(0)
	for _, s := range p.Sample {
		sum += uint64(s.Value[1])
	}
	if sum > live || sum*50 < live*49 {
		t.Errorf("the holders' file has %d bytes, %d were live", sum, live)
	}
}

// alike reports whether two figures are nearly the same. A mark that takes words of stacks and objects for pointers
// finds hardly more.
func alike[T ~uint64](a, b T) bool { return a*100 >= b*97 && b*100 >= a*97 }

func TestALeaksVerdictNamesItsHolder(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	s := watch(t, "--limit", "64MiB", "--heap", "kill", "--", hoard(t, hwtest.BuildOptions{}), "map", "150")
	a := s.answer(t, "")
	if a.Verdict.Class != explain.Leak || a.Verdict.Culprit == nil || a.Verdict.Culprit.Function != "main.newSession" {
		t.Fatalf("verdict %+v", a.Verdict)
	}
	h := a.Verdict.Culprit.HeldBy
	if h == nil || h.Path != "main.sessions" || h.Kind != "map" || h.Entries*1000 < uint64(h.Retained)*4/5 || h.Retained*2 < h.Live {
		t.Fatalf("held by %+v; gaps %v", h, a.Gaps)
	}
	if !strings.Contains(a.Verdict.Sentence, "is retained by main.sessions (map[string]*session, ") {
		t.Error(a.Verdict.Sentence)
	}
}

func TestAHeapIsCapturedAtPeaksWithinTheShareOfStops(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	s := watch(t, "--limit", "64MiB", "--heap", "peak", "--", hoard(t, hwtest.BuildOptions{}), "map", "100")
	all := captures(t, s.recording)
	if len(all) == 0 {
		t.Fatalf("nothing was captured; gaps %v", gaps(t, s.recording))
	}
	for i, c := range all {
		if c.Reason != sample.HeapPeak || c.Stopped <= 0 {
			t.Errorf("capture %d for %s, stopped for %s", i, c.Reason, c.Stopped)
		}
		if i > 0 && c.At.Sub(all[i-1].At) < 100*all[i-1].Stopped {
			t.Errorf("%s after a stop of %s", c.At.Sub(all[i-1].At), all[i-1].Stopped)
		}
	}
}

// hoarder is a hoard under a watch that captures every second.
type hoarder struct {
	*stranger
	t         *testing.T
	recording string
	watch     *exec.Cmd
	news      *bufio.Scanner
}

func startHoarder(t *testing.T, kind string) *hoarder {
	t.Helper()
	h := &hoarder{t: t, stranger: startStranger(t, exec.Command(hoard(t, hwtest.BuildOptions{}), kind))}
	h.lines.Scan()
	h.recording = filepath.Join(t.TempDir(), "hoard.hwm")
	h.watch = exec.Command(highwater(t), "watch", h.pid(), "--heap", "every=1s", "--enable-heap-profile", "-o", h.recording)
	out, err := h.watch.StderrPipe()
	if err == nil {
		err = h.watch.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.watch.Process.Kill(); h.watch.Wait() })
	h.news = bufio.NewScanner(out)
	return h
}

// add has the program keep more.
func (h *hoarder) add(n int) {
	h.t.Helper()
	fmt.Fprintln(h.in, n)
	if !h.lines.Scan() {
		h.t.Fatal("the program is gone")
	}
}

// captured waits for two captures: the first may have begun before.
func (h *hoarder) captured() {
	h.t.Helper()
	for range 2 {
		for {
			if !h.news.Scan() {
				h.t.Fatal("the watch has ended")
			}
			if strings.Contains(h.news.Text(), "captured the heap of") {
				break
			}
		}
	}
}

// end ends the watch.
func (h *hoarder) end() {
	h.t.Helper()
	h.watch.Process.Signal(os.Interrupt)
	for h.news.Scan() {
	}
	h.watch.Wait()
	if err := recording.Verify(h.recording); err != nil {
		h.t.Errorf("verify: %v", err)
	}
}

func TestWhatAProgramHoldsIsCapturedEverySecondAndCompared(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	h := startHoarder(t, "map")
	h.add(2000)
	h.captured()
	h.add(3000)
	h.captured()
	h.end()
	all := captures(t, h.recording)
	if len(all) < 4 {
		t.Fatalf("%d captures, gaps %v", len(all), gaps(t, h.recording))
	}
	// A body takes 1024 bytes. What is seen is what was held when it stood still.
	for i, want := range map[int]sample.Bytes{1: 2000 * 1024, len(all) - 1: 5000 * 1024} {
		if got := holderOf(all[i], "main.sessions[].body"); got != want {
			t.Errorf("capture %d: the bodies take %d bytes, want %d", i, got, want)
		}
		if got := holderOf(all[i], "main.table"); got < 200*4096 || got > 210*4096 {
			t.Errorf("capture %d: the table takes %d bytes", i, got)
		}
	}
	const bodies = "main.sessions[].body"
	h.grewAsCaptured(bodies, holderOf(all[len(all)-1], bodies)-holderOf(all[0], bodies))
}

// grewAsCaptured checks what is said to have grown from the first capture to the last.
func (h *hoarder) grewAsCaptured(path string, grown sample.Bytes) {
	h.t.Helper()
	var g heapgrowth.Growth
	out, err := exec.Command(highwater(h.t), "heap", h.recording, "--since", "first", "--json").Output()
	if err == nil {
		err = json.Unmarshal(out, &g)
	}
	if err != nil || g.Schema != heapgrowth.Schema || len(g.Grew) == 0 {
		h.t.Fatalf("%v\n%s", err, out)
	}
	if row := g.Grew[0]; row.Path != path || row.Change != grown || row.Steps < 1 || row.ChangeObjects != int64(grown/1024) {
		h.t.Errorf("first %+v, want %s by %d", row, path, grown)
	} else if len(row.Allocated) == 0 || row.Allocated[0].Function != "main.newSession" {
		h.t.Errorf("allocated at %+v", row.Allocated)
	}
	for _, row := range g.Grew {
		if strings.HasPrefix(row.Path, "main.table") {
			h.t.Errorf("what stayed as it was: %+v", row)
		}
	}
	text, err := exec.Command(highwater(h.t), "heap", h.recording, "--since", "first").Output()
	if err != nil || !strings.Contains(string(text), path) || strings.Count(string(text), "\n") > 30 {
		h.t.Errorf("%v\n%s", err, text)
	}
}

func holderOf(c *sample.HeapCapture, path string) sample.Bytes {
	for i := range c.Paths {
		if c.Path(i) == path {
			return c.Paths[i].Retained
		}
	}
	return 0
}

func TestAWishForHeapsThatIsNotUnderstoodIsRefused(t *testing.T) {
	t.Parallel()
	for _, wish := range []string{"always", "every=", "every=0s", "every=10ms", "every", "kill=1", "off,kill"} {
		cmd := exec.Command(highwater(t), "run", "--heap", wish, "--", "true")
		if text, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != 2 {
			t.Errorf("--heap %s ends with %v\n%s", wish, cmd.ProcessState, text)
		}
	}
}
