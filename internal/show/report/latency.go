package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/measure/latency"
	"github.com/highwater-go/highwater/internal/words/units"
)

// asked prints in so many lines each, or whole sentences where the first is longer, how
// memory compares with what was expected, how long answers took, and what memory grows with.
func (p *page) asked(a *explain.Answer, most int) {
	if w := a.Work; w != nil {
		p.short("WORK      ", w.Sentence, most)
	}
	if x := a.Expected; x != nil {
		p.short("EXPECTED  ", x.Sentence, most)
	}
	if l := a.Latency; l != nil {
		p.short("REQUESTS  ", l.Line()+". "+l.Sentence, most)
	}
}

// short adds as many whole sentences as so many lines hold, one at least.
func (p *page) short(head, text string, most int) {
	room := p.width - columns(head)
	all := strings.SplitAfter(text, ". ")
	n := 1
	for n < len(all) && len(wrapped(strings.Join(all[:n+1], ""), room)) <= most {
		n++
	}
	p.wrap(head, strings.Join(all[:n], ""))
}

// LatencyText writes how long the program's answers took, for people: at most 30
// lines.
func LatencyText(w io.Writer, l *latency.Latency, o Options) error {
	p := page{width: o.width()}
	p.short("REQUESTS  ", l.Line(), 2)
	p.short("          ", l.Sentence, 2)
	if l.Requests > 0 {
		p.percentiles(l)
		p.histogram(l.Histogram)
		p.course(l.Course)
	}
	p.add(o.Next)
	return write(w, p.lines, o, nil)
}

// percentiles prints a table of one row; what too few requests tell is left out.
func (p *page) percentiles(l *latency.Latency) {
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

func (p *page) histogram(list []latency.Bucket) {
	for len(list) > mostBuckets {
		var wider []latency.Bucket
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
		p.addf("  %9s to %-9s %s %7d  %5.1f%%", took(b.From), took(b.To), pad(strings.Repeat(string(bar), cells), barCells), b.Requests,
			100*float64(b.Requests)/float64(max(1, all)))
	}
}

// course prints the median and the longest of each part of the run, two parts a row.
func (p *page) course(steps []latency.Step) {
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

func stepText(s latency.Step) string {
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
