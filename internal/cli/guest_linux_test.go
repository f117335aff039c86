package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/explain"
	"github.com/highwater-go/highwater/internal/hwtest"
	"github.com/highwater-go/highwater/internal/recording"
	"github.com/highwater-go/highwater/internal/sample"
)

// TestUnderCgroupVersion2 runs highwater in a guest whose kernel has cgroup
// version 2, and explains the recordings here.
func TestUnderCgroupVersion2(t *testing.T) {
	if testing.Short() {
		t.Skip("boots a kernel")
	}
	cases := []struct {
		program string
		args    []string
		class   explain.Class
		by      string
		code    int
	}{
		{"leak", []string{"-rate", "4MiB"}, explain.Leak, string(explain.ByCgroup), 137},
		{"filewriter", []string{"-size", "160MiB", "-dir", "/disk"}, explain.PageCache, "none", 0},
	}
	g := hwtest.Guest{Files: map[string]string{"/bin/highwater": highwater(t)}, Disk: 256 * sample.MiB}
	for _, c := range cases {
		kept := "/tmp/" + c.program + ".hwm"
		g.Files["/bin/"+c.program] = testprog(t, c.program)
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
			// enough moments show that it is none of its calls. It is never another class.
			undecided := c.class == explain.Leak && a.Verdict.Class == explain.Inconclusive && len(a.Holders) > 0 && strings.HasSuffix(a.Holders[0].File, "leak/main.go")
			if a.Verdict.Class != c.class && !undecided || string(a.Outcome.By) != c.by {
				t.Errorf("verdict %s by %s: %s\nwant %s by %s", a.Verdict.Class, a.Outcome.By, a.Verdict.Sentence, c.class, c.by)
			}
			closes(t, a)
		})
	}
}
