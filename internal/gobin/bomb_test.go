package gobin

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/hwtest"
)

func TestASectionThatUnpacksToFarMoreThanItIsIsNotRead(t *testing.T) {
	hwtest.Need(t, hwtest.Program("objcopy"))
	dir := t.TempDir()
	zeros, bomb := filepath.Join(dir, "zeros"), filepath.Join(dir, "bomb")
	if err := os.WriteFile(zeros, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const size = 96 << 20
	if err := os.Truncate(zeros, size); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("objcopy", "--update-section", ".debug_info="+zeros, "--compress-debug-sections=zlib", plain.build(t), bomb).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	b := open(t, bomb)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	all, err := b.Variables([][2]uint64{{0, 1 << 62}})
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), ".debug_info of ") || len(all) == 0 {
		t.Errorf("%d variables, %v", len(all), err)
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > size/2 {
		t.Errorf("%d MiB were allocated", allocated>>20)
	}
}
