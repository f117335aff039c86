package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/highwater-go/highwater/internal/decide/trial"
	"github.com/highwater-go/highwater/internal/words/units"
)

//go:embed try_page_style.html
var tryPageStyle string

// tryPage is what a comparison's page shows.
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
	p := &tryPage{Answer: a, Width: tryPageWidth, High: tryPageHigh}
	seconds, most := 1e-9, float64(a.Setup.Limit)
	for _, c := range curves {
		for i := range c.Bytes {
			seconds, most = max(seconds, c.Seconds[i]), max(most, c.Bytes[i])
		}
	}
	most = max(1.04*most, 1)
	p.Top, p.End = units.Size(int64(most)), fmt.Sprintf("%.1f s", seconds)
	if l := float64(a.Setup.Limit); l > 0 {
		p.limitAt, p.LimitText = tryPageHigh*(1-l/most), "limit of "+units.Limit(a.Setup.Limit)
	}
	for _, c := range curves {
		p.Curves = append(p.Curves, tryPageCurve{Name: fmt.Sprintf("%s, run %d: %s", c.Variant, c.N, c.Ended), Class: classOf(a, c.Variant),
			Path: pathOf(c, seconds, most), Lost: c.Ended.Lost()})
	}
	for _, f := range trial.Figures(a.Runs) {
		p.Rows = append(p.Rows, pageRow(a, f))
	}
	var b bytes.Buffer
	p.write(&b)
	_, err := b.WriteTo(w)
	return err
}

// write writes the page. It is written by hand, as html/template has the linker keep
// every exported method of the program (docs/adr/0119).
func (p *tryPage) write(b *bytes.Buffer) {
	add := func(form string, texts ...string) {
		escaped := make([]any, len(texts))
		for i, text := range texts {
			escaped[i] = html.EscapeString(text)
		}
		fmt.Fprintf(b, form+"\n", escaped...)
	}
	add("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")
	add("<title>highwater try: %s</title>", p.Program)
	b.WriteString(tryPageStyle)
	add("<h1>%s</h1>\n<p><strong>%s</strong> <span class=\"soft\">%s</span></p>", p.Program, p.Sentence, p.TrueFor)
	for _, note := range p.Notes {
		add("<p class=\"soft\">%s</p>", note)
	}
	limit := ""
	if p.LimitText != "" {
		limit = ", and the thin line is the " + p.LimitText
	}
	add("<h2>Memory over time</h2>\n<p class=\"soft\">Without page cache, from the start of each run. Shown are the runs whose recordings were kept; a run that was lost is dashed%s.</p>", limit)
	add("<div class=\"axis\"><span>%s</span></div>", p.Top)
	add(`<svg viewBox="0 0 %s %s" role="img" aria-label="Memory over time of %s runs">`, fmt.Sprint(p.Width), fmt.Sprint(p.High), fmt.Sprint(len(p.Curves)))
	if p.LimitText != "" {
		add(`<path class="limit" d="%s"><title>%s</title></path>`, p.Line(), p.LimitText)
	}
	for _, c := range p.Curves {
		class := c.Class
		if c.Lost {
			class += " lost"
		}
		add(`<path class="%s" d="%s"><title>%s</title></path>`, class, c.Path, c.Name)
	}
	add("</svg>\n<div class=\"axis\"><span>0</span><span>%s</span></div>", p.End)
	p.writeTables(add)
	add("</html>")
}

// writeTables writes what each variant is, and its figures.
func (p *tryPage) writeTables(add func(form string, texts ...string)) {
	add("<h2>Variants</h2>\n<div class=\"wide\"><table>\n<tr><th scope=\"col\">variant</th><th scope=\"col\">command</th><th scope=\"col\">what came of it</th></tr>")
	for _, v := range p.Variants {
		add(`<tr><th scope="row" class="%s">%s</th><td><code>%s</code>`, p.Class(v.Name), v.Name, v.Command)
		if v.Note != "" {
			add("<br>%s", v.Note)
		}
		add("</td><td>%s</td></tr>", v.Why)
	}
	add("</table></div>\n<div class=\"wide\"><table>\n<tr><th scope=\"col\"></th>")
	for _, v := range p.Variants {
		add(`<th scope="col" class="%s">%s</th>`, p.Class(v.Name), v.Name)
	}
	add("</tr>")
	for _, row := range p.Rows {
		add(`<tr><th scope="row">%s</th>`, row.Title)
		for _, cell := range row.Cells {
			add("<td>%s</td>", cell)
		}
		add("</tr>")
	}
	add("</table></div>")
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

// Class is the colour's name of a variant.
func (p *tryPage) Class(variant string) string { return classOf(p.Answer, variant) }

// Line is the limit as a path.
func (p *tryPage) Line() string { return fmt.Sprintf("M0 %.1fH%d", p.limitAt, tryPageWidth) }
