package cli_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/record/recording"
)

func TestRunsThatBeginTogetherHaveRecordingsOfTheirOwn(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	state := t.TempDir()
	const runs = 6
	names := make([]string, runs)
	var all sync.WaitGroup
	for i := range runs {
		all.Go(func() {
			cmd := exec.Command(highwater(t), "run", testprog(t, "quick"))
			cmd.Env = append(cmd.Environ(), "XDG_STATE_HOME="+state)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			if m := regexp.MustCompile(`recording (\S+\.hwm)`).FindSubmatch(out); m != nil {
				names[i] = string(m[1])
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	for _, name := range names {
		if err := recording.Verify(name); err != nil || seen[name] || filepath.Dir(name) != filepath.Join(state, "highwater") {
			t.Errorf("%q: %v, one of %q", name, err, names)
		}
		seen[name] = true
	}
}
