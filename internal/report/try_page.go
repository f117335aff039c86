package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/highwater-go/highwater/internal/trial"
	"github.com/highwater-go/highwater/internal/units"
)

//go:embed try_page.html
var pages embed.FS

// tryPage is what the template of a comparison's page is filled with.
type tryPage struct {
	*trial.Answer
	Rows        []tryPageRow
	Curves      []tryPageCurve
	Top, End    string // what the axes reach
	LimitText   string // "": none
	Width, High int
	limitAt     float64
}

// tryPageRow is a figure of all variants.
type tryPageRow struct {
	Title string
	Cells []string
}

// tryPageCurve is one run as a path.
type tryPageCurve struct {
	Name, Path string
	Class      string // "v0" of the first variant, "v1" ...
	Lost       bool
}

// The size of the picture in its own units.
const (
	tryPageWidth = 1000
	tryPageHigh  = 320
)

// TryPage writes a comparison as one page that needs nothing beside it: the answer,
// the courses of the runs whose recordings were kept laid over one another, and
// the table.
func TryPage(w io.Writer, a *trial.Answer, curves []trial.Curve) error {
	t, err := template.ParseFS(pages, "try_page.html")
	if err != nil {
		return err
	}
	p := &tryPage{Answer: a, Width: tryPageWidth, High: tryPageHigh}
	seconds, bytes := 1e-9, float64(a.Setup.Limit)
	for _, c := range curves {
		for i := range c.Bytes {
			seconds, bytes = max(seconds, c.Seconds[i]), max(bytes, c.Bytes[i])
		}
	}
	bytes = max(1.04*bytes, 1)
	p.Top, p.End = units.Size(int64(bytes)), fmt.Sprintf("%.1f s", seconds)
	if l := float64(a.Setup.Limit); l > 0 {
		p.limitAt, p.LimitText = tryPageHigh*(1-l/bytes), "limit of "+units.Limit(a.Setup.Limit)
	}
	for _, c := range curves {
		p.Curves = append(p.Curves, tryPageCurve{Name: fmt.Sprintf("%s, run %d: %s", c.Variant, c.N, c.Ended), Class: classOf(a, c.Variant),
			Path: pathOf(c, seconds, bytes), Lost: c.Ended.Lost()})
	}
	for _, f := range trial.Figures(a.Runs) {
		p.Rows = append(p.Rows, pageRow(a, f))
	}
	return t.Execute(w, p)
}

// pathOf is a curve as an SVG path.
func pathOf(c trial.Curve, seconds, bytes float64) string {
	var b strings.Builder
	for i := range c.Bytes {
		step := "L"
		if i == 0 {
			step = "M"
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", step, tryPageWidth*c.Seconds[i]/seconds, tryPageHigh*(1-c.Bytes[i]/bytes))
	}
	return b.String()
}

// tryPageColours is how many variants have a colour of their own.
const tryPageColours = 8

func classOf(a *trial.Answer, variant string) string {
	for i := range a.Variants {
		if a.Variants[i].Name == variant {
			return fmt.Sprintf("v%d", i%tryPageColours)
		}
	}
	return "v0"
}

func pageRow(a *trial.Answer, f trial.Figure) tryPageRow {
	row := tryPageRow{Title: f.Title}
	for i := range a.Variants {
		row.Cells = append(row.Cells, cellText(a, f, a.Variants[i].Cell(f.Name)))
	}
	return row
}

// Class is the colour's name of a variant, for the template.
func (p *tryPage) Class(variant string) string { return classOf(p.Answer, variant) }

// Line is the limit as a path.
func (p *tryPage) Line() string { return fmt.Sprintf("M0 %.1fH%d", p.limitAt, tryPageWidth) }
