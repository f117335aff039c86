package trial

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// benchstatModule is the version in go.mod.
const benchstatModule = "golang.org/x/perf@v0.0.0-20260908200009-22c9c6c9d4da"

func TestBenchstatReadsTheRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP-REASON: builds benchstat")
	}
	runs := joined(made("new one", 6, Finished, 50, 3), made("base", 6, OverBudget, 200, 1), made("b", 6, Killed, 256, 1))
	var text bytes.Buffer
	if err := WriteBench(&text, Compare(limited, variantsOf("base", "new one", "b"), runs)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bench.txt")
	if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(hwtest.Module(t, benchstatModule, "cmd/benchstat", hwtest.BuildOptions{}), "-col", "/variant", path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, text.String())
	}
	for _, want := range []string{`cpus: 2`, `kernel: 6\.18`, `base +│ +new_one +│`, `Server +200\.\d+Mi ± 0% +50\.\d+Mi ± 0% +-74\.\d+% \(p=0\.002 n=6\)`,
		`time-sec`, `Server +1\.000+ ± .*1\.000 ± 0% +~ \(p=1\.000 n=6\)`} {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("no %s in:\n%s\n%s", want, out, text.String())
		}
	}
	if strings.Contains(string(out), "256.") {
		t.Errorf("the peak of killed runs was averaged:\n%s", out)
	}
}

func TestALoadsOwnFiguresAreReadFromItsBenchmarkLines(t *testing.T) {
	for output, want := range map[string]map[string]float64{
		"":                       {},
		"uploaded 3 files\nok\n": {},
		"BenchmarkUploads 3 212.5 p99-ms 31 failed\nbye": {"p99-ms": 212.5, "failed": 31},
		"BenchmarkA 1 5 x\nBenchmarkA 1 7 x\n":           {"x": 7},
		"BenchmarkA 1 5 ns/op\n":                         {"sec/op": 5e-9},
		"BenchmarkA 1\nBenchmark\nBenchmarkA x y z\n":    {},
	} {
		if got := LoadFigures(output); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, want %v", output, got, want)
		}
	}
}

func FuzzALoadsFigures(f *testing.F) {
	f.Add("BenchmarkUploads 3 212.5 p99-ms 31 failed\nUnit x better=lower\ngoos: linux\n")
	f.Add("BenchmarkUploads 3 NaN x +Inf y")
	f.Fuzz(func(t *testing.T, output string) {
		for unit, v := range LoadFigures(output) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%q: %s is %v", output, unit, v)
			}
		}
	})
}
