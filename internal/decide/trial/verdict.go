package trial

import (
	"fmt"
	"strings"

	"github.com/highwater-go/highwater/internal/words/units"
)

// Least is how few runs of each variant could ever tell all from none: Fisher's test
// of 4 in 4 against 0 in 4 has p=0.03, of 3 in 3 0.1.
const Least = 4

// judge gives each variant its state, and says which is the best and what that
// costs.
func (a *Answer) judge() {
	if len(a.Variants) == 0 {
		return
	}
	base := &a.Variants[0]
	base.State = Base
	if a.Compare {
		base.State = Compared
	}
	base.Why = base.outcome()
	for i := 1; i < len(a.Variants); i++ {
		t := &a.Variants[i]
		t.State = stateOf(t, base)
		if a.Compare && t.Lost == 0 && base.Lost == 0 {
			t.State = Compared
		}
		t.Why = t.words(base)
	}
	a.note()
	a.choose()
}

func stateOf(t, base *Tested) State {
	sure := t.P != nil && *t.P <= alpha
	fewer := t.Lost*base.Runs < base.Lost*t.Runs
	switch {
	case sure && t.Lost == 0:
		return Proved
	case sure && fewer:
		return Helps
	case sure:
		return Worse
	case t.Lost == 0:
		return Open
	}
	return Refuted
}

// outcome counts the ends in words: "5 of 6 killed, 1 finished".
func (t *Tested) outcome() string {
	if t.Lost == 0 {
		return fmt.Sprintf("all %d runs came to their end", t.Runs)
	}
	var parts []string
	for _, e := range []Ended{Killed, Livelocked, TimedOut, Failed, OverBudget} {
		if n := t.Ends[e]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d of %d %s", n, t.Runs, ended[e]))
		}
	}
	return strings.Join(parts, ", ")
}

// Counts is the outcome in short: "3 of 3 survived", "killed 2 of 3".
func (t *Tested) Counts() string {
	if t.Lost == 0 {
		return fmt.Sprintf("%d of %d survived", t.Runs, t.Runs)
	}
	var parts []string
	for _, e := range []Ended{Killed, Livelocked, TimedOut, Failed, OverBudget} {
		if n := t.Ends[e]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d of %d", ended[e], n, t.Runs))
		}
	}
	return strings.Join(parts, ", ")
}

// ended are the ends as they are said of several runs.
var ended = map[Ended]string{
	Finished: "finished", Killed: "killed", Livelocked: "livelocked", TimedOut: "out of time", Failed: "failed", OverBudget: "over what was expected",
	Crawled: "crawled",
}

// words says a variant's state against the base.
func (t *Tested) words(base *Tested) string {
	switch t.State {
	case Proved:
		return fmt.Sprintf("proved: 0 of %d lost, against %d of %d (%s)", t.Runs, base.Lost, base.Runs, Chance(*t.P))
	case Helps:
		return fmt.Sprintf("helps, does not cure: %s, against %d of %d lost (%s)", t.outcome(), base.Lost, base.Runs, Chance(*t.P))
	case Worse:
		return fmt.Sprintf("worse: %s, against %d of %d lost (%s)", t.outcome(), base.Lost, base.Runs, Chance(*t.P))
	case Refuted:
		return fmt.Sprintf("no cure: %s, no difference to %s shown (%s)", t.outcome(), base.Name, Chance(*t.P))
	case Open:
		return fmt.Sprintf("not settled: 0 of %d lost against %d of %d may be chance (%s): more --runs", t.Runs, base.Lost, base.Runs, Chance(*t.P))
	}
	return t.outcome()
}

// Chance prints a probability as statisticians write it.
func Chance(p float64) string {
	if p < 0.001 {
		return "p<0.001"
	}
	return fmt.Sprintf("p=%.3f", p)
}

// note says what makes the figures less than they look.
func (a *Answer) note() {
	if a.Rounds < Least {
		a.Notes = append(a.Notes, fmt.Sprintf("at least %d runs of each are needed to tell a cure from chance; these are %d", Least, a.Rounds))
	}
	for _, t := range a.Variants {
		if t.Lost > 0 && t.Lost < t.Runs {
			a.Notes = append(a.Notes, fmt.Sprintf("%s: latency, GC share and CPU are of the %d of %d runs that came to their end", t.Name, t.Runs-t.Lost, t.Runs))
		}
	}
	if b := a.Machine.Busy; b != nil && *b >= BusyShare {
		a.Notes = append(a.Notes, fmt.Sprintf("others took %s of the CPUs between the runs: times, latencies and CPU spread, and bytes too", units.Percent(*b, 1)))
	}
}
