package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// exportHeap exports the heap of a process or a core file and gives the sums of the
// file's nodes by name, and what was said.
func exportHeap(t *testing.T, args ...string) (sums map[string]uint64, said string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program.heapsnapshot")
	text, err := exec.Command(highwater(t), append([]string{"export", "--heapsnapshot", "-o", path}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Nodes   []uint64
		Strings []string
	}
	if err := json.Unmarshal(file, &s); err != nil {
		t.Fatal(err)
	}
	sums = make(map[string]uint64)
	for i := 0; i+7 <= len(s.Nodes); i += 7 {
		sums[s.Strings[s.Nodes[i+1]]] += s.Nodes[i+3]
	}
	return sums, string(text)
}

func TestAHeapSnapshotHasTheObjectsOfAProcessByType(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	pid := shape(t, "map")
	sums, said := exportHeap(t, pid, "--max-stop=1m")
	if sums["[]uint8"] < 2000*512 || sums["main.entry"] != 2000*96 || strings.Contains(said, "folded") {
		t.Errorf("%d bytes of bodies, %d of entries\n%s", sums["[]uint8"], sums["main.entry"], said)
	}
	folded, said := exportHeap(t, pid, "--max-stop=1m", "--max-objects=100")
	if folded["[]uint8 (folded)"] < 2000*512 || folded["main.entry (folded)"] != 2000*96 || !strings.Contains(said, "into what retains them") {
		t.Errorf("folded: %v\n%s", folded, said)
	}
}

func TestAHeapSnapshotOfACoreIsThatOfItsProcess(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace, hwtest.Program("gcore"))
	pid := shape(t, "map")
	prefix := filepath.Join(t.TempDir(), "core")
	if text, err := exec.Command("gcore", "-o", prefix, pid).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if sums, _ := exportHeap(t, prefix+"."+pid); sums["main.entry"] != 2000*96 {
		t.Errorf("%d bytes of entries", sums["main.entry"])
	}
}
