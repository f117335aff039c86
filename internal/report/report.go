// Package report prints an answer of package explain: as text for a terminal, at
// most 30 lines at 100 columns, or as JSON for programs. It decides nothing and
// reads nothing but the source lines that it is handed.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/highwater-go/highwater/internal/explain"
	"github.com/highwater-go/highwater/internal/visible"
)

// lines is the most lines that a text may have.
const lines = 30

// Options say how to print. The zero value prints plain text of 100 columns
// without source lines.
type Options struct {
	Width int  // columns; 0: 100
	Color bool // ANSI colours
	// Source is the text of a line of a function, if it is found here and is the
	// program's. Nil, or NoSource: functions are named instead.
	Source   func(function, file string, line int) (text string, ok bool)
	NoSource bool
	// Next is the last line: the next useful command. Empty: an export of the
	// recording's heap profile.
	Next string
}

// JSON writes an answer, whose type says its schema, as one JSON object indented by
// two spaces.
func JSON(w io.Writer, answer any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(answer)
}

// Text writes the answer for people. Where it would be longer than 30 lines,
// the smaller rows are summed up and the later reasons left out. No line is wider
// than the page, but for a command that could not be copied if it were broken.
func Text(w io.Writer, a *explain.Answer, o Options) error {
	if o.Width <= 0 {
		o.Width = 100
	}
	var page []string
	for _, detail := range []detail{{4, 4, 9, 2, 4, 4}, {3, 3, 8, 1, 3, 4}, {2, 3, 7, 1, 2, 4}, {2, 2, 7, 0, 2, 4}, {1, 2, 6, 0, 1, 3}, {1, 1, 6, 0, 1, 3}, {1, 1, 5, 0, 1, 2}, {1, 1, 5, 0, 1, 1}, {1, 0, 4, 0, 1, 1}} {
		if page = compose(a, o, detail); len(page) <= lines {
			break
		}
	}
	_, err := io.WriteString(w, strings.Join(paint(page, o.Color), "\n")+"\n")
	return err
}

// detail is how much a page shows of what there may be more of.
type detail struct{ holders, whys, rows, gaps, processes, command int }

func compose(a *explain.Answer, o Options, d detail) []string {
	p := page{width: o.Width}
	p.headline(a)
	p.add("")
	p.verdict(a.Verdict)
	if a.Verdict.Class == explain.Inconclusive {
		p.undecided(a.Verdict, d.command)
	}
	p.add("")
	p.ledger(a, d.rows)
	p.processes(a, d.processes)
	p.holders(a, o, d.holders)
	p.whys(a, d.whys)
	p.asked(a, d.whys+1)
	p.fixes(a.Fixes, d.command)
	p.wontHelp(a, d.command < 4)
	if a.Verdict.Class != explain.Inconclusive && len(a.Verdict.Next) > 0 && d.whys > 0 {
		p.command("NEXT ", a.Verdict.Next[0], 1)
	}
	p.gaps(a.Gaps, d.gaps)
	next := o.Next
	if next == "" {
		next = "highwater export --pprof " + visible.Shell(a.Recording)
	}
	p.add(next) // to be copied: never cut
	return p.lines
}

// page is lines of text that are at most width columns wide, but for commands.
type page struct {
	width int
	lines []string
}

func (p *page) add(line string) { p.lines = append(p.lines, strings.TrimRight(line, " ")) }

func (p *page) addf(format string, args ...any) { p.add(fmt.Sprintf(format, args...)) }

// both puts one text to the left edge and one to the right; the left one is
// folded where both do not fit, and the right one cut where it leaves no room.
func (p *page) both(left, right string) {
	if right == "" {
		p.add(fold(left, p.width))
		return
	}
	right = cut(right, p.width-14) // the left one keeps a word or two in a narrow window
	left = fold(left, p.width-columns(right)-2)
	p.add(left + strings.Repeat(" ", p.width-columns(left)-columns(right)) + right)
}

// wrap adds a paragraph whose first line begins with head and whose others are
// indented as far.
func (p *page) wrap(head, text string) {
	indent := columns(head)
	for _, line := range wrapped(text, p.width-indent) {
		p.add(head + line)
		head = strings.Repeat(" ", indent)
	}
}
