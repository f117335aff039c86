package pacer

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// killedWith is a server that was killed, whose collections found so much live, in MiB,
// and the mark at its kill the last of them; it allocated 100 MiB between two.
func killedWith(live ...float64) *History {
	h := server(100 * mib)
	last := len(live) - 1
	h.marks = nil
	for i, v := range live[:last] {
		h.marks = append(h.marks, mark{n: i + 1, clock: h.end() - float64(last-i)*100*mib, live: v * mib})
	}
	h.killed, h.held = true, &knot{clock: h.end(), live: live[last] * mib}
	h.limit = h.Recorded.Anon + h.rest
	return h
}

func TestNothingIsPredictedFromARunThatWasKilledInItsFirstRise(t *testing.T) {
	for name, tt := range map[string]struct {
		live []float64
		why  string // "": something is predicted
	}{
		"it rose to the end":                      {[]float64{10, 20, 40, 80, 150}, "growing for the first time"},
		"it rose after a calm":                    {[]float64{30, 31, 30, 31, 30, 90, 150}, "growing for the first time"},
		"a leak beside much garbage":              {[]float64{60, 68, 76}, "growing for the first time"},
		"it had come back from there":             {[]float64{30, 100, 30, 95, 30, 100}, ""},
		"it stayed where it was":                  {[]float64{20, 60, 100, 100, 101}, ""},
		"one collection, and the mark at the end": {[]float64{100, 100}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := killedWith(tt.live...)
			o := NewPredictor(h, 260*sample.MiB).MemoryLimit()
			a := Tune(h, Options{Limit: 260 * sample.MiB})
			if refused := o.Chance == Unknown && strings.Contains(o.Why, "growing for the first time"); refused != (tt.why != "") {
				t.Errorf("%s: %s", o.Chance, o.Why)
			}
			if (a.Grade == Refused) != (tt.why != "") || a.Grade == Refused && a.Why[0] != o.Why {
				t.Errorf("tune says %s %q, the fix %q", a.Grade, a.Why, o.Why)
			}
		})
	}
}

// Whoever asks for a GOMEMLIMIT is told the same.
func TestTuneAndTheFixAreOneAnswer(t *testing.T) {
	said := 0
	for _, h := range []*History{killedWith(100, 100, 100), killedWith(30, 90, 30, 90, 30), server(100 * mib)} {
		for limit := 110; limit <= 320; limit += 15 {
			bytes := sample.Bytes(limit) * sample.MiB
			o, r := NewPredictor(h, bytes).MemoryLimit(), Tune(h, Options{Limit: bytes}).Recommended
			switch {
			case o.Chance == Fits && (r == nil || r.GOMEMLIMIT != o.GOMEMLIMIT):
				t.Errorf("%d MiB: the fix is GOMEMLIMIT=%d, tune recommends %+v", limit, o.GOMEMLIMIT>>20, r)
			case o.Chance == Vain && r != nil && r.GOMEMLIMIT > 0, o.Chance == Unknown && r != nil && r.GOMEMLIMIT > 0:
				t.Errorf("%d MiB: %s (%s), and tune recommends %d MiB", limit, o.Chance, o.Why, r.GOMEMLIMIT>>20)
			case o.Chance == Fits:
				said++
				if float64(o.Need.P95) >= float64(bytes) {
					t.Errorf("%d MiB: said to survive, and may need %d", limit, o.Need.P95>>20)
				}
			}
		}
	}
	if said == 0 {
		t.Error("nothing was said to survive")
	}
}

func TestAGrowingLiveHeapIsOnlyKilledLater(t *testing.T) {
	var live []float64
	for v := 20.0; v <= 120; v += 5 {
		live = append(live, v)
	}
	h := killedWith(live...)
	p := NewPredictor(h, 260*sample.MiB)
	o := p.MemoryLimit()
	if o.Chance != Later || !strings.Contains(o.Why, "delays the kill by about ") {
		t.Fatalf("%s: %s", o.Chance, o.Why)
	}
	// Twenty steps of 5 MiB, each of 100 MiB allocated at 50 MiB a second.
	if rate := p.t.m.grows / mib; math.Abs(rate-2.5) > 0.3 {
		t.Errorf("it grows by %.1f MiB a second, want 2.5", rate)
	}
	var seconds float64
	if _, err := fmt.Sscanf(o.Why, "this delays the kill by about %f s", &seconds); err != nil || math.Abs(seconds-(260-125-3)/2.5) > 10 {
		t.Errorf("%q, want about %.0f s", o.Why, (260-125-3)/2.5)
	}
	if a := Tune(h, Options{}); a.Grade != Refused || !strings.Contains(a.Why[0], "ris") && !strings.Contains(a.Why[0], "growing") {
		t.Errorf("tune: %s %q", a.Grade, a.Why)
	}
}

func TestMemoryThatWasNeverWrittenGetsNoGOMEMLIMIT(t *testing.T) {
	h := killedWith(100, 100, 100)
	for i := range h.ticks {
		h.ticks[i].anon *= 0.4
	}
	h.Recorded.Anon *= 0.4
	h.limit = h.Recorded.Anon + h.rest
	o := NewPredictor(h, 0).MemoryLimit()
	if o.Chance == Fits || strings.Contains(o.Why, "killed") {
		t.Errorf("%s: %s", o.Chance, o.Why)
	}
}

func TestWhatFitsAsItIsNeedsNoSetting(t *testing.T) {
	if o := NewPredictor(server(100*mib), 500*sample.MiB).MemoryLimit(); o.Chance != Needless {
		t.Errorf("%s: %s", o.Chance, o.Why)
	}
}

// A run that was killed on the way to it had not yet needed what it would have.
func TestALimitHoldsTheNextCollectionsGoal(t *testing.T) {
	h := killedWith(100, 100, 100)
	h.limit = 150 * mib
	o := NewPredictor(h, 0).AsItIs()
	if goal := 200 * sample.MiB; o.Chance != Fits || o.Limit < goal+goal/10 || o.Need.P50 < goal {
		t.Errorf("%s: a limit of %d MiB, needs %d to %d: twice of what is live is %d", o.Chance, o.Limit>>20, o.Need.P50>>20, o.Need.P95>>20, goal>>20)
	}
	rising := NewPredictor(killedWith(10, 20, 40, 80, 150), 260*sample.MiB).AsItIs()
	if rising.Chance != Unknown || rising.Limit < 300*sample.MiB || rising.Why == "" {
		t.Errorf("%s: at least %d MiB: %s", rising.Chance, rising.Limit>>20, rising.Why)
	}
}
