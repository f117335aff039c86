package report

import (
	"fmt"
	"io"
	"time"

	"github.com/highwater-go/highwater/internal/decide/trial"
	"github.com/highwater-go/highwater/internal/words/units"
)

// FitText writes for people which limits were survived, how they were found, and
// what to make of them.
func FitText(w io.Writer, f *trial.Fit, o Options) error {
	p := page{width: o.width()}
	free := f.Free.Values
	p.titled(fmt.Sprintf("%s  without a limit: peak %s, %s", f.Program, units.Size(int64(free[trial.FigurePeak])),
		units.Duration(time.Duration(free[trial.FigureTime]))), runsOfFit(f))
	for _, why := range f.Began[:min(2, len(f.Began))] {
		p.wrap("BEGAN   ", why)
	}
	for _, s := range []struct {
		found *trial.Fitted
		name  string
	}{{f.AsIs, "as it is"}, {f.Limited, "with GOMEMLIMIT"}} {
		if s.found != nil {
			p.wrap("SEARCH  ", s.name+": "+s.found.Path())
			p.wrap("FOUND   ", s.found.Text(s.found == f.Limited))
		}
	}
	p.fitLatency(f)
	p.add("")
	p.fitAdvice(f)
	p.wrap("        ", f.TrueFor)
	for _, note := range f.Notes {
		p.wrap("NOTE    ", note)
	}
	p.add(o.Next)
	return write(w, p.lines, o, nil)
}

func runsOfFit(f *trial.Fit) string {
	n := 1
	for _, found := range []*trial.Fitted{f.AsIs, f.Limited} {
		if found != nil {
			n += len(found.Steps)
		}
	}
	return fmt.Sprintf("%d runs", n)
}

// fitLatency says how long answers took without a limit, and under those found.
func (p *page) fitLatency(f *trial.Fit) {
	free := trial.LatencyText(f.Free.Values)
	if free == "" {
		return
	}
	p.wrap("WAITS   ", "without a limit: "+free)
	for _, s := range []struct {
		found *trial.Fitted
		with  string
	}{{f.AsIs, "as it is"}, {f.Limited, "with GOMEMLIMIT"}} {
		if s.found == nil {
			continue
		}
		if text := trial.LatencyText(s.found.Latency()); text != "" {
			p.wrap("        ", fmt.Sprintf("%s %s: %s", units.Limit(s.found.Limit), s.with, text))
		}
	}
}

func (p *page) fitAdvice(f *trial.Fit) {
	r := f.Recommended
	if r == nil {
		p.wrap("FIX     ", f.Sentence)
		return
	}
	text := "a limit of " + units.Limit(r.Limit)
	if r.GOMEMLIMIT > 0 {
		text += " with GOMEMLIMIT=" + units.Env(r.GOMEMLIMIT)
	}
	gogc := "GOGC=off"
	if r.GOGC != nil {
		gogc = fmt.Sprintf("GOGC=%d", *r.GOGC)
	}
	p.wrap("FIX     ", fmt.Sprintf("%s, %s as it was: %s", text, gogc, r.Because))
	p.pasteLines(r)
}
