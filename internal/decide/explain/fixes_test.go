package explain

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/measure/pacer"
	"github.com/highwater-go/highwater/internal/record/recording"
)

// A GOMEMLIMIT is a fix where it helps and is not in force; against a leak it is listed
// as what does not help.
func TestAGOMEMLIMITIsAFixOnlyWhereItHelps(t *testing.T) {
	for _, c := range []struct {
		scene       string
		set         int64
		fixed, vain bool
	}{
		{"leak", 0, false, true},
		{"leak", 150 * int64(mib), false, false},
		{"garbage over the limit", 0, true, false},
		{"garbage over the limit", 255 * int64(mib), true, false},
	} {
		s := scenes[c.scene]()
		if c.set > 0 {
			s.p.Go.MemoryLimit = c.set
		}
		a, err := Explain(s.Evidence, nil)
		if err != nil {
			t.Fatal(err)
		}
		fixed := slices.ContainsFunc(a.Fixes, func(f Fix) bool { return f.Kind == "config" && f.State == "predicted" && f.Command != "" })
		if vain := len(a.WontHelp) > 0; fixed != c.fixed || vain != c.vain {
			t.Errorf("%s with GOMEMLIMIT %d: a fix %v, no help %v: %+v %+v %s", c.scene, c.set, fixed, vain, a.Fixes, a.WontHelp, a.NotPredicted)
		}
	}
}

// A GOMEMLIMIT of the whole machine is above the limit: that is said, and no limit of its size is proposed.
func TestAGOMEMLIMITAboveTheLimitIsToldAsThat(t *testing.T) {
	s := scenes["garbage over the limit"]()
	s.p.Go.MemoryLimit = int64(19284 * mib)
	a, err := Explain(s.Evidence, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Verdict.Why) == 0 || !strings.HasPrefix(a.Verdict.Why[0].Text, "GOMEMLIMIT=19284MiB is not below the limit of 256 MiB") {
		t.Errorf("why: %+v", a.Verdict.Why)
	}
	if len(a.Fixes) == 0 || slices.ContainsFunc(a.Fixes, func(f Fix) bool { return f.Kind == "limit" }) {
		t.Errorf("fixes: %+v", a.Fixes)
	}
}

// Nothing is predicted of a burst that was killed while a value was being built, or whose limit has no room for one more call.
func TestWhatABurstWouldHaveNeededMayNotBeKnown(t *testing.T) {
	for _, k := range []struct {
		need   float64 // MiB
		whole  bool
		killed bool
		want   string
	}{
		{100, false, true, ""},
		{253, false, true, "no room for one more call"},
		{100, true, true, "still being built"},
		{253, true, false, ""},
	} {
		c := newCase(scenes["burst in the first rise"]().Evidence)
		if k.whole {
			c = newCase(scenes["values that are read whole, three at once"]().Evidence)
		}
		if c.wholeValues() > 0 != k.whole {
			t.Fatalf("%d whole values", c.wholeValues())
		}
		c.outcome.Kernel = k.killed
		o := pacer.Outlook{}
		o.Need.P95 = bytesOf(k.need)
		if why := c.burstUnknown(o); !strings.Contains(why, k.want) || why == "" != (k.want == "") {
			t.Errorf("%+v: %q", k, why)
		}
	}
}

// A fix that survived is proved, one that was lost is no fix.
func TestWhatWasRunTakesThePlaceOfAPrediction(t *testing.T) {
	for lost, want := range map[int]string{0: "proved", 2: ""} {
		s := scenes["garbage over the limit"]()
		a, _ := Explain(s.Evidence, nil)
		fix := a.Fixes[0]
		at := time.Unix(5, 0)
		s.Tried = []recording.Tried{
			{At: at, Kind: "base", Runs: 3, Lost: 3, Why: "killed 3 of 3"},
			{At: at, Fix: fix.Text, Kind: fix.Kind, Runs: 3, Lost: lost, Why: "what came of it"},
		}
		a, err := Explain(s.Evidence, nil)
		if err != nil {
			t.Fatal(err)
		}
		state := ""
		for i, f := range a.Fixes {
			if f.Text == fix.Text {
				state = f.State
			}
			if want := string(rune('A' + i)); f.ID != want {
				t.Errorf("fix %d is called %s", i, f.ID)
			}
		}
		vain := slices.ContainsFunc(a.WontHelp, func(n NoHelp) bool { return n.Text == fix.Text && n.Reason == "tried: what came of it" })
		if state != want || vain != (lost > 0) {
			t.Errorf("%d of 3 lost: state %q, among those that do not help: %v", lost, state, vain)
		}
		if lost == 0 && a.Fixes[0].Outlook != "what came of it. Without the change: killed 3 of 3" {
			t.Errorf("%q", a.Fixes[0].Outlook)
		}
	}
}

// A recording keeps the words that a change had when it was tried: of code, the line decides.
func TestAChangeOfTheCodeIsKnownByItsLineWhenItsWordsChange(t *testing.T) {
	for _, c := range []struct {
		fix, state string
	}{{"upload.go:172: a smaller in-memory part", Proved}, {"other.go:172: a smaller in-memory part", "untested"}} {
		s := scenes["burst of uploads"]()
		s.Tried = []recording.Tried{{Fix: c.fix, Kind: "code", Runs: 3, Why: "3 of 3 survived"}}
		a, err := Explain(s.Evidence, nil)
		if err != nil || a.Fixes[0].State != c.state {
			t.Errorf("%s: %v, %+v", c.fix, err, a.Fixes)
		}
	}
}

// An older recording may name the line where the holder of the memory is named now.
func TestAChangeThatWasTriedAtItsLineIsKnownByItsHolder(t *testing.T) {
	const change = ": drop references to objects that are no longer needed, or cap the number of objects"
	for tried, want := range map[string]string{"cache.go:57" + change: Proved, "cache.go:57: another change": "untested", "main.other" + change: "untested"} {
		s := leaking()
		s.retained("")
		s.Tried = []recording.Tried{{Fix: tried, Kind: "code", Runs: 3, Why: "3 of 3 survived"}}
		if a := answerOf(t, s); a.Fixes[0].Text != "main.store.items"+change || a.Fixes[0].State != want {
			t.Errorf("%s: %+v", tried, a.Fixes[0])
		}
	}
}

// With the collector off a GOMEMLIMIT is the next thing to try, but not where what is live needs more than it.
func TestWhatToRunNextIsACommand(t *testing.T) {
	bounded := 0
	for name, scene := range scenes {
		s := scene()
		if s.p == nil || s.p.Go == nil {
			continue
		}
		s.p.Go.GOGC = -1
		c := newCase(s.Evidence)
		for _, command := range c.nextCommands() {
			if command == "" {
				t.Errorf("%s: an empty command", name)
			}
			if strings.Contains(command, " -- env GOMEMLIMIT=") {
				bounded++
			}
		}
	}
	if bounded == 0 {
		t.Error("no scene has a GOMEMLIMIT to try")
	}
}
