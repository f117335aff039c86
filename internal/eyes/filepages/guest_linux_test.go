package filepages

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Linux 6.1 has no cachestat(2), and cgroup version 2: files are counted by mincore(2) there.
func TestAnOlderKernelCountsTheSameFilesInAGuest(t *testing.T) {
	hwtest.LeftToMatrix(t, "runs the package's tests again, by Linux 6.1")
	hwtest.Need(t, hwtest.QEMU)
	binary := filepath.Join(t.TempDir(), "filepages.test")
	build := exec.Command("go", "test", "-c", "-o", binary, ".")
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	g := hwtest.Guest{Files: map[string]string{"/bin/filepages.test": binary}, Disk: 128 * sample.MiB,
		Cmds: [][]string{{"filepages.test", "-test.v", "-test.skip=InAGuest|ManyDescriptors|Endless|NeverAnswers"}}}
	got := g.Run(t).Cmds[0]
	t.Log(got.Output)
	if got.Code != 0 || strings.Contains(got.Output, "--- SKIP") {
		t.Errorf("exit code %d", got.Code)
	}
	for _, must := range []string{"TestAnOpenFileIsCounted", "TestTmpfsFilesThatNobodyHasOpenAreFound", "TestAMappedFileIsFound",
		"TestWhoseThePagesOfAFileAreIsTold"} {
		if !strings.Contains(got.Output, "--- PASS: "+must) {
			t.Errorf("%s did not pass", must)
		}
	}
}
