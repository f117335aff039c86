package top

import (
	"strconv"
	"strings"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// column is one of the table: its least and greatest width, and how early it goes
// where there is no room for all: 0 never.
type column struct {
	title     string
	min, most int
	goes      int
	flush     bool // left
	cell      func(r *Row, width int) span
}

var columns = []column{
	{"PID", 7, 7, 0, false, func(r *Row, _ int) span { return span{text: pid(r)} }},
	{"PROGRAM", 10, 24, 0, true, func(r *Row, _ int) span { return span{text: nameOf(r), style: bold} }},
	{"GO", 6, 7, 3, true, func(r *Row, _ int) span { return span{text: orNone(r.Go)} }},
	{"USED", 7, 7, 0, false, func(r *Row, _ int) span { return span{text: amount(r.Used, unknown)} }},
	{"LIMIT", 7, 7, 5, false, func(r *Row, _ int) span { return span{text: amount(r.Limit, none)} }},
	{"%", 4, 4, 1, false, func(r *Row, _ int) span { return span{percent(r), fullStyle(r)} }},
	{"FULL", 6, 16, 4, true, func(r *Row, w int) span { return span{fullBar(r, w), fullStyle(r)} }},
	{"GROWTH", 10, 10, 0, false, func(r *Row, _ int) span { return span{text: rate(r.Growth)} }},
	{"LIMIT IN", 8, 8, 0, false, func(r *Row, _ int) span { return span{timeLeft(r), leftStyle(r)} }},
	{"GC", 4, 4, 2, false, func(r *Row, _ int) span { return span{text: gcShare(r)} }},
	{"5 MIN", 5, 40, 6, true, func(r *Row, w int) span { return span{spark(r.Course, w), cyan} }},
}

// sentenceFrom is the column from which on one that ended has its sentence.
const sentenceFrom = "USED"

// fitted are the columns that a width has room for, and how wide they are: with one
// space between, and what is left given to those that can use it.
func fitted(n int) (list []column, widths []int) {
	list = append(list, columns...)
	taken := func() int {
		sum := len(list) // the mark, and a space between
		for _, c := range list {
			sum += c.min
		}
		return sum
	}
	for goes := 1; taken() > n && goes <= len(columns); goes++ {
		for i, c := range list {
			if c.goes == goes {
				list = append(list[:i:i], list[i+1:]...)
				break
			}
		}
	}
	for _, c := range list {
		widths = append(widths, c.min)
	}
	for rest, grew := n-taken(), true; rest > 0 && grew; {
		grew = false
		for i := range list {
			if rest > 0 && widths[i] < list[i].most {
				widths[i]++
				rest--
				grew = true
			}
		}
	}
	return list, widths
}

// header is the table's first line; the column that it is sorted by is marked.
func header(by string, reverse bool, n int) line {
	mark := "▾"
	if reverse {
		mark = "▴"
	}
	list, widths := fitted(n)
	l := line{{text: " "}}
	for i, c := range list {
		title, s := c.title, bold
		if title == by {
			title, s = title+mark, bold|cyan
			if width(title) > widths[i] {
				title = cut(c.title, widths[i]-1) + mark
			}
		}
		l = append(l, place(span{title, s}, widths[i], c.flush), gap(i, list))
	}
	return l
}

// tableLine is one row.
func tableLine(r *Row, n int) line {
	list, widths := fitted(n)
	l := line{{text: " "}}
	used := 1
	for i, c := range list {
		if r.State != Runs && c.title == sentenceFrom {
			return append(l, ended(r, n-used)...)
		}
		l = append(l, place(c.cell(r, widths[i]), widths[i], c.flush), gap(i, list))
		used += widths[i] + 1
	}
	return l
}

func gap(i int, list []column) span {
	if i == len(list)-1 {
		return span{}
	}
	return span{text: " "}
}

func place(s span, n int, flush bool) span {
	if flush {
		return span{left(s.text, n), s.style}
	}
	return span{right(s.text, n), s.style}
}

// ended is what is said of one that runs no more.
func ended(r *Row, n int) line {
	s := bold | red
	if r.State == Exited {
		s = dim
	}
	return line{{cut(string(r.State), n), s}, {text: cut("  "+r.Sentence, n-width(string(r.State)))}}
}

func pid(r *Row) string {
	if r.PID == 0 {
		return none
	}
	return strconv.Itoa(r.PID)
}

func nameOf(r *Row) string {
	if r.Part {
		return "· " + r.Program
	}
	return r.Program
}

func orNone(s string) string {
	if s == "" {
		return none
	}
	return s
}

func amount(b sample.Opt[sample.Bytes], absent string) string {
	if !b.OK {
		return absent
	}
	return size(float64(b.V))
}

func percent(r *Row) string {
	if full := r.full(); full.OK {
		return units.Percent(full.V, 1)
	}
	return ""
}

func fullBar(r *Row, n int) string {
	if full := r.full(); full.OK {
		return bar(full.V, n, "░")
	}
	return ""
}

// From where on a limit is near, and very near.
const (
	near     = 0.75
	veryNear = 0.9
	soon     = 60 // seconds
	verySoon = 10 // seconds
)

func fullStyle(r *Row) style {
	switch full := r.full().V; {
	case full >= veryNear:
		return red | bold
	case full >= near:
		return yellow
	}
	return green
}

// timeLeft is a time, "~" where the growth is not known, and "-" where no limit is
// being met.
func timeLeft(r *Row) string {
	switch {
	case r.Left.OK:
		return until(r.Left.V)
	case r.Limit.OK && !r.Growth.OK:
		return unknown
	}
	return none
}

func leftStyle(r *Row) style {
	switch s := r.Left.V.Seconds(); {
	case !r.Left.OK:
		return 0
	case s < verySoon:
		return red | bold
	case s < soon:
		return yellow
	}
	return 0
}

func gcShare(r *Row) string {
	if r.Go == "" {
		return none
	}
	return share(r.GC)
}

// Table is the rows as a text, as ps prints them: sorted, n columns wide.
func Table(rows []Row, n int) string {
	var b strings.Builder
	b.WriteString(strings.TrimRight(header("", false, n).String()[1:], " ") + "\n")
	for _, r := range sorted(rows, orders[0], false) {
		b.WriteString(strings.TrimRight(tableLine(&r, n).String()[1:], " ") + "\n")
	}
	return b.String()
}
