package trial

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/measure/pacer"
	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestAFitRecommendsTheLimitThatIsHeldUnlessItIsMuchGreater(t *testing.T) {
	found := func(mib int) *Fitted { return &Fitted{Limit: sample.Bytes(mib) * sample.MiB, Confirmed: 10} }
	for _, c := range []struct {
		name          string
		asIs, limited *Fitted
		limit         int  // MiB that are recommended; 0: nothing is
		held          bool // with a GOMEMLIMIT
	}{
		{"less with it", found(100), found(60), 66, true},
		{"a little more with it", found(90), found(100), 110, true},
		{"much more with it", found(50), found(100), 55, false},
		{"not without", &Fitted{}, found(60), 66, true},
		{"not with", found(100), &Fitted{}, 110, false},
		{"no Go program", found(100), nil, 110, false},
		{"nothing", &Fitted{}, &Fitted{}, 0, false},
	} {
		f := Fit{AsIs: c.asIs, Limited: c.limited}
		f.Conclude("./server", pacer.Setting{GOGC: 100, Limit: sample.NoMemoryLimit}, 5*sample.MiB)
		r := f.Recommended
		if r == nil {
			if c.limit != 0 || !strings.HasPrefix(f.Sentence, "The program survives no limit") {
				t.Errorf("%s: nothing is recommended: %s", c.name, f.Sentence)
			}
			continue
		}
		if got := int(r.Limit / sample.MiB); got != c.limit || (r.GOMEMLIMIT > 0) != c.held {
			t.Errorf("%s: %d MiB with GOMEMLIMIT=%d, want %d MiB, %v", c.name, got, r.GOMEMLIMIT, c.limit, c.held)
		}
	}
}

func TestAFitsLatencyIsThatOfTheRunsThatConfirmedIt(t *testing.T) {
	step := func(mib sample.Bytes, phase Phase, ended Ended, took float64) Step {
		return Step{Limit: mib * sample.MiB, Phase: phase, Ended: ended, Latency: Latencies(map[string]float64{FigureP50: took, FigurePeak: 1})}
	}
	f := &Fitted{Limit: 64 * sample.MiB, Steps: []Step{
		step(64, Bisecting, Finished, 9e6),
		step(60, Confirming, Finished, 8e6), // did not hold
		step(60, Confirming, Killed, 7e6),
		step(64, Confirming, Finished, 3e6), step(64, Confirming, Finished, 1e6), step(64, Confirming, Finished, 2e6),
	}}
	if got := LatencyText(f.Latency()); got != "p50 2 ms" {
		t.Errorf("%q", got)
	}
	if got := LatencyText((&Fitted{}).Latency()); got != "" {
		t.Errorf("of nothing %q", got)
	}
}
