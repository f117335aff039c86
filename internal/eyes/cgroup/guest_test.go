package cgroup_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

func TestVersion2PassesTheSameTestsInAGuest(t *testing.T) {
	hwtest.LeftToMatrix(t, "runs the package's tests again, under cgroup version 2")
	hwtest.Need(t, hwtest.QEMU)
	binary := filepath.Join(t.TempDir(), "cgroup.test")
	build := exec.Command("go", "test", "-c", "-o", binary, ".")
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	g := hwtest.Guest{
		Files: map[string]string{
			"/bin/cgroup.test":   binary,
			"/testdata/v1.txtar": "testdata/v1.txtar",
			"/testdata/v2.txtar": "testdata/v2.txtar",
		},
		Cmds: [][]string{{"cgroup.test", "-test.v", "-test.skip=InAGuest|Fuzz"}},
	}
	got := g.Run(t).Cmds[0]
	t.Log(got.Output)
	if got.Code != 0 {
		t.Errorf("exit code %d", got.Code)
	}
	if strings.Contains(got.Output, "--- SKIP") {
		t.Error("a test was skipped in the guest")
	}
	if !strings.Contains(got.Output, "--- PASS: TestAProgramOverItsLimitIsKilled") {
		t.Error("the kill was not tested")
	}
}
