package procfs

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestAProcessStartedSoLongAfterTheMachine(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "stat")
	for text, ok := range map[string]bool{"cpu 1 2\nbtime 1790000000\nprocesses 7\n": true, "cpu 1 2\n": false, "btime many\n": false} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		boot, err := BootTime(root)
		if (err == nil) != ok || ok && !Started(boot, sample.ProcessKey{Start: 12_345}).Equal(time.Unix(1790000123, 450e6)) {
			t.Errorf("%q: %v, %v", text, boot, err)
		}
	}
	if _, err := BootTime(t.TempDir()); err == nil {
		t.Error("a machine without /proc/stat has started")
	}
}
