package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/highwater-go/highwater/internal/decide/trial"
	"github.com/highwater-go/highwater/internal/words/units"
)

// The widths of a comparison's first column and of a variant's.
const (
	tryLabel = 18
	tryCell  = 20
)

// TryText writes a comparison for people: as many variants beside one another as the
// page is wide, further ones below.
func TryText(w io.Writer, a *trial.Answer, o Options) error {
	p := page{width: o.width()}
	p.titled(fmt.Sprintf("%s  %s", a.Program, runsOf(a)), underLimit(a))
	if r := a.Reproduced; r.Lost > 0 {
		p.wrap("FIRST   ", fmt.Sprintf("%s shows its fault in run %d of at most 3: %s", "the base", r.Runs, r.Why))
	}
	p.add("")
	if len(a.Variants) > 0 {
		p.tryTables(a)
		p.tryWhy(a)
	}
	p.wrap("BEST    ", a.Sentence)
	if len(a.Variants) > 0 {
		p.wrap("        ", a.TrueFor)
	}
	for _, note := range a.Notes {
		p.wrap("NOTE    ", note)
	}
	p.add(o.Next)
	return write(w, p.lines, o, nil)
}

func runsOf(a *trial.Answer) string {
	switch n := len(a.Runs); {
	case n == 0:
		return fmt.Sprintf("no trial: %d runs of the base", a.Reproduced.Runs)
	default:
		return fmt.Sprintf("%d runs of %d variants, in turns", n, len(a.Variants))
	}
}

func underLimit(a *trial.Answer) string {
	switch {
	case a.Limit > 0:
		return "limit " + units.Limit(a.Limit)
	case a.Expect != "":
		return "expected " + a.Expect
	}
	return ""
}

// tryTables prints the variants, the base first in each block.
func (p *page) tryTables(a *trial.Answer) {
	room := max(2, (p.width-tryLabel)/tryCell)
	rest := a.Variants[1:]
	for first := true; first || len(rest) > 0; first = false {
		n := min(len(rest), room-1)
		p.tryTable(a, append([]trial.Tested{a.Variants[0]}, rest[:n]...))
		rest = rest[n:]
		p.add("")
	}
}

func (p *page) tryTable(a *trial.Answer, columns []trial.Tested) {
	var head []string
	for _, t := range columns {
		head = append(head, t.Name)
	}
	p.tryRow("", head)
	p.tryLost(columns)
	for _, f := range trial.Figures(a.Runs) {
		var cells []string
		for i := range columns {
			cells = append(cells, cellText(a, f, columns[i].Cell(f.Name)))
		}
		p.tryRow(f.Title, cells)
	}
}

func (p *page) tryRow(label string, cells []string) {
	line := pad(cut(label, tryLabel-1), tryLabel)
	for _, c := range cells {
		line += pad(cut(c, tryCell-1), tryCell)
	}
	p.add(line)
}

// tryLost prints a line for each end that some run had, and the chance of so great a
// difference in all that was lost on the first of them.
func (p *page) tryLost(columns []trial.Tested) {
	first := true
	for _, e := range []trial.Ended{trial.Killed, trial.Livelocked, trial.TimedOut, trial.Failed, trial.OverBudget} {
		var cells []string
		some := 0
		for i, t := range columns {
			some += t.Ends[e]
			text := fmt.Sprintf("%d of %d", t.Ends[e], t.Runs)
			if first && i > 0 && t.P != nil {
				text += "  " + trial.Chance(*t.P)
			}
			cells = append(cells, text)
		}
		if some > 0 || first && e == trial.Killed && columns[0].State != trial.Compared {
			p.tryRow(lostTitles[e], cells)
			first = false
		}
	}
}

var lostTitles = map[trial.Ended]string{
	trial.Killed: "killed", trial.Livelocked: "livelocked", trial.TimedOut: "out of time", trial.Failed: "failed", trial.OverBudget: "over expectation",
}

// cellText is a figure: the median, how far its interval reaches, and ~ where the
// difference to the base may be chance. Where more than half of the runs are bounds
// there is no median but a bound.
func cellText(a *trial.Answer, f trial.Figure, c *trial.Cell) string {
	switch {
	case c == nil || c.Runs+c.Bounds == 0:
		return "-"
	case c.Median == nil && f.Name == trial.FigureHeadroom:
		return "none"
	case c.Median == nil && a.Limit > 0 && f.Kind == trial.Bytes:
		return "≥ " + units.Limit(a.Limit)
	case c.Median == nil:
		return "not reached"
	}
	text := f.Text(*c.Median)
	if c.Low != nil && c.High != nil && *c.Median > 0 {
		text += " ±" + spread(max(*c.High / *c.Median, 2 - *c.Low / *c.Median)-1)
	}
	if c.Noise {
		text += " ~"
	}
	return text
}

// spread is how far an interval reaches on its longer side.
func spread(share float64) string {
	if share > 1 {
		return ">100%"
	}
	return fmt.Sprintf("%.0f%%", math.Ceil(100*share))
}

func (p *page) tryWhy(a *trial.Answer) {
	for _, t := range a.Variants {
		p.wrap("  "+pad(t.Name+" ", tryLabel-2), t.Why)
		if t.Note != "" {
			p.wrap(strings.Repeat(" ", tryLabel), t.Note)
		}
	}
	p.add("")
}
