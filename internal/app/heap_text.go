package app

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/highwater-go/highwater/internal/words/units"
	"github.com/highwater-go/highwater/internal/words/visible"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Rows of each part of the text, which has thirty lines at most.
const (
	holderRows     = 6
	typeRows       = 5
	collectionRows = 3
	chainRows      = 2
	stringRows     = 3 // instead of as many holders
	gapRows        = 2
	gapWidth       = 90 // columns of a gap, whose further lines begin ten to the right
)

// print writes the answer as text.
func (ans *heapAnswer) print(w io.Writer) error {
	p := &heapPrinter{w: w}
	garbage := ans.Bytes - min(ans.LiveBytes, ans.Bytes)
	p.line("%s  %s live heap in %s objects; another %s is garbage or not yet swept", ans.program, units.Size(ans.LiveBytes), count(ans.Objects),
		units.Size(garbage))
	if ans.StopMS > 0 {
		p.line("  paused for %.1f ms; types known for %.0f%% of live bytes%s", ans.StopMS, 100*ans.typed, ans.Frames)
	} else {
		p.line("  not paused; types known for %.0f%% of live bytes%s", 100*ans.typed, ans.Frames)
	}
	if ans.Sample != nil {
		p.line("%s", ans.Sample.line(ans.Objects))
	}
	p.line("RETAINED BY                                                     retained, objects")
	rows := holderRows
	if ans.Strings != nil {
		rows -= stringRows
	}
	for _, h := range ans.Holders[:min(len(ans.Holders), rows)] {
		name, of := h.Name, short(h.Path, 80)+"  "
		if name == "" {
			name, of = of, ""
		}
		p.line("  %10s%s %4s  %s", units.Size(h.Retained), off(h.Error), ans.percent(h.Retained), short(name, 100))
		objects := count(h.Objects) + " objects"
		if h.Objects == 1 {
			objects = "1 object"
		}
		p.line("      %s%s  %s%s%s", of, short(h.Type, 40), objects, ans.young(h), allocatedAt(h))
	}
	p.line("TYPES%s", ans.legend())
	for _, t := range ans.Types[:min(len(ans.Types), typeRows)] {
		p.line("  %10s%s %4s  %s%s  %s", units.Size(t.Bytes), off(t.Error), ans.percent(t.Bytes), t.mark(), short(t.Type, 60), count(t.Objects))
	}
	p.collections(ans)
	p.strings(ans.Strings)
	for i, c := range ans.Chains[:min(len(ans.Chains), chainRows)] {
		if i == 0 {
			p.line("CHAINS that a single GC worker must walk")
		}
		p.line("  %s objects in a chain: %s  %s", count(c.Length), short(c.Path, 50), short(c.Type, 20))
	}
	for _, g := range ans.Gaps[:min(len(ans.Gaps), gapRows)] {
		for i, l := range Folded("NOT SEEN  "+g.What+": "+g.Why, gapWidth) {
			p.line("%s%s", strings.Repeat(" ", min(i, 1)*10), l)
		}
	}
	p.line("--json has all rows; --type TYPE and --path ADDRESS show one in full")
	return p.err
}

// mark stands before a type that most objects do not carry themselves.
func (t *heapType) mark() string {
	if t.Inferred != nil && *t.Inferred*2 > t.Bytes {
		return "~"
	}
	return ""
}

// legend explains the mark where there is one.
func (ans *heapAnswer) legend() string {
	for i := range ans.Types[:min(len(ans.Types), typeRows)] {
		if ans.Types[i].mark() != "" {
			return "                                      ~ inferred from the field, slice or map that leads there"
		}
	}
	return ""
}

// collections writes those of which much is out of reach or that are large.
func (p *heapPrinter) collections(ans *heapAnswer) {
	for i, c := range ans.Collections[:min(len(ans.Collections), collectionRows)] {
		if i == 0 {
			p.line("MAPS, SLICES AND CHANNELS")
		}
		p.line("  %10s  %s  %s", units.Size(c.Bytes), short(cmp.Or(c.Name, c.Path), 50), c.says())
	}
}

// strings writes on which paths most bytes are copies.
func (p *heapPrinter) strings(s *heapStrings) {
	if s == nil {
		return
	}
	p.line("STRINGS  %s of %s, %s different: %s are copies", count(s.Count), units.Size(s.Bytes), count(s.Distinct), units.Size(s.Copied))
	for _, on := range s.Paths[:min(len(s.Paths), stringRows)] {
		if on.Copied > 0 {
			p.line("  %10s  %s  %s strings, %s different", units.Size(on.Copied), short(on.Path, 50), count(on.Count), count(on.Distinct))
		}
	}
}

func (c *heapCollection) says() string {
	n := ""
	if c.Count > 1 {
		n = fmt.Sprintf("%s ", count(c.Count))
	}
	switch c.Kind {
	case "map", "channel":
		return fmt.Sprintf("%s%s, %s of %s entries", n, c.Kind, count(c.Entries), count(c.Cap))
	case "slice":
		if c.Reached == c.Bytes && c.Entries > 0 {
			return fmt.Sprintf("%s%s, %s entries", n, c.Kind, count(c.Entries))
		}
	}
	return fmt.Sprintf("%s%s, %s in reach", n, c.Kind, units.Size(c.Reached))
}

func allocatedAt(h heapHolder) string {
	if len(h.Allocated) == 0 {
		return ""
	}
	return ", allocated at " + short(h.Allocated[0].String(), 50)
}

func (ans *heapAnswer) young(h heapHolder) string {
	if h.Young == nil || ans.gc == 0 {
		return ""
	}
	return youngOf(*h.Young, h.Retained)
}

// youngOf says how much of what is held no collection has found alive yet, where that is
// more than a little.
func youngOf(young, held uint64) string {
	if held == 0 || young*20 < held {
		return ""
	}
	return fmt.Sprintf(", %.0f%% of that new since the last GC", 100*float64(young)/float64(held))
}

func (ans *heapAnswer) percent(n uint64) string {
	return fmt.Sprintf("%.0f%%", 100*float64(n)/float64(max(ans.LiveBytes, 1)))
}

// heapPrinter keeps the first error.
type heapPrinter struct {
	w   io.Writer
	err error
}

func (p *heapPrinter) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = visible.Fprintf(p.w, format+"\n", args...)
	}
}

// directories are those of an import path, behind which the package's name is.
var directories = regexp.MustCompile(`(?:[\w.~-]+/)+`)

// short is a path or a type without the directories of packages, as Go's own messages
// print them, and no longer than n characters. --json has all.
func short(s string, n int) string { return clip(directories.ReplaceAllString(s, ""), n) }

// clip shortens a text to n characters in its middle, as both ends of a path say
// something.
func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n/2]) + "…" + string(r[len(r)-(n-n/2-1):])
}

// count prints a number of things: "1.2 M".
func count(n uint64) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%.0f M", float64(n)/1e6)
	case n >= 1_000_000:
		return fmt.Sprintf("%.1f M", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%.0f k", float64(n)/1e3)
	}
	return strconv.FormatUint(n, 10)
}

// Folded breaks a text at spaces into lines of at most width columns, where that is possible.
func Folded(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
