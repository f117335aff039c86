package trial

import (
	"math"
	"slices"
)

// Answer is what a trial has found.
type Answer struct {
	Schema string `json:"schema"`
	Setup
	// Reproduced says how often the base was lost before the trial began; those runs
	// are not among the others, whose number was fixed before.
	Reproduced Reproduced `json:"reproduced"`
	Rounds     int        `json:"rounds"`
	Variants   []Tested   `json:"variants"` // the base first
	Runs       []Run      `json:"runs"`     // in the order in which they were made
	Best       string     `json:"best"`     // name of a variant, "" if none is
	Sentence   string     `json:"sentence"`
	TrueFor    string     `json:"true_for"`
	Notes      []string   `json:"notes"`
	Folder     string     `json:"folder"` // of the recordings
}

// Reproduced is how often the base's fault was seen at first.
type Reproduced struct {
	Runs int    `json:"runs"`
	Lost int    `json:"lost"`
	Why  string `json:"why"` // of the last that was lost
}

// State is what a trial says of a variant.
type State string

// The states. A trial is judged by what was lost: Proved lost none, and so few by
// chance are unlikely; Helps lost fewer; Refuted was lost, and no difference to the
// base was shown; Worse lost more. Open lost none, which may be chance. Compared: there
// was no fault to judge by.
const (
	Base     State = "base"
	Proved   State = "proved"
	Helps    State = "helps"
	Refuted  State = "refuted"
	Worse    State = "worse"
	Open     State = "open"
	Compared State = "compared"
)

// Tested is a variant and what became of its runs.
type Tested struct {
	Variant
	State State `json:"state"`
	Runs  int   `json:"runs"`
	Lost  int   `json:"lost"`
	// Ends counts the runs by how they ended.
	Ends map[Ended]int `json:"ends"`
	// P is the chance of so great a difference to the base in what was lost, if there is
	// none; null for the base.
	P       *float64 `json:"p"`
	Figures []Cell   `json:"figures"`
	Why     string   `json:"why"` // the state, in words
}

// Cell is one figure of a variant. Null is what so few runs, or bounds, do not tell.
type Cell struct {
	Name   string   `json:"name"`
	Runs   int      `json:"runs"`   // behind the median
	Bounds int      `json:"bounds"` // runs of which only a bound is known: worse than all others
	Median *float64 `json:"median"`
	Low    *float64 `json:"low"` // of the interval of 95 % around the median
	High   *float64 `json:"high"`
	// Delta is the median as a share of the base's, less 1; P the chance of so great a
	// difference if there is none; Noise: it is more than 5 %.
	Delta *float64 `json:"delta"`
	P     *float64 `json:"p"`
	Noise bool     `json:"noise"`
}

// Compare makes an answer of all runs. Variants without a run yet are left out: it
// serves an interrupted trial, too.
func Compare(setup Setup, variants []Variant, runs []Run) *Answer {
	a := &Answer{Schema: Schema, Setup: setup, Variants: []Tested{}, Runs: append([]Run{}, runs...), Notes: []string{}}
	rows := Figures(runs)
	base := runsOf(runs, variants[0].Name)
	for i, v := range variants {
		own := runsOf(runs, v.Name)
		if len(own) == 0 {
			continue
		}
		t := tested(v, own)
		for _, f := range rows {
			c := cellOf(f, own)
			if i > 0 {
				c.against(f, own, base)
			}
			t.Figures = append(t.Figures, c)
		}
		if i > 0 {
			p := Fisher(t.Lost, t.Runs, lost(base), len(base))
			t.P = &p
		}
		a.Variants = append(a.Variants, t)
		a.Rounds = max(a.Rounds, len(own))
	}
	a.judge()
	return a
}

func runsOf(runs []Run, variant string) (own []Run) {
	for _, r := range runs {
		if r.Variant == variant {
			own = append(own, r)
		}
	}
	return own
}

func lost(runs []Run) (n int) {
	for _, r := range runs {
		if r.Ended.Lost() {
			n++
		}
	}
	return n
}

func tested(v Variant, own []Run) Tested {
	t := Tested{Variant: v, Runs: len(own), Lost: lost(own), Ends: map[Ended]int{}, Figures: []Cell{}}
	for _, r := range own {
		t.Ends[r.Ended]++
	}
	return t
}

// valuesOf are a figure's values, a bound as infinity in the worse direction. A run
// over its budget came to its end: its figures are whole.
func valuesOf(f Figure, runs []Run) (values []float64, bounds int) {
	for _, r := range runs {
		v, seen := r.Values[f.Name]
		switch {
		case slices.Contains(f.bounds, r.Ended):
			bounds++
			if f.Higher {
				values = append(values, math.Inf(-1))
			} else {
				values = append(values, math.Inf(1))
			}
		case seen && (r.Ended == Finished || r.Ended == OverBudget):
			values = append(values, v)
		}
	}
	return values, bounds
}

func cellOf(f Figure, runs []Run) Cell {
	c := Cell{Name: f.Name}
	values, bounds := valuesOf(f, runs)
	c.Runs, c.Bounds = len(values)-bounds, bounds
	if len(values) == 0 {
		return c
	}
	i := interval(values)
	c.Median, c.Low, c.High = finite(i.Median), finite(i.Low), finite(i.High)
	return c
}

func finite(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}

// against compares with the base by ranks.
func (c *Cell) against(f Figure, own, base []Run) {
	a, _ := valuesOf(f, own)
	b, _ := valuesOf(f, base)
	if len(a) == 0 || len(b) == 0 {
		return
	}
	p := MannWhitney(a, b)
	c.P, c.Noise = &p, p > alpha
	if m := finite(interval(b).Median); c.Median != nil && m != nil && *m != 0 {
		delta := *c.Median / *m - 1
		c.Delta = &delta
	}
}

// Cell is a variant's figure of that name, nil if it has none.
func (t *Tested) Cell(name string) *Cell {
	for i := range t.Figures {
		if t.Figures[i].Name == name {
			return &t.Figures[i]
		}
	}
	return nil
}
