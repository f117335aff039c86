package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/highwater-go/highwater/internal/answer/listing"
	"github.com/highwater-go/highwater/internal/answer/moment"
	"github.com/highwater-go/highwater/internal/words/units"
)

// context is how many lines around one with figures are shown.
const context = 4

// ListingText writes functions line by line, each with what was held and had been
// allocated under it. Longer stretches without figures are left out; source lines
// are as wide as they are.
func ListingText(w io.Writer, l *listing.Listing, o Options) error {
	p := page{width: o.width()}
	for _, f := range l.Functions {
		p.listed(f, l.Side)
		p.add("")
	}
	if n := len(l.Others); n > 0 {
		p.wrap("NOTE  ", fmt.Sprintf("%s more of that name: %s", count(n, "function"), strings.Join(l.Others[:min(n, 5)], ", ")))
	}
	for _, note := range l.Notes {
		p.wrap("NOTE  ", note)
	}
	p.add(o.Next)
	return write(w, p.lines, o, nil)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (p *page) listed(f listing.Function, side moment.Side) {
	where := f.Path
	if where == "" {
		where = f.File
	}
	p.add(fold(fmt.Sprintf("%s  %s", f.Function, where), p.width))
	p.addf("  %s: %s live%s, %s allocated in total", diffMoment(side), units.Size(f.Held), within(f.Error), units.Size(f.Allocated))
	if f.Problem != "" {
		p.wrap("  NO SOURCE  ", f.Problem+"; --source DIR names where it lies")
	}
	p.addf("%12s%12s%12s%7s", "live", "grew", "allocated", "line")
	shown := shownLines(f.Lines)
	for i, l := range f.Lines {
		switch {
		case shown[i]:
			p.addf("%12s%12s%12s%7d  %s", figure(l.Held), change(l.Growth), figure(l.Allocated), l.Line, strings.ReplaceAll(l.Text, "\t", "    "))
		case i == 0 || shown[i-1]:
			p.addf("%43s", "...")
		}
	}
}

// within is a standard error in words.
func within(err int64) string {
	if err == 0 {
		return ""
	}
	return " " + plusMinus(err) + " MiB"
}

// shownLines are those with figures and what is around them, and the first.
func shownLines(lines []listing.Line) []bool {
	out := make([]bool, len(lines))
	for i, l := range lines {
		if l.Held == 0 && l.Allocated == 0 && i > 0 {
			continue
		}
		for k := max(0, i-context); k < min(len(lines), i+context+1); k++ {
			out[k] = true
		}
	}
	return out
}

// figure is an amount, "." for none.
func figure(n int64) string {
	if n == 0 {
		return "."
	}
	return units.Size(n)
}

func change(n int64) string {
	if n == 0 {
		return "."
	}
	return units.Delta(n)
}
