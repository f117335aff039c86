package top

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// Detail is one process, or one Life, in full as of one instant.
type Detail struct {
	Row
	Module  string
	WhyNot  string // why there is no heap profile, "" where there is one
	Beside  int    // processes that share the cgroup
	Figures *sample.Runtime
	Cycles  []sample.GCCycle // the latest last
	Ledger  explain.Ledger
}

// Detail is what is known of a row now; nil where that is gone.
func (b *Board) Detail(of id, now time.Time) *Detail {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Contains(b.lives, of.life) {
		return nil
	}
	for _, r := range of.life.rows(now) {
		if r.id == of {
			return of.life.detail(r)
		}
	}
	return nil
}

func (l *Life) detail(r Row) *Detail {
	d := &Detail{Row: r, Beside: l.beside, Ledger: l.ledger()}
	p := l.find(r.process)
	if p == nil {
		for _, one := range l.gone {
			if one.program.Key == r.process {
				p = one
			}
		}
	}
	if p == nil {
		return d
	}
	d.Figures, d.Cycles, d.WhyNot = p.figures, slices.Clone(p.cycles), p.program.WhyNot
	if g := p.program.Go; g != nil {
		d.Module = g.Module
	}
	return d
}

// ledger divides the latest full point.
func (l *Life) ledger() explain.Ledger {
	e := &explain.Evidence{}
	for _, p := range l.processes {
		e.Programs = append(e.Programs, p.program)
	}
	point := l.point
	if l.cgroup.Usage > 0 {
		point.Cgroup = &l.cgroup
	}
	return e.LedgerAt(&point)
}

// detailLines is the view of one process.
func detailLines(d *Detail, lines *Lines, now time.Time, n int) []line {
	out := headLines(d, n)
	if d.State == Runs {
		out = append(out, ledgerLines(d, n)...)
	}
	out = append(out, heapLines(d, lines, now, n)...)
	return append(out, cycleLines(d, n)...)
}

func headLines(d *Detail, n int) []line {
	title := line{{d.Program, bold}}
	if d.PID > 0 {
		title = append(title, span{text: "  pid " + pid(&d.Row)})
	}
	if d.Go != "" {
		title = append(title, span{text: "  go" + d.Go})
	}
	if d.State != Runs {
		out := []line{append(title, span{"  " + string(d.State), red | bold})}
		for _, text := range wrapped(d.Sentence, n, 4) {
			out = append(out, plain(text))
		}
		return out
	}
	out := []line{append(title, span{text: "  " + cut(d.Args, max(0, n-width(title.String())-2)), style: dim}), memoryLine(d, n)}
	if g := d.Figures; g != nil {
		out = append(out, plain(cut(runtimeWords(d, g), n)))
	}
	return out
}

func memoryLine(d *Detail, n int) line {
	var l line
	switch {
	case d.Limit.OK && d.Charge.OK:
		l = line{{text: fmt.Sprintf("%s of %s  ", units.Size(d.Charge.V), units.Limit(d.Limit.V))}, {percent(&d.Row) + " " + fullBar(&d.Row, 10), fullStyle(&d.Row)}}
		if d.Beside > 0 {
			l = append(l, span{text: fmt.Sprintf("  %s of it its own", amount(d.Used, unknown))})
		}
	case d.Part:
		l = plain(amount(d.Used, unknown) + " resident")
	case d.Charge.OK:
		l = plain(units.Size(d.Charge.V) + ", no limit")
	default:
		l = plain(amount(d.Used, unknown) + " resident, no limit")
	}
	l = append(l, span{text: "  growing " + rate(d.Growth)})
	if d.Left.OK {
		l = append(l, span{"  limit in " + until(d.Left.V), leftStyle(&d.Row)})
	}
	return append(l, span{text: "  "}, span{spark(d.Course, min(40, n-width(l.String())-2)), cyan})
}

func runtimeWords(d *Detail, g *sample.Runtime) string {
	memlimit := "not set"
	if g.MemoryLimit != sample.NoMemoryLimit {
		memlimit = units.Limit(g.MemoryLimit)
	}
	gogc := "off"
	if g.GOGC >= 0 {
		gogc = fmt.Sprint(g.GOGC)
	}
	return fmt.Sprintf("GOGC %s  GOMEMLIMIT %s  goroutines %d  GCs %d, %s of CPU, next at %s",
		gogc, memlimit, g.Goroutines, g.NumGC, gcShare(&d.Row), size(float64(g.HeapGoal)))
}

func ledgerLines(d *Detail, n int) []line {
	l := d.Ledger
	what := "anonymous memory"
	if l.OfCgroup {
		what = "memory usage of the cgroup"
	}
	out := []line{{}, heading("MEMORY NOW: "+units.Size(l.TotalBytes), what+", by Go's own figures; e: by page", n)}
	row := func(name string, b float64, more string) line {
		text := fmt.Sprintf("  %s %8s %4s  ", left(name, 22), size(b), units.Percent(math.Max(b, 0), float64(l.TotalBytes)))
		return line{{text: text}, {bar(b/float64(max(l.TotalBytes, 1)), 20, ""), cyan}, {text: more}}
	}
	for _, r := range l.Rows {
		more := ""
		if r.Reclaimable {
			more = "  reclaimable"
		}
		out = append(out, row(explain.RowWord(r.Name), float64(r.Bytes), more))
	}
	if l.UnexplainedBytes != 0 {
		out = append(out, row("unexplained", float64(l.UnexplainedBytes), ""))
	}
	return out
}

// heading is a title with what is to be known of it on the right, where there is room.
func heading(title, note string, n int) line {
	space := n - width(title) - width(note)
	if space < 2 {
		return line{{cut(title, n), bold}}
	}
	return line{{title, bold}, {strings.Repeat(" ", space), 0}, {note, dim}}
}

// mostLines bounds the lines of code that are shown; what is below holds next to
// nothing, and e tells more.
const mostLines = 25

func heapLines(d *Detail, lines *Lines, now time.Time, n int) []line {
	const title = "ALLOCATED BY"
	why := ""
	switch {
	case d.process.PID == 0:
		why = "of several processes; Enter on one of them shows its lines"
	case d.WhyNot != "":
		why = d.WhyNot
	case d.Go == "":
		why = "not a Go program: there is no heap profile"
	case lines == nil:
		why = "reading its heap profile"
	case lines.Why != "":
		why = lines.Why
	case len(lines.List) == 0:
		why = "no heap profile has been read yet"
	}
	out := []line{{}}
	if why != "" {
		out = append(out, line{{title, bold}})
		for _, text := range wrapped(why, n-2, 3) {
			out = append(out, plain("  "+visible.Text(text)))
		}
		return out
	}
	note := fmt.Sprintf("live or unswept, %s ago", until(now.Sub(lines.At)))
	if lines.Since > 0 {
		note = fmt.Sprintf("growth in %s; ", until(lines.Since)) + note
	}
	out = append(out, heading(title, note, n))
	rest := lines.Total
	for _, h := range lines.List[:min(mostLines, len(lines.List))] {
		out = append(out, heapLine(h, lines, n))
		rest -= h.Bytes
	}
	if more := len(lines.List) - mostLines; more > 0 {
		out = append(out, plain(fmt.Sprintf("  %8s %4s  in %d other lines", size(float64(rest)), units.Percent(float64(rest), float64(lines.Total)), more)))
	}
	return out
}

// heapLine is one line of code: what it allocated and is live, its growth where that is beyond
// chance, and where it is.
func heapLine(h HeapLine, lines *Lines, n int) line {
	grew := ""
	if lines.Since > 0 && math.Abs(float64(h.Growth)) > 2*h.Error && h.Growth != 0 {
		grew = signed(size(float64(h.Growth)), float64(h.Growth))
	}
	text := fmt.Sprintf("  %8s %4s %9s  ", size(float64(h.Bytes)), units.Percent(float64(h.Bytes), float64(lines.Total)), grew)
	s := style(0)
	if ownFirst(h) == 0 {
		s = bold
	}
	rest := max(0, n-width(text))
	where := cut(h.code(), rest)
	function := cut("  "+explain.ShortFunc(h.Function), max(0, rest-width(where)))
	return line{{text: text}, {visible.Text(where), s}, {visible.Text(function), dim}}
}

func cycleLines(d *Detail, n int) []line {
	if d.Go == "" {
		return nil
	}
	out := []line{{}, heading("LAST GCS", "heap at its start, live heap, next GC target", n)}
	if len(d.Cycles) == 0 {
		return append(out, plain("  no GC was seen yet"))
	}
	for i := len(d.Cycles) - 1; i >= 0; i-- {
		c := d.Cycles[i]
		text := fmt.Sprintf("  %s  #%-6d %8s → %7s → %7s  pause %s", c.At.Format("15:04:05"), c.N,
			size(float64(c.Trigger)), size(float64(c.Marked)), size(float64(c.Goal)), units.Duration(c.Pause))
		if c.Missed > 0 {
			text += fmt.Sprintf(", with %d before it", c.Missed)
		}
		out = append(out, plain(cut(text, n)))
	}
	return out
}
