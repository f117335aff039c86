package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/decide/trial"
	"github.com/highwater-go/highwater/internal/measure/pacer"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// ran are six runs that ended so, with a peak around MiB.
func ran(variant string, ended trial.Ended, peak float64) (runs []trial.Run) {
	for i := range 6 {
		runs = append(runs, trial.Run{Variant: variant, N: i + 1, Ended: ended, Values: map[string]float64{
			trial.FigurePeak: (peak + float64(i)) * float64(sample.MiB), trial.FigureHeadroom: (256 - peak - float64(i)) * float64(sample.MiB),
			trial.FigureTime: 2e9 + float64(i)*1e6, trial.FigureGC: 0.1 + float64(i)/1000, trial.FigureCPU: peak * 1e7,
		}})
	}
	return runs
}

// tried is a trial of so many variants beside the base: one cures it, one is killed
// like it, the others need more and more.
func tried(variants int) *trial.Answer {
	list := []trial.Variant{{Name: "base"}, {Name: "stream", Note: "3f2a1c9 uploads: stream the parts to the disk"}}
	runs := append(ran("base", trial.Killed, 256), ran("stream", trial.Finished, 60)...)
	for i := 2; i <= variants; i++ {
		name, ended := fmt.Sprintf("GOGC=%d", i), trial.Finished
		if i == 2 {
			ended = trial.Killed
		}
		list = append(list, trial.Variant{Name: name})
		runs = append(runs, ran(name, ended, float64(100+10*i))...)
	}
	busy := 0.4
	a := trial.Compare(trial.Setup{Program: "server", Limit: 256 * sample.MiB, Load: "./load.sh", Machine: trial.Machine{CPUs: 2, Kernel: "6.18", Busy: &busy}},
		list, runs)
	a.Reproduced = trial.Reproduced{Runs: 1, Lost: 1, Why: "killed by the kernel"}
	return a
}

func TestAComparisonIsPrinted(t *testing.T) {
	var b bytes.Buffer
	if err := TryText(&b, tried(3), Options{Next: "highwater explain kept/base-1.hwm"}); err != nil {
		t.Fatal(err)
	}
	hwtest.Golden(t, "try.txt", b.Bytes())
}

func TestManyVariantsAreComparedInBlocks(t *testing.T) {
	for _, n := range []int{1, 3, 4, 12} {
		var b bytes.Buffer
		if err := TryText(&b, tried(n), Options{}); err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Count(b.String(), "peak memory"), (n+2)/3; got != want {
			t.Errorf("%d variants in %d blocks, want %d:\n%s", n, got, want, b.String())
		}
		for line := range strings.Lines(b.String()) {
			if columns(strings.TrimSuffix(line, "\n")) > 100 {
				t.Errorf("%d columns: %s", columns(line), line)
			}
		}
	}
}

func TestASearchIsPrinted(t *testing.T) {
	g := 86 * sample.MiB
	f := &trial.Fit{Setup: trial.Setup{Program: "server", Load: "./load.sh", Machine: trial.Machine{CPUs: 2, Kernel: "6.18"}},
		Free:  trial.Run{Values: map[string]float64{trial.FigurePeak: 180 << 20, trial.FigureTime: 4e9, trial.FigureLoadP50: 2e6, trial.FigureLoadP99: 9e6}},
		Began: []string{"replay +3%"},
		AsIs: &trial.Fitted{Limit: 200 * sample.MiB, Confirmed: 10, Chance: 0.26, Steps: []trial.Step{{Limit: 220 * sample.MiB, Ended: trial.Finished},
			{Limit: 190 * sample.MiB, Ended: trial.Killed}, {Limit: 200 * sample.MiB, Ended: trial.Finished, Phase: trial.Confirming,
				Latency: map[string]float64{trial.FigureLoadP50: 3e6, trial.FigureLoadP99: 12e6}}}},
		Limited: &trial.Fitted{Limit: 100 * sample.MiB, GOMEMLIMIT: &g, Confirmed: 10, Chance: 0.26,
			Steps: []trial.Step{{Limit: 90 * sample.MiB, Ended: trial.Crawled}}},
	}
	f.Conclude("./server", pacer.Setting{GOGC: 100, Limit: sample.NoMemoryLimit}, 10*sample.MiB)
	var b bytes.Buffer
	if err := FitText(&b, f, Options{Next: "highwater run -- ./server"}); err != nil {
		t.Fatal(err)
	}
	hwtest.Golden(t, "fit.txt", b.Bytes())
}
