package cli_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// A watch asks for no limit: that of the program's cgroup is listed.
func TestTheLimitOfAWatchedProgramIsListed(t *testing.T) {
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	steady := startStranger(t, inside(hwtest.Limit(t, limit), testprog(t, "steady"), "-live", "8MiB", "-for", "10m"))
	steady.lines.Scan()
	fmt.Fprintln(steady.in)
	steady.lines.Scan() // it is ready
	if out, err := exec.Command(highwater(t), "watch", steady.pid(), "--for", "200ms").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(highwater(t), "list", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Recordings []struct {
			Limit sample.Bytes `json:"limit_bytes"`
			Peak  sample.Bytes `json:"peak_bytes"`
		} `json:"recordings"`
	}
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Recordings) != 1 || list.Recordings[0].Limit != limit || list.Recordings[0].Peak == 0 || list.Recordings[0].Peak > limit {
		t.Errorf("%s", out)
	}
}
