package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/explain"
	"github.com/highwater-go/highwater/internal/units"
)

// asked prints in about so many lines each, three or less, how memory compares
// with what was expected, how long answers took, and what memory grows with.
func (p *page) asked(a *explain.Answer, most int) {
	if w := a.Work; w != nil {
		p.short("WORK      ", w.Sentence, min(2, most))
	}
	if x := a.Expected; x != nil {
		p.short("EXPECTED  ", x.Sentence, min(2, most))
	}
	switch l := a.Latency; {
	case l == nil:
	case most == 1: // the table is in --latency; what the waits coincide with comes first
		p.short("REQUESTS  ", l.Line(), 1)
		p.short("          ", l.Sentence, 1)
	default:
		p.short("REQUESTS  ", l.Line()+". "+l.Sentence, min(3, most))
	}
}

// short adds a paragraph of at most so many lines.
func (p *page) short(head, text string, most int) {
	lines := wrapped(text, p.width-columns(head))
	if len(lines) > most {
		lines = append(lines[:most-1:most-1], cut(strings.Join(lines[most-1:], " "), p.width-columns(head)))
	}
	for _, line := range lines {
		p.add(head + line)
		head = strings.Repeat(" ", columns(head))
	}
}

// LatencyText writes how long the program's answers took, for people: at most 30
// lines.
func LatencyText(w io.Writer, l *explain.Latency, o Options) error {
	if o.Width <= 0 {
		o.Width = 100
	}
	p := page{width: o.Width}
	p.short("REQUESTS  ", l.Line(), 2)
	p.short("          ", l.Sentence, 3)
	if l.Requests > 0 {
		p.percentiles(l)
		p.histogram(l.Histogram)
		p.course(l.Course)
	}
	p.add(o.Next)
	_, err := io.WriteString(w, strings.Join(paint(p.lines, o.Color), "\n")+"\n")
	return err
}

// percentiles prints a table of one row; what too few requests tell is left out.
func (p *page) percentiles(l *explain.Latency) {
	head, row := "HOW LONG  ", strings.Repeat(" ", 10)
	for _, c := range []struct {
		name string
		ns   *int64
	}{{"p50", &l.P50}, {"p90", &l.P90}, {"p99", l.P99}, {"p99.9", l.P999}, {"max", &l.Max}} {
		if c.ns != nil {
			head += fmt.Sprintf("%11s", c.name)
			row += fmt.Sprintf("%11s", took(*c.ns))
		}
	}
	p.add(head)
	p.add(row)
}

// mostBuckets is how many rows the histogram has: neighbours are put together
// until they fit.
const mostBuckets = 8

func (p *page) histogram(list []explain.LatencyBucket) {
	for len(list) > mostBuckets {
		var wider []explain.LatencyBucket
		for i := 0; i < len(list); i += 2 {
			one := list[i]
			if i+1 < len(list) {
				one.To, one.Requests = list[i+1].To, one.Requests+list[i+1].Requests
			}
			wider = append(wider, one)
		}
		list = wider
	}
	most, all := 1, 0
	for _, b := range list {
		most, all = max(most, b.Requests), all+b.Requests
	}
	p.add("HOW MANY  took as long")
	for _, b := range list {
		cells := (b.Requests*barCells + most - 1) / most
		p.addf("  %9s to %-9s %s %7d  %5.1f%%", took(b.From), took(b.To), pad(strings.Repeat(string(bar), cells), barCells), b.Requests, 100*float64(b.Requests)/float64(max(1, all)))
	}
}

// course prints the median and the longest of each part of the run, two parts a row.
func (p *page) course(steps []explain.LatencyStep) {
	if len(steps) < 2 {
		return
	}
	p.add("WHEN      after start: median, longest")
	half := (len(steps) + 1) / 2
	for i := range half {
		row := "  " + stepText(steps[i])
		if i+half < len(steps) {
			row = pad(row, 50) + stepText(steps[i+half])
		}
		p.add(row)
	}
}

func stepText(s explain.LatencyStep) string {
	at := units.Duration(time.Duration(s.At * float64(time.Second)))
	if s.P50 == nil {
		return fmt.Sprintf("%9s  no request", at)
	}
	return fmt.Sprintf("%9s  %9s  %9s", at, took(*s.P50), took(*s.Max))
}

// took is a latency in three digits.
func took(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%.3g ms", float64(d)/float64(time.Millisecond))
	}
	return units.Duration(d)
}
