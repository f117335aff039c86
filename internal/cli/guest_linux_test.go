package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// guestCase is a program that highwater runs in a guest.
type guestCase struct {
	program string
	args    []string
	class   explain.Class
	by      string
	code    int
}

// The guest's kernel has cgroup version 2.
func TestUnderCgroupVersion2(t *testing.T) {
	t.Parallel()
	hwtest.LeftToMatrix(t, "runs two programs under cgroup version 2, as services of systemd and containers do in other tests")
	runInGuest(t, hwtest.Guest{Disk: 256 * sample.MiB}, hwtest.BuildOptions{}, []guestCase{
		{"leak", []string{"-rate", "8MiB"}, explain.Leak, string(explain.ByCgroup), 137},
		{"filewriter", []string{"-size", "160MiB", "-dir", "/disk"}, explain.PageCache, "none", 0},
	})
}

// The guest's processor is another.
func TestOnArm64(t *testing.T) {
	t.Parallel()
	arm := []string{"GOARCH=arm64"}
	leak := guestCase{"leak", []string{"-rate", "8MiB"}, explain.Leak, string(explain.ByCgroup), 137}
	runInGuest(t, hwtest.Guest{Arch: "arm64", Timeout: 6 * time.Minute}, hwtest.BuildOptions{Env: arm}, []guestCase{leak})
	t.Run("stripped", func(t *testing.T) {
		hwtest.LeftToMatrix(t, "boots a second emulated machine, for a stripped program and one that is healthy")
		steady := guestCase{"steady", []string{"-live", "20MiB", "-for", "8s"}, explain.Healthy, "none", 0}
		runInGuest(t, hwtest.Guest{Arch: "arm64", Timeout: 6 * time.Minute}, hwtest.BuildOptions{Env: arm, Strip: true}, []guestCase{leak, steady})
	})
}

// What native memory lacks on arm64 is said: no line of it is known, and no probes are set.
func TestWhatNativeMemoryLacksOnArm64IsSaid(t *testing.T) {
	t.Parallel()
	hwtest.LeftToMatrix(t, "boots a third emulated machine")
	arm := hwtest.BuildOptions{Env: []string{"GOARCH=arm64"}}
	r := hwtest.Guest{
		Arch: "arm64", Timeout: 8 * time.Minute,
		Files: map[string]string{"/bin/highwater": hwtest.Build(t, "../../cmd/highwater", arm), "/bin/mmapper": hwtest.Build(t, "../aside/testprog/mmapper", arm)},
		Cmds: [][]string{
			{"/bin/highwater", "doctor"},
			{"/bin/highwater", "run", "--native=live", "--", "/bin/mmapper"},
			{"/bin/highwater", "run", "--limit", "64MiB", "--", "/bin/mmapper"},
		},
	}.Run(t)
	const why = "linux/amd64 alone, and this is linux/arm64"
	for i, want := range []struct {
		code int
		said []string
	}{
		{0, []string{"which lines make memory grow (page faults)", "page faults are sampled on " + why}},
		{0, []string{"the program is watched without it", "--native=live: allocations of C are sampled on " + why}},
		{137, []string{"Native memory", "which lines of Go made native memory grow: page faults are sampled on " + why}},
	} {
		text := strings.Join(strings.Fields(r.Cmds[i].Output), " ")
		t.Logf("command %d ended with %d:\n%s", i, r.Cmds[i].Code, r.Cmds[i].Output)
		for _, said := range want.said {
			if r.Cmds[i].Code != want.code || !strings.Contains(text, said) {
				t.Errorf("command %d ended with %d, want %d and %q", i, r.Cmds[i].Code, want.code, said)
			}
		}
	}
}

// runInGuest runs the programs one after the other, and explains the recordings
// here.
func runInGuest(t *testing.T, g hwtest.Guest, o hwtest.BuildOptions, cases []guestCase) {
	t.Helper()
	if testing.Short() {
		t.Skip("boots a kernel")
	}
	g.Files = map[string]string{"/bin/highwater": hwtest.Build(t, "../../cmd/highwater", hwtest.BuildOptions{Env: o.Env})}
	for _, c := range cases {
		kept := "/tmp/" + c.program + ".hwm"
		g.Files["/bin/"+c.program] = hwtest.Build(t, "../aside/testprog/"+c.program, o)
		run := []string{"/bin/highwater", "run", "-q", "--limit", "64MiB", "-o", kept, "--", "/bin/" + c.program}
		g.Cmds = append(g.Cmds, append(run, c.args...))
		g.Fetch = append(g.Fetch, kept)
	}
	r := g.Run(t)
	for i, c := range cases {
		t.Run(c.program, func(t *testing.T) {
			if got := r.Cmds[i]; got.Code != c.code {
				t.Errorf("code %d, want %d:\n%s", got.Code, c.code, got.Output)
			}
			s := shown{recording: filepath.Join(t.TempDir(), c.program+".hwm"), progress: r.Cmds[i].Output}
			if err := os.WriteFile(s.recording, r.Files[g.Fetch[i]], 0o644); err != nil {
				t.Fatal(err)
			}
			if err := recording.Verify(s.recording); err != nil {
				t.Errorf("verify: %v", err)
			}
			a := s.answer(t, "")
			// The emulated machine is ten times slower: a leak may be over before
			// enough moments show that none of its calls ends, and its memory counts as what the program needed in its first
			// rise. The answer never has another class, and always names its line.
			open := a.Verdict.Class == explain.Inconclusive || a.Verdict.Class == explain.Baseline && a.Verdict.Confidence == explain.Low
			undecided := c.class == explain.Leak && open && len(a.Holders) > 0 && strings.HasSuffix(a.Holders[0].File, "leak/main.go") ||
				c.class == explain.Healthy && a.Verdict.Class == explain.Inconclusive // too few GCs ran in its seconds
			if a.Verdict.Class != c.class && !undecided || string(a.Outcome.By) != c.by {
				t.Errorf("verdict %s by %s: %s\nwant %s by %s", a.Verdict.Class, a.Outcome.By, a.Verdict.Sentence, c.class, c.by)
			}
			closes(t, a)
			for _, gap := range a.Gaps {
				if strings.HasPrefix(gap.What, "goroutines") {
					t.Errorf("not seen: %+v", gap)
				}
			}
		})
	}
}
