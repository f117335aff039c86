package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// resident prints the lines that made native memory grow.
func (p *page) resident(a *explain.Answer, o Options, most int) {
	r := a.Resident
	if r == nil || len(r.Lines) == 0 || most == 0 || !isAboutNative(a) {
		return
	}
	p.both(explain.GrownBy, fmt.Sprintf("%s, ± %.0f MiB", samples(r.Samples), max(1, float64(r.ErrorBytes)/float64(sample.MiB))))
	for i, k := range r.Lines[:min(most, len(r.Lines))] {
		p.residentLine(k, r, o, i == 0)
	}
	left, n := r.TotalBytes, r.Others+max(0, len(r.Lines)-most)
	for _, k := range r.Lines[:min(most, len(r.Lines))] {
		left = left.Sub(k.Bytes)
	}
	if n > 0 && int64(left) >= tiny {
		p.addf("  %11s %4s  %s", mib(int64(left), false), units.Percent(float64(left), float64(r.Whole())), other(n))
	}
	if r.SeenBytes >= 2*r.RowBytes {
		p.wrap("  ", "Pages that were given back and written again count each time.")
	}
	if unseen := r.Whole() - r.TotalBytes; unseen*20 > r.Whole() {
		p.addf("  %11s %4s  not sampled", mib(int64(unseen), false), units.Percent(float64(unseen), float64(r.Whole())))
	}
}

// isAboutNative says whether native memory is what an answer explains, or what it cannot explain.
func isAboutNative(a *explain.Answer) bool {
	rows := a.Ledger.Rows
	undecided := a.Verdict.Class == explain.Inconclusive && len(rows) > 0
	return a.Verdict.Class == explain.Native || undecided && slices.MaxFunc(rows,
		func(x, y explain.LedgerRow) int { return cmp.Compare(x.Bytes, y.Bytes) }).Name == sample.RowNative
}

func samples(n uint64) string {
	if n == 1 {
		return "1 page fault sampled"
	}
	return sample.Thousands(n) + " page faults sampled"
}

// residentLine is one line, and the C functions below it.
func (p *page) residentLine(k explain.ResidentLine, r *explain.Resident, o Options, unit bool) {
	h := explain.Holder{Place: k.Place, Bytes: k.Bytes, OwnCode: k.OwnCode}
	s := explain.Sampling{TotalBytes: r.Whole(), Alone: true}
	if k.File != "" {
		p.holder(h, s, o, unit, false)
	} else {
		left := fmt.Sprintf("  %11s %4s  ", mib(int64(k.Bytes), unit), units.Percent(float64(k.Bytes), float64(r.Whole())))
		p.add(left + cut("a thread of C: "+k.Function, p.right()-columns(left)))
	}
	if k.WrittenAt != "" {
		p.wrap(strings.Repeat(" ", 20), "mapped here; first written at "+k.WrittenAt)
	}
	if len(k.Native) > 0 && k.File != "" {
		p.wrap(strings.Repeat(" ", 20), "C: "+strings.Join(k.Native, " < "))
	}
}
