package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/highwater-go/highwater/cases/internal/symptom"
	"github.com/highwater-go/highwater/cases/internal/truthfile"
)

// comparison is one fault under one load, beside the repaired program under
// the same.
type comparison struct {
	fault string // as -fault takes it
	load  string // "two uploads of 450 MiB under a limit of 256 MiB"
	rows  []row
	shows bool // whether the figures are as truth.json says
}

// row is one figure of both programs.
type row struct{ what, faulty, repaired string }

// table prints comparisons as Markdown.
func table(all []comparison) string {
	var b strings.Builder
	fmt.Fprintln(&b, "| fault, load | figure | faulty | repaired |")
	fmt.Fprintln(&b, "|---|---|---|---|")
	for _, c := range all {
		first := "**" + c.fault + "**: " + c.load
		for _, r := range c.rows {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", first, r.what, r.faulty, r.repaired)
			first = ""
		}
	}
	return b.String()
}

// writeBetween replaces what stands in a file between the marks of a case.
func writeBetween(path, name, text string) error {
	begin, end := "<!-- truth: "+name+" -->\n", "<!-- end: "+name+" -->"
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok1 := strings.Cut(string(b), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		return fmt.Errorf("%s has no marks for %s: %q and %q", path, name, begin, end)
	}
	return os.WriteFile(path, []byte(before+begin+text+end+after), 0o644)
}

// both is a row of a figure of two runs, in MiB.
func both(what string, faulty, repaired symptom.Figures, of func(symptom.Figures) uint64) row {
	return row{what, mib(of(faulty)), mib(of(repaired))}
}

// outcome is the row that says who was killed, of loads that came to their end
// otherwise.
func outcome(faulty, repaired symptom.Figures) row {
	return row{"outcome", fate(faulty, true), fate(repaired, true)}
}

func fate(f symptom.Figures, done bool) string {
	o := f.Outcome(done)
	if o == symptom.Alive {
		return string(o)
	}
	return fmt.Sprintf("%s after %.1f s", o, f.Took.Seconds())
}

// The figures that most tables have.
var (
	peak     = func(f symptom.Figures) uint64 { return f.Peak }
	anon     = func(f symptom.Figures) uint64 { return f.Anon }
	file     = func(f symptom.Figures) uint64 { return f.File }
	fileEnd  = func(f symptom.Figures) uint64 { return f.FileAtEnd }
	live     = func(f symptom.Figures) uint64 { return f.Live }
	goal     = func(f symptom.Figures) uint64 { return f.Goal }
	reserved = func(f symptom.Figures) uint64 { return f.Reserved }
	heapIn   = func(f symptom.Figures) uint64 { return f.HeapResident }
	outside  = func(f symptom.Figures) uint64 { return f.OutsideResident }
)

func mib(n uint64) string {
	if n < 10<<20 {
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d MiB", (n+1<<19)>>20)
}

// siteOf is what the profile says of the line that truth.json names, and
// whether it is the first of the case's lines by bytes.
func siteOf(f symptom.Figures, name, fault, kind string) (s symptom.Site, first bool, err error) {
	t, err := truthfile.Read(name)
	if err != nil {
		return s, false, err
	}
	want := t.Fault(fault)
	p := f.Profile
	if kind == "alloc_space" {
		p = f.Last
	}
	for i, s := range symptom.Sites(p, kind) {
		if s.Line == int64(want.Line) && filepath.Base(s.File) == filepath.Base(want.File) {
			return s, i == 0, nil
		}
	}
	return s, false, nil
}

// siteText is a site for a table.
func siteText(s symptom.Site) string {
	if s.Function == "" {
		return "not among them"
	}
	return fmt.Sprintf("%s, %.0f%% of all, `%s` line %d", mib(uint64(s.Bytes)), 100*s.Share, strings.TrimPrefix(s.Function, "main."), s.Line)
}
