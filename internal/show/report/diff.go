package report

import (
	"fmt"
	"io"
	"time"

	"github.com/highwater-go/highwater/internal/answer/compare"
	"github.com/highwater-go/highwater/internal/answer/moment"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// DiffText writes a comparison for people, in at most 30 lines: smaller rows and
// lines are summed up.
func DiffText(w io.Writer, d *compare.Diff, o Options) error {
	var page []string
	for _, detail := range []diffDetail{{9, 6, 3, 4}, {8, 5, 2, 4}, {7, 4, 1, 4}, {6, 3, 1, 3}, {5, 2, 0, 3}, {4, 1, 0, 2}} {
		if page = composeDiff(d, o, detail); len(page) <= lines {
			break
		}
	}
	return write(w, page, o, nil)
}

// diffDetail is how much of each part a page shows.
type diffDetail struct{ rows, lines, same, notes int }

func composeDiff(d *compare.Diff, o Options, most diffDetail) []string {
	p := page{width: o.width()}
	p.diffHead(d)
	p.add("")
	p.diffRows(d, most.rows)
	p.diffLines("WHAT GREW of the Go heap", d.Grew, o, most.lines)
	p.diffLines("WHAT SHRANK of the Go heap", d.Shrank, o, most.lines)
	p.diffAllocated(d, o, (most.lines+1)/2)
	p.diffSame(d, o, most.same)
	for _, note := range d.Notes[:min(most.notes, len(d.Notes))] {
		p.wrap("NOTE  ", note)
	}
	if o.Next != "" {
		p.add(o.Next)
	}
	return p.lines
}

// diffHead says what is compared, and by how much it differs.
func (p *page) diffHead(d *compare.Diff) {
	b, a := d.Before, d.After
	name := a.Program
	if name == "" {
		name = "the program"
	}
	if !d.SameProcess {
		name = "two recordings"
		if b.Recording == a.Recording {
			name = "two processes"
		}
	}
	p.add(fold(fmt.Sprintf("%s  %s: %s became %s", name, units.Delta(d.Total.Change), units.Size(d.Total.Before), units.Size(d.Total.After)), p.width))
	p.add("")
	for _, side := range []struct {
		head string
		moment.Side
	}{{"before", b}, {"after", a}} {
		at, right := ", "+diffMoment(side.Side), fmt.Sprintf("%s, pid %d", side.Program, side.PID)
		p.both(fmt.Sprintf("  %-7s %s%s", side.head, fold(side.Recording, max(8, p.right()-12-columns(at)-columns(right))), at), right)
	}
}

func diffMoment(s moment.Side) string {
	after := units.Duration(time.Duration(s.Elapsed * float64(time.Second)))
	switch s.Moment {
	case "kill", "peak":
		return fmt.Sprintf("at the %s, %s after start", s.Moment, after)
	case "last":
		return fmt.Sprintf("at the last moment, %s after start", after)
	}
	return after + " after start"
}

// diffRows prints the ledger's rows, those with the greatest change first.
func (p *page) diffRows(d *compare.Diff, most int) {
	what := "usage of the cgroup"
	if !d.Before.OfCgroup || !d.After.OfCgroup {
		what = "private memory of the program"
	}
	p.addf("%s%11s%11s%14s", pad("MEMORY: "+what, 37), "before", "after", "change")
	rest := compare.Row{}
	n := 0
	for i, r := range d.Ledger {
		unexplained := i == len(d.Ledger)-1
		if i >= most-1 && !unexplained {
			rest.Before, rest.After, n = rest.Before+r.Before, rest.After+r.After, n+1
			continue
		}
		if unexplained && n > 0 {
			rest.Name = fmt.Sprintf("%d smaller parts", n)
			if n == 1 {
				rest.Name = "1 smaller part"
			}
			rest.Change = rest.After - rest.Before
			p.diffRow(rest)
		}
		p.diffRow(r)
	}
}

func (p *page) diffRow(r compare.Row) {
	note := ""
	if r.Reclaimable {
		note = "  reclaimable"
	}
	p.addf("  %s%13s%11s%14s%s", pad(explain.RowWord(r.Name), 33), units.Size(r.Before), units.Size(r.After), signed(r.Change), note)
}

// signed is a change, "0" for none.
func signed(n int64) string {
	if n == 0 {
		return "0"
	}
	return units.Delta(n)
}

// diffAllocated prints the lines by which two runs differ in what they allocated.
func (p *page) diffAllocated(d *compare.Diff, o Options, most int) {
	if len(d.AllocatedBy) > 0 {
		p.diffLines(fmt.Sprintf("ALLOCATED in total, live or not: %s became %s", units.Size(d.Allocated.Before), units.Size(d.Allocated.After)), d.AllocatedBy,
			o, most)
	}
}

// diffLines prints lines of code with what they hold more or less than before.
func (p *page) diffLines(title string, list []compare.Line, o Options, most int) {
	if len(list) == 0 {
		return
	}
	p.both(title, "± one standard error of the sampling")
	for _, l := range list[:min(most, len(list))] {
		left := fmt.Sprintf("%14s %-8s  %s  ", signed(l.Change), plusMinus(l.Error), fold(fmt.Sprintf("%s:%d", explain.ShortFile(l.File), l.Line), 30))
		right := fmt.Sprintf("%s -> %s", units.Size(l.Before), units.Size(l.After))
		holder := explain.Holder{Place: l.Place}
		p.both(left+cut(codeOf(holder, o), p.width-columns(left)-columns(right)-2), right)
	}
	if more := list[min(most, len(list)):]; len(more) > 0 {
		sum := int64(0)
		for _, l := range more {
			sum += l.Change
		}
		p.addf("%14s %-8s  %s", signed(sum), "", other(len(more)))
	}
}

// plusMinus is a standard error in MiB; nothing where every allocation was counted.
func plusMinus(err int64) string {
	if err == 0 {
		return ""
	}
	return fmt.Sprintf("± %.1f", float64(err)/float64(sample.MiB))
}

// diffSame prints what did not change beyond chance.
func (p *page) diffSame(d *compare.Diff, o Options, most int) {
	if len(d.Same) == 0 {
		if len(d.Grew)+len(d.Shrank) == 0 && d.Before.View != "none" && d.After.View != "none" {
			p.add("WHAT CHANGED of the Go heap: nothing was live")
		}
		return
	}
	sum := int64(0)
	for _, l := range d.Same {
		sum += l.After
	}
	p.both(fmt.Sprintf("UNCHANGED within two standard errors: %s, %s", count(len(d.Same), "line"), units.Size(sum)), "")
	for _, l := range d.Same[:min(most, len(d.Same))] {
		left := fmt.Sprintf("%14s %-8s  %s  ", signed(l.Change), plusMinus(l.Error), fold(fmt.Sprintf("%s:%d", explain.ShortFile(l.File), l.Line), 30))
		right := units.Size(l.After)
		p.both(left+cut(codeOf(explain.Holder{Place: l.Place}, o), p.width-columns(left)-columns(right)-2), right)
	}
}
