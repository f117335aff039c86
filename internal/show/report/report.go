// Package report prints an answer of package explain: as text for a terminal, at
// most 25 lines from 80 columns on, or as JSON for programs. It decides nothing and
// reads nothing but the source lines that it is handed.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// lines is the most lines that a text should have.
const lines = 25

// The widths of a page. What is flush right stays within reach of the left on wide ones.
const (
	usualWidth  = 100
	narrowWidth = 80
	leastWidth  = 40
	mostWidth   = 200
	rightmost   = 120
	fingerprint = "fingerprint "
)

// Options say how to print. The zero value prints plain text of 100 columns
// without source lines.
type Options struct {
	Width int  // columns; 0: 100. Less than 40 or more than 200 is taken for that
	Color bool // ANSI colours
	ASCII bool // no other character than ASCII in what is not a name
	// Source is the text of a line of a function, if it is found here and is the
	// program's. Nil, or NoSource: functions are named instead.
	Source   func(function, file string, line int) (text string, ok bool)
	NoSource bool
	// Link is the address of a line of a file for a terminal that follows links, "" for
	// none. Nil: nothing is a link.
	Link func(file string, line int) string
	// Next is the last line: the next useful commands. Empty: an export of the
	// recording's heap profile.
	Next string
}

// With is the same with its last line.
func (o Options) With(next string) Options {
	o.Next = next
	return o
}

func (o Options) width() int {
	if o.Width == 0 {
		return usualWidth
	}
	return min(max(o.Width, leastWidth), mostWidth)
}

// lines is how many lines a page should have at most: more where they are shorter than those of
// the narrowest usual terminal.
func (o Options) lines() int { return max(lines, lines*narrowWidth/o.width()) }

// JSON writes an answer, whose type says its schema, as one JSON object indented by
// two spaces.
func JSON(w io.Writer, answer any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(answer)
}

// Text writes the answer for people. Where it would be longer than 25 lines, the
// smaller rows are summed up, and later reasons and fixes left out. No line is wider
// than the page, but for a word or a command that could not be copied if it were broken.
func Text(w io.Writer, a *explain.Answer, o Options) error {
	d := everything
	page := compose(a, o, d)
	for _, less := range savings {
		if len(page) <= o.lines() {
			break
		}
		less(&d)
		page = compose(a, o, d)
	}
	return write(w, page, o, places(a))
}

// write prints a page. The names in it are made fit for a terminal; at says where the
// places that it names lie.
func write(w io.Writer, page []string, o Options, at map[string]string) error {
	_, err := io.WriteString(w, strings.Join(paint(page, o, at), "\n")+"\n")
	return err
}

// detail is how much a page shows of what there may be more of.
type detail struct {
	rows, holders, whys, gaps, processes, fixes, command, asked, commands int
	ruledOut, spaced, advice, tag, note, vain, next                       bool
}

var everything = detail{8, 4, 4, 4, 4, 2, 6, 3, 2, true, true, true, true, true, true, true}

// savings are what a page does without where it is too long, the least needed first. Rows go
// before reasons, of which one is always there.
var savings = []func(*detail){
	func(d *detail) { d.ruledOut = false },
	func(d *detail) { d.gaps, d.rows = 2, 6 },
	func(d *detail) { d.whys, d.holders = 3, 3 },
	func(d *detail) { d.gaps, d.holders = 1, 2 },
	func(d *detail) { d.rows, d.processes = 5, 3 },
	func(d *detail) { d.commands = 1 },
	func(d *detail) { d.whys, d.asked = 2, 2 },
	func(d *detail) { d.rows = 4 },
	func(d *detail) { d.spaced = false },
	func(d *detail) { d.holders = 1 },
	func(d *detail) { d.whys, d.processes = 1, 2 },
	func(d *detail) { d.fixes = 1 },
	func(d *detail) { d.rows, d.note = 3, false },
	func(d *detail) { d.next = false },
	func(d *detail) { d.command = 3 },
	func(d *detail) { d.asked = 1 },
	func(d *detail) { d.advice = false },
	func(d *detail) { d.holders = 0 },
	func(d *detail) { d.rows, d.processes = 2, 0 },
	func(d *detail) { d.command, d.gaps = 1, 0 },
	func(d *detail) { d.tag = false },
	func(d *detail) { d.vain = false },
}

func compose(a *explain.Answer, o Options, d detail) []string {
	p := page{width: o.width()}
	p.wrap("", a.Outcome.Sentence)
	p.space(d.next)
	p.finding(a, d)
	p.space(d.next)
	p.ledger(a, d)
	p.processes(a, d.processes)
	p.allocated(a, o, d.holders)
	if !p.nativeLive(a, o, d.holders) {
		p.resident(a, o, d.holders)
	}
	p.retained(a, d.holders)
	p.asked(a, d.asked)
	p.fixes(a.Fixes, d)
	p.wontHelp(a, d)
	p.gaps(a, d.gaps)
	p.space(d.spaced)
	p.more(a, o, d)
	return p.lines
}

// page is lines of text that are at most width columns wide, but for commands.
type page struct {
	width int
	lines []string
}

func (p *page) add(line string) { p.lines = append(p.lines, strings.TrimRight(line, " ")) }

func (p *page) addf(format string, args ...any) { p.add(fmt.Sprintf(format, args...)) }

func (p *page) space(yes bool) {
	if yes {
		p.add("")
	}
}

// right is the last column of what is flush right.
func (p *page) right() int { return min(p.width, rightmost) }

// both puts one text to the left edge and one to the right; the right one is left out
// where both do not fit.
func (p *page) both(left, right string) {
	room := p.right() - columns(left) - columns(right)
	if right == "" || room < 2 {
		p.add(left)
		return
	}
	p.add(left + strings.Repeat(" ", room) + right)
}

// titled is both for a line that begins with a name, which is folded where it is long.
func (p *page) titled(left, right string) {
	p.both(fold(left, max(leastWidth/2, p.right()-columns(right)-2)), right)
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

// more prints the last lines: commands to go on with, and by what the cause is known.
func (p *page) more(a *explain.Answer, o Options, d detail) {
	next := o.Next
	if next == "" {
		next = "highwater export --pprof " + visible.Shell(a.Recording)
	}
	tag := tagOf(a.Verdict)
	if !d.tag {
		tag = ""
	}
	commands := strings.Split(next, between)
	commands = commands[:min(d.commands, len(commands))]
	if all := strings.Join(commands, between); columns("More: "+all) <= p.width {
		commands = []string{all}
	}
	head := "More: "
	for i, command := range commands {
		if line := head + command; i == len(commands)-1 && columns(line)+2+columns(tag) <= p.right() {
			p.both(line, tag)
			return
		}
		p.command(head, command, p.width)
		head = strings.Repeat(" ", columns(head))
	}
	p.wrap(head, tag)
}

// between stands between two commands of a line.
const between = "      "
