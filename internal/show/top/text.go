package top

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// style is how a piece of text is drawn. Nothing is told by a colour alone.
type style uint8

const (
	bold style = 1 << iota
	dim
	reversed
	green
	yellow
	red
	cyan
)

// span is text of one style, line one line of the screen.
type span struct {
	text  string
	style style
}

type line []span

func plain(text string) line { return line{{text: text}} }

// String is the line without its styles.
func (l line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

// with adds a style to the whole line.
func (l line) with(s style) line {
	out := make(line, len(l))
	for i := range l {
		out[i] = span{l[i].text, l[i].style | s}
	}
	return out
}

// cropped is the line as far as n columns have room for it.
func (l line) cropped(n int) line {
	for i, s := range l {
		if w := width(s.text); w > n {
			return append(l[:i:i], span{string([]rune(s.text)[:n]), s.style})
		} else {
			n -= w
		}
	}
	return l
}

// width is how many columns a text takes; every rune that is drawn here takes one.
func width(s string) int { return utf8.RuneCountInString(s) }

// cut shortens a text to n columns with an ellipsis at its end.
func cut(s string, n int) string {
	if width(s) <= n {
		return s
	}
	if n < 1 {
		return ""
	}
	return string([]rune(s)[:n-1]) + "…"
}

// left and right put a text into n columns.
func left(s string, n int) string {
	s = cut(s, n)
	return s + strings.Repeat(" ", max(0, n-width(s)))
}

func right(s string, n int) string {
	s = cut(s, n)
	return strings.Repeat(" ", max(0, n-width(s))) + s
}

// wrapped breaks a text at spaces into at most most lines of n columns.
func wrapped(text string, n, most int) (out []string) {
	rest := ""
	for _, word := range strings.Fields(text) {
		switch {
		case rest == "":
			rest = word
		case width(rest)+1+width(word) <= n:
			rest += " " + word
		case len(out) == most-1:
			return append(out, cut(rest+" "+word, n))
		default:
			out, rest = append(out, cut(rest, n)), word
		}
	}
	if rest != "" && most > 0 {
		out = append(out, cut(rest, n))
	}
	return out
}

// hung breaks a line of a page at spaces; what follows stands further in.
func hung(text string, n int) []string {
	indent := strings.Repeat(" ", len(text)-len(strings.TrimLeft(text, " "))+4)
	var out []string
	for width(text) > n && n > 2*len(indent) {
		r := []rune(text)
		at := n
		for i := n; i > len(indent); i-- {
			if r[i] == ' ' {
				at = i
				break
			}
		}
		out = append(out, strings.TrimRight(string(r[:at]), " "))
		text = indent + strings.TrimLeft(string(r[at:]), " ")
	}
	return append(out, cut(text, n))
}

// unknown stands for what was not seen, none for what there is not.
const (
	unknown = "~"
	none    = "-"
)

var sizeUnits = []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}

// size is an amount in at most seven columns: "9.5 MiB", "388 MiB", "1.0 GiB".
func size(n float64) string {
	unit := 0
	for math.Abs(n) >= 999.5 && unit < len(sizeUnits)-1 {
		n /= 1024
		unit++
	}
	if unit > 0 && math.Abs(n) < 9.95 {
		return fmt.Sprintf("%.1f %s", n, sizeUnits[unit])
	}
	return fmt.Sprintf("%.0f %s", n, sizeUnits[unit])
}

// perHour is where a growth is told for the hour: what takes so long to become
// something is thought of in hours.
const perHour = float64(256 * sample.KiB)

// rate is a growth in at most ten columns: "+310 MiB/s", "+36 MiB/h", "0".
func rate(perSecond sample.Opt[float64]) string {
	switch v := perSecond.V; {
	case !perSecond.OK:
		return unknown
	case v == 0:
		return "0"
	case math.Abs(v) < perHour:
		return signed(size(v*3600), v) + "/h"
	default:
		return signed(size(v), v) + "/s"
	}
}

func signed(s string, v float64) string {
	if v > 0 {
		return "+" + s
	}
	return s
}

// until is a time in at most six columns: "0.4 s", "41 s", "12 min", "7 h", "9 days".
func until(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 100*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 100*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.0f h", d.Hours())
	case d < 100*24*time.Hour:
		return fmt.Sprintf("%.0f d", d.Hours()/24)
	}
	return ">99 d"
}

// share is a part in percent, in four columns.
func share(s sample.Opt[float64]) string {
	if !s.OK {
		return unknown
	}
	return strings.Replace(units.Percent(s.V, 1), "<1%", "0%", 1)
}

// eighths are parts of a block, lower ones and left ones.
var (
	lower  = []rune(" ▁▂▃▄▅▆▇█")
	partly = []rune(" ▏▎▍▌▋▊▉█")
)

// bar is a part of a whole in n columns; rest fills what is left.
func bar(part float64, n int, rest string) string {
	full := min(max(part, 0), 1) * float64(n)
	out := strings.Repeat("█", int(full))
	if eighth := int((full - math.Floor(full)) * 8); eighth > 0 {
		out += string(partly[eighth])
	}
	return out + strings.Repeat(rest, max(0, n-width(out)))
}

// calm is the least part of a figure that a sparkline shows as a full swing, so that
// noise stays flat.
const calm = 0.05

// spark draws the last minutes of a figure in n columns, the latest right, from its
// least value to its greatest.
func spark(v []float64, n int) string {
	if n < 1 || len(v) < 2 {
		return strings.Repeat(" ", max(n, 0))
	}
	low, high := v[0], v[0]
	for _, x := range v {
		low, high = min(low, x), max(high, x)
	}
	swing := max(high-low, calm*high, 1)
	cells := min(n, len(v))
	out := make([]rune, 0, n)
	for range n - cells {
		out = append(out, ' ')
	}
	for i := range cells {
		top := low
		for _, x := range v[i*len(v)/cells : (i+1)*len(v)/cells] {
			top = max(top, x)
		}
		out = append(out, lower[1+int(math.Round((top-low)/swing*7))])
	}
	return string(out)
}

// asciiOf is what is drawn where the terminal knows no more than ASCII.
var asciiOf = strings.NewReplacer(
	"▁", "_", "▂", ".", "▃", ".", "▄", "-", "▅", "-", "▆", "=", "▇", "=", "█", "#",
	"▏", " ", "▎", " ", "▍", "-", "▌", "-", "▋", "=", "▊", "=", "▉", "#",
	"░", ".", "…", "~", "±", "+-", "→", ">", "▾", "v", "▴", "^", "·", ".", "²", "2", "¹", "1", "µ", "u", "–", "-", "×", "x",
)
