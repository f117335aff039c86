package explain

import (
	"strings"
	"testing"
)

// Where a run was too short to tell how it goes on, the answer says how long one would have to be, longer than this one, and
// its command reads the live heap more often.
func TestAnAnswerThatKnowsTooLittleSaysWhatWouldBeEnough(t *testing.T) {
	c := newCase(scenes["steady and small"]().Evidence)
	c.outcome.State, c.outcome.Elapsed, c.outcome.Kernel = Exited, 12, false
	c.rise = rise{n: 2, all: 2, from: 2, to: 3, first: 1e7, last: 4e7, grown: 3e7}
	for i := range c.Ticks.At {
		c.Ticks.Usage[i] = float64(10+5*i) * float64(mib)
	}
	trend := c.trend()
	if trend.State != NotEnoughData || trend.Needs != "a run of 30 s or longer, or --heap every=2s" {
		t.Errorf("%s: %q", trend.State, trend.Needs)
	}
	if got := trend.open(); !strings.Contains(got, ". Enough would be a run of 30 s") {
		t.Errorf("%q", got)
	}
	if got := c.nextCommands(); len(got) != 1 || !strings.Contains(got[0], "--heap=every=2s") {
		t.Errorf("%q", got)
	}
}

// Whether it gets worse is told of what the verdict is about: a live heap that rests says nothing of a leak in C.
func TestTheTrendIsOfWhatTheVerdictIsAbout(t *testing.T) {
	for name, want := range map[string]TrendState{
		"cgo leak":                          TrendGrowing,
		"tmpfs":                             TrendGrowing,
		"native memory that comes and goes": ComesAndGoes,
		"steady and small":                  TrendFlat,
	} {
		if a := explained(t, scenes[name]()); a.Trend.State != want || (a.Trend.Of == ofLiveHeap) != (want == TrendFlat) {
			t.Errorf("%s: %s of %s", name, a.Trend.State, a.Trend.Of)
		}
	}
}
