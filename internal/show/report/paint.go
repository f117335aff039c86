package report

import (
	"regexp"
	"strings"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// ANSI codes (ECMA-48, select graphic rendition).
const (
	bold  = "\x1b[1m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
	cyan  = "\x1b[36m"
	off   = "\x1b[0m"
)

// paint makes the lines of a page fit for a terminal, whatever the names in them hold,
// and colours headings, the outcome and the bars. Every page goes through it.
func paint(page []string, o Options, at map[string]string) []string {
	out := make([]string, len(page))
	for i, line := range page {
		line = visible.Text(line)
		if o.ASCII {
			line = plain.Replace(line)
		}
		if o.Color {
			line = paintLine(line, i == 0)
		}
		out[i] = linked(line, o, at)
	}
	return out
}

// plain puts ASCII characters in the places of ours: as many columns.
var plain = strings.NewReplacer(string(bar), "#", "…", "~", "±", "~", "µ", "u", "≥", ">", "–", "-", "\u00a0", " ")

func paintLine(line string, first bool) string {
	if first {
		line = strings.Replace(line, " OOM-killed ", " "+bold+red+"OOM-killed"+off+" ", 1)
		line = strings.Replace(line, " exited normally", " "+bold+green+"exited normally"+off, 1)
		return line
	}
	for _, h := range headings {
		if rest, ok := strings.CutPrefix(line, h); ok && (rest == "" || strings.ContainsAny(rest[:1], " :")) {
			return bold + h + off + rest
		}
	}
	if start := strings.IndexRune(line, bar); start >= 0 {
		end := strings.LastIndex(line, string(bar)) + len(string(bar))
		return line[:start] + cyan + line[start:end] + off + line[end:]
	}
	return line
}

var headings = []string{"MEMORY", "PRIVATE MEMORY", "PROCESSES", "ALLOCATED BY", "FIRST WRITTEN BY", "NATIVE, ALLOCATED BY", "RETAINED BY", "FIX", "WON'T HELP",
	"NOT PREDICTED", "NOT SEEN", "REQUESTS", "EXPECTED", "WORK",
	"  Cause", "  Result", "  Why", "  Sure?", "  Known", "  Unknown", "  Next", "  Not", "  Note", "More:",
	"WHERE", "FIRST", "BEST", "HOW LONG", "HOW MANY", "WHEN", "WHAT GREW", "WHAT SHRANK", "WHAT CHANGED", "UNCHANGED", "ALLOCATED", "NOTE", "  NO SOURCE"}

// places are the files that an answer names, by how it names them.
func places(a *explain.Answer) map[string]string {
	at := map[string]string{}
	note := func(file string) {
		if file != "" {
			at[explain.ShortFile(file)] = file
		}
	}
	for _, h := range a.Holders {
		note(h.File)
	}
	for _, h := range a.Allocators {
		note(h.File)
	}
	if a.Resident != nil {
		for _, k := range a.Resident.Lines {
			note(k.File)
		}
	}
	if a.NativeLive != nil {
		for _, k := range a.NativeLive.Lines {
			note(k.File)
		}
	}
	if k := a.Verdict.Culprit; k != nil {
		note(k.File)
		if k.Below != nil {
			note(k.Below.File)
		}
	}
	if a.Crash != nil {
		note(a.Crash.File)
	}
	return at
}

// placeWord is FILE.go:LINE.
var placeWord = regexp.MustCompile(`([^\s\x1b(\[{]+\.go):(\d+)`)

// linked makes the places of a line links where the terminal can follow them (OSC 8, as
// gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda describes it).
func linked(line string, o Options, at map[string]string) string {
	if o.Link == nil || len(at) == 0 {
		return line
	}
	return placeWord.ReplaceAllStringFunc(line, func(word string) string {
		m := placeWord.FindStringSubmatch(word)
		file, ok := at[m[1]]
		if !ok {
			return word
		}
		to := o.Link(file, atoi(m[2]))
		if to == "" {
			return word
		}
		return "\x1b]8;;" + to + "\x1b\\" + word + "\x1b]8;;\x1b\\"
	})
}

// atoi reads digits; a number of more than nine is no line.
func atoi(s string) (n int) {
	for _, r := range s[:min(9, len(s))] {
		n = 10*n + int(r-'0')
	}
	return n
}
