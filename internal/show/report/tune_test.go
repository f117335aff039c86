package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/measure/pacer"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// tuned is an answer with so many settings.
func tuned(settings int) *pacer.Answer {
	gogc, limit := int32(100), 512*sample.MiB
	amount := pacer.Range{P5: 90 * sample.MiB, P50: 100 * sample.MiB, P95: 120 * sample.MiB}
	a := &pacer.Answer{Program: "a-program-whose-name-goes-on-" + strings.Repeat("and-on-", 12), Grade: pacer.Medium,
		Why: []string{strings.Repeat("a long reason ", 20), "another", "a third"}, Floor: 50 * sample.MiB,
		Smallest: &pacer.Smallest{AsIs: 130 * sample.MiB, Healthy: 90 * sample.MiB, Alive: 80 * sample.MiB}}
	for range settings {
		a.Settings = append(a.Settings, pacer.Predicted{GOGC: &gogc, GOMEMLIMIT: &limit, Limit: &limit, PeakHeap: amount, Resident: amount,
			GCs: 123456, Cost: pacer.CostSpiral, Survives: pacer.Uncertain})
	}
	a.Recommended = &pacer.Recommended{GOGC: &gogc, GOMEMLIMIT: 400 * sample.MiB, Because: "512 MiB limit - 3.0 MiB that Go does not count - 15.4 MiB to spare",
		Kubernetes: "k", Systemd: "s", Docker: "d", Shell: "sh"}
	return a
}

func TestPredictionsFitOnAPage(t *testing.T) {
	for _, n := range []int{1, 5, 12, 40} {
		var b bytes.Buffer
		if err := TuneText(&b, tuned(n), Options{Next: "highwater run"}); err != nil {
			t.Fatal(err)
		}
		text := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(text) > lines {
			t.Errorf("%d settings take %d lines:\n%s", n, len(text), b.String())
		}
		for _, line := range text {
			if columns(line) > 100 {
				t.Errorf("%d columns: %s", columns(line), line)
			}
		}
		if text[len(text)-1] != "highwater run" {
			t.Errorf("the last line is %q", text[len(text)-1])
		}
	}
}

func TestARefusalIsReasonsAlone(t *testing.T) {
	a := &pacer.Answer{Program: "server", Grade: pacer.Refused, Why: []string{"too few GCs"}}
	var b bytes.Buffer
	if err := TuneText(&b, a, Options{Next: "highwater explain server-1"}); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.Contains(got, "no prediction\nWHY     too few GCs\nhighwater explain server-1\n") {
		t.Errorf("%s", got)
	}
}
