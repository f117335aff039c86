package cli_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// TestNativeMemoryOnAnOlderKernel boots Linux 6.1, or what is in the tests' cache: what malloc says of
// itself needs nothing, page faults need 5.15, and probes 6.13, and what is missing is said.
func TestNativeMemoryOnAnOlderKernel(t *testing.T) {
	t.Parallel()
	hwtest.LeftToMatrix(t, "boots a second kernel")
	hwtest.Need(t, hwtest.QEMU)
	static := hwtest.BuildOptions{CGO: true, Ldflags: "-linkmode=external -extldflags=-static"}
	program := hwtest.Build(t, "../record/watch/testdata/resident", static)
	r := hwtest.Guest{
		Memory: 1536 * sample.MiB, Timeout: 8 * time.Minute, Disk: 64 * sample.MiB,
		Files: map[string]string{"/bin/highwater": highwater(t), "/bin/resident": program},
		Cmds: [][]string{
			{"/bin/highwater", "doctor"},
			{"/bin/highwater", "run", "--native=live", "-o", "/tmp/live.hwm", "--", "/bin/resident", "-only", "two", "-rounds", "2"},
			{"/bin/highwater", "run", "--limit", "96MiB", "-o", "/tmp/r.hwm", "--", "/bin/resident", "-only", "two", "-rounds", "4000", "-pause", "200ms"},
		},
	}.Run(t)
	for i, c := range r.Cmds {
		t.Logf("command %d ended with %d:\n%s", i, c.Code, c.Output)
	}
	doctor, live, run := r.Cmds[0].Output, r.Cmds[1], r.Cmds[2].Output
	_, kernel, _ := strings.Cut(doctor, "Linux ")
	kernel, _, _ = strings.Cut(kernel, "\n")
	if live.Code == 0 || !strings.Contains(live.Output, "6.13") {
		t.Errorf("--native=live on %s: code %d, and not which kernel it needs", kernel, live.Code)
	}
	for _, want := range []string{"Native memory", "in use by C"} {
		if !strings.Contains(run, want) {
			t.Errorf("%q is not in the answer", want)
		}
	}
	if strings.HasPrefix(kernel, "5.10.") {
		if !strings.Contains(doctor, "Linux 5.15") || strings.Contains(run, "FIRST WRITTEN BY") {
			t.Errorf("which kernel page faults need is not said")
		}
		return
	}
	at := placesOf(t, program)["large"]
	if want := "resident/main.go:" + strconv.Itoa(at); !strings.Contains(run, "FIRST WRITTEN BY") || !strings.Contains(run, want) {
		t.Errorf("the line %s is not in the answer", want)
	}
}
