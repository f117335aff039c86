package explain

import "testing"

// Of many readings two alone rise: what came at once was not seen to grow, and no leak is known of it.
func TestWhatCameAtOnceIsNoLeak(t *testing.T) {
	for name, c := range map[string]struct {
		live   []float64
		sudden bool
	}{
		"evenly":         {[]float64{10, 12, 15, 18, 20, 24, 27, 30, 34, 37, 41, 45, 48, 52, 55, 58}, false},
		"at the end":     {[]float64{10, 10.2, 10.4, 10.6, 10.8, 11, 11.2, 11.4, 11.6, 11.8, 12, 12.2, 12.4, 12.6, 50, 61}, true},
		"in three leaps": {[]float64{10, 10, 10, 10, 26, 26, 26, 26, 26, 26, 42, 42, 42, 42, 42, 58}, false},
		"few readings":   {[]float64{10, 12, 45, 58}, false},
	} {
		s := leakScenes["slow leak, still running"]()
		s.cycles(40, c.live...)
		if got := newCase(s.Evidence).rise.isSudden(); got != c.sudden {
			t.Errorf("%s: sudden %v", name, got)
		}
		a, err := Explain(s.Evidence, nil)
		if err != nil || c.sudden && a.Verdict.Class == Leak || name == "evenly" && a.Verdict.Class != Leak {
			t.Errorf("%s: %v, %s: %s", name, err, a.Verdict.Class, a.Verdict.Sentence)
		}
	}
}

// A table that is loaded again lies next to the old one: the call in flight is told what it made, and not all.
func TestWhatEarlierCallsLeftIsNotTheCallsInFlight(t *testing.T) {
	c := &Case{}
	c.rise = rise{n: 20, grown: 100, step: 80, second: 15}
	for left, want := range map[float64]int64{0.5: 50, 0.05: 0} {
		c.inFlight.left = left
		if got := c.leftBefore(100); int64(got) != want {
			t.Errorf("%v left: %d, want %d", left, got, want)
		}
	}
	c.rise.step = 30
	if c.inFlight.left = 0.5; c.leftBefore(100) != 0 {
		t.Error("growth that did not come at once is split")
	}
}
