package app

import (
	"slices"
	"testing"
)

func TestTheTrendOfPeaksIsTold(t *testing.T) {
	for want, all := range map[string][][]uint64{
		"":        {nil, {7}},
		"flat":    {{100, 100}, {100, 98, 102}, {1, 2}},
		"rising":  {{100, 150}, {100, 102, 150}, {100, 150, 148}},
		"falling": {{150, 100}, {150, 148, 100}},
		"varying": {{100, 200, 100}, {200, 100, 150}},
	} {
		for _, peaks := range all {
			sizes := make([]uint64, len(peaks))
			for i := range peaks {
				sizes[i] = peaks[i] << 20
			}
			if got := trendOf(sizes); got != want {
				t.Errorf("%v is %q, want %q", peaks, got, want)
			}
		}
	}
}

func TestRunsAreGroupedByProgramAndCause(t *testing.T) {
	run := func(path, cause, state string, peak uint64) Listed {
		return Listed{Name: path, Path: path, Fingerprint: cause, State: state, Peak: peak, Verdict: "leak"}
	}
	got := GroupsOf([]Listed{
		run("a-20261123-161500.hwm", "hw-1", "killed", 300<<20), run("b-2.hwm", "hw-1", "exited", 10), run("a-2.hwm", "hw-2", "exited", 0),
		{Path: "b-1.hwm", State: "recording"}, run("a-1.hwm", "hw-1", "killed", 100<<20),
	})
	if len(got) != 3 {
		t.Fatalf("%+v", got)
	}
	i := slices.IndexFunc(got, func(g group) bool { return g.Program == "a" && g.Fingerprint == "hw-1" })
	if i < 0 || got[i].Runs != 2 || got[i].Killed != 2 || !slices.Equal(got[i].Peaks, []uint64{100 << 20, 300 << 20}) || got[i].Trend != "rising" ||
		!slices.Equal(got[i].Recordings, []string{"a-1.hwm", "a-20261123-161500.hwm"}) {
		t.Errorf("%+v", got)
	}
}

// A watch that had ended was "running" for ever in the list (row A11 of the first users' findings).
func TestRowA11AWatchThatEndedIsNotRunning(t *testing.T) {
	for state, want := range map[string]string{watched: "watched 22 s", "killed": "killed", "recording": "recording", "": "-"} {
		if got := (&Listed{State: state, Seconds: 22}).outcome(); got != want {
			t.Errorf("%q: %q, want %q", state, got, want)
		}
	}
}
