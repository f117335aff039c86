package trial

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/units"
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

// ended are the ends as they are said of several runs.
var ended = map[Ended]string{
	Finished: "finished", Killed: "killed", Livelocked: "livelocked", TimedOut: "out of time", Failed: "failed", OverBudget: "over what was expected", Crawled: "crawled",
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

// choose finds the best of those that may be called good: the one with the least
// memory.
func (a *Answer) choose() {
	var good []*Tested
	for i := range a.Variants {
		if s := a.Variants[i].State; s == Proved || s == Compared {
			good = append(good, &a.Variants[i])
		}
	}
	slices.SortStableFunc(good, func(x, y *Tested) int { return cmp.Compare(x.need(), y.need()) })
	switch {
	case len(good) > 0:
		a.Best = good[0].Name
		a.Sentence = a.praise(good)
	case slices.ContainsFunc(a.Variants, func(t Tested) bool { return t.State == Open }):
		a.Sentence = "Nothing is proved yet: what lost no run may owe it to chance."
	case len(a.Variants) > 1:
		a.Sentence = "None of the variants cures it."
	}
	a.TrueFor = a.trueFor()
}

// need is the median of the peak, or more than any where it is not known.
func (t *Tested) need() float64 {
	if c := t.Cell(FigurePeak); c != nil && c.Median != nil {
		return *c.Median
	}
	return 1e300
}

// praise says of the best by how much it is better, and what it costs.
func (a *Answer) praise(good []*Tested) string {
	best := good[0]
	var s strings.Builder
	switch {
	case best.State == Compared && len(good) > 1:
		fmt.Fprintf(&s, "%s needs the least memory", best.Name)
	case best.State == Compared:
		fmt.Fprintf(&s, "%s was compared with nothing", best.Name)
	default:
		fmt.Fprintf(&s, "%s cures it: %d of %d runs lost, against %d of %d (%s)", best.Name, best.Lost, best.Runs, a.Variants[0].Lost, a.Variants[0].Runs, Chance(*best.P))
	}
	if c := best.Cell(FigurePeak); c != nil && c.Median != nil {
		fmt.Fprintf(&s, "; peak %s", units.Size(int64(*c.Median)))
		if h := best.Cell(FigureHeadroom); h != nil && h.Median != nil {
			fmt.Fprintf(&s, ", %s below the limit", units.Size(int64(*h.Median)))
		}
	}
	if len(good) > 1 {
		s.WriteString(a.beside(best, good[1]))
	}
	return s.String() + "." + a.costs(best, good[1:])
}

// beside compares the best with the next.
func (a *Answer) beside(best, next *Tested) string {
	f := figureOf(FigurePeak)
	x, _ := valuesOf(f, runsOf(a.Runs, best.Name))
	y, _ := valuesOf(f, runsOf(a.Runs, next.Name))
	if len(x) == 0 || len(y) == 0 || next.need() > 1e299 {
		return ""
	}
	p := MannWhitney(x, y)
	if p > alpha {
		return fmt.Sprintf("; no difference in memory to %s shown (%s)", next.Name, Chance(p))
	}
	return fmt.Sprintf(", %.1f%% less than %s (%s)", 100*(1-best.need()/next.need()), next.Name, Chance(p))
}

// costs says in which figures the best is worse than another that is good; of one
// that stands alone, what the collector takes.
func (a *Answer) costs(best *Tested, others []*Tested) string {
	var parts []string
	for _, f := range Figures(a.Runs) {
		if f.Name == FigurePeak || f.Name == FigureHeadroom || f.Name == FigureResident {
			continue
		}
		if part := a.costsMore(f, best, others); part != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) > 0 {
		return " It costs " + strings.Join(parts, ", ") + "."
	}
	if c := best.Cell(FigureGC); c != nil && c.Median != nil && len(others) == 0 {
		return fmt.Sprintf(" The collector takes %s of its CPU time.", units.Percent(*c.Median, 1))
	}
	if len(others) > 0 {
		return " No cost was shown beside the others that survive."
	}
	return ""
}

// costsMore compares one figure with the variant in which it is best.
func (a *Answer) costsMore(f Figure, best *Tested, others []*Tested) string {
	own := best.Cell(f.Name)
	if own == nil || own.Median == nil {
		return ""
	}
	x, _ := valuesOf(f, runsOf(a.Runs, best.Name))
	said, most := "", 0.0
	for _, t := range others {
		c := t.Cell(f.Name)
		if c == nil || c.Median == nil || *c.Median == 0 {
			continue
		}
		worse := *own.Median / *c.Median - 1
		if f.Higher {
			worse = -worse
		}
		y, _ := valuesOf(f, runsOf(a.Runs, t.Name))
		if worse > max(most, 0.01) && MannWhitney(x, y) <= alpha {
			most = worse
			said = fmt.Sprintf("%s %s against %s of %s", f.Title, f.Text(*own.Median), f.Text(*c.Median), t.Name)
		}
	}
	return said
}

func figureOf(name string) Figure {
	return figures[slices.IndexFunc(figures, func(f Figure) bool { return f.Name == name })]
}

// trueFor says what the answer does not reach beyond.
func (a *Answer) trueFor() string {
	parts := []string{"these binaries"}
	if a.Load != "" {
		parts = append([]string{"this load"}, parts...)
	}
	if a.Limit > 0 {
		parts = append(parts, "a limit of "+units.Limit(a.Limit)+" without swap")
	}
	parts = append(parts, fmt.Sprintf("%d CPUs", a.Machine.CPUs), "Linux "+a.Machine.Kernel)
	return "True for " + strings.Join(parts, ", ") + "."
}
