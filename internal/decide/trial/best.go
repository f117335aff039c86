package trial

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/words/sorting"
	"github.com/highwater-go/highwater/internal/words/units"
)

// choose finds the best of those that may be called good: the one with the least
// memory.
func (a *Answer) choose() {
	var good []*Tested
	for i := range a.Variants {
		if s := a.Variants[i].State; s == Proved || s == Compared {
			good = append(good, &a.Variants[i])
		}
	}
	sorting.Stable(good, func(x, y *Tested) int { return cmp.Compare(x.need(), y.need()) })
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
		fmt.Fprintf(&s, "%s cures it: %d of %d runs lost, against %d of %d (%s)", best.Name, best.Lost, best.Runs, a.Variants[0].Lost, a.Variants[0].Runs,
			Chance(*best.P))
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
		return fmt.Sprintf(" GC takes %s of its CPU time.", units.Percent(*c.Median, 1))
	}
	if len(others) > 0 {
		return " No cost was shown against the others that survive."
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
