package report

import (
	"fmt"
	"math"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// bar is the cell of a bar; a full one has barCells.
const (
	bar      = '█'
	barCells = 30
)

// row is one line of the ledger as it is shown.
type row struct {
	name  string
	bytes int64
	note  string
}

// barsBegin is the column in which the bars of the table begin.
const barsBegin = 40

// ledger prints where the memory was: rows that sum to the total. What is not explained has a
// row where it is much, else a word in the last.
func (p *page) ledger(a *explain.Answer, d detail) {
	l := a.Ledger
	if l.TotalBytes == 0 && len(l.Rows) == 0 {
		p.add("MEMORY: not seen")
		return
	}
	what := "MEMORY "
	if !l.OfCgroup {
		what = "PRIVATE MEMORY "
	}
	p.both(what+when(a, p.width >= 60), mib(int64(l.TotalBytes), true))
	unit := true
	for _, r := range shownRows(l, d.rows) {
		share := percent(r.bytes, l.TotalBytes)
		full := min(barCells, p.width-barsBegin-20)
		cells := strings.Repeat(string(bar), max(0, min(full, int(share*float64(full)/100+0.5))))
		if !d.note && r.name == others {
			r.note = onlyUnexplained(r.note)
		}
		p.noted(fmt.Sprintf("  %s%12s %4.0f%%  %s", pad(r.name, 16), mib(r.bytes, unit), share, cells), r.note)
		unit = false
	}
	if u := l.UntouchedBytes; u*20 > l.TotalBytes && (len(a.Holders) == 0 || offHeap(a.Verdict.Class)) {
		p.wrap("  ", untouchedNote(u))
	}
}

func untouchedNote(b sample.Bytes) string {
	return fmt.Sprintf("Another %s is allocated but not yet written, so the kernel does not count it.", units.Short(b))
}

// noted is a row with a note at its right edge, or in lines of its own where it does not fit.
func (p *page) noted(row, note string) {
	if note == "" || columns(strings.TrimRight(row, " "))+2+columns(note) <= p.right() {
		p.both(strings.TrimRight(row, " "), note)
		return
	}
	p.add(row)
	p.wrap("    ", note)
}

// percent is a whole share, never a negative zero.
func percent(part int64, total sample.Bytes) float64 {
	share := math.Round(100 * float64(part) / float64(max(1, total)))
	if share == 0 || total == 0 {
		return 0
	}
	return share
}

// mib is an amount in MiB with one decimal; without the unit, spaces stand in
// its place, so that columns align.
func mib(b int64, unit bool) string {
	s := fmt.Sprintf("%.1f", float64(b)/float64(sample.MiB))
	if s == "-0.0" {
		s = "0.0"
	}
	if unit {
		return s + " MiB"
	}
	return s + "    "
}

// shownRows are the largest rows, and all others in one that names them.
func shownRows(l explain.Ledger, most int) []row {
	rows := allRows(l)
	var out []row
	rest := row{name: others}
	var names []string
	for _, r := range rows {
		if share := percent(r.bytes, l.TotalBytes); len(out) < most-1 && share >= leastRow || share >= largeRow {
			out = append(out, r)
			continue
		}
		if rest.bytes += r.bytes; r.bytes >= tiny {
			names = append(names, r.name)
		}
	}
	unexplained := row{sample.RowUnexplained, l.UnexplainedBytes, ""}
	if math.Abs(percent(unexplained.bytes, l.TotalBytes)) >= leastUnexplained {
		if l.OfCgroup && unexplained.bytes > 0 && unexplained.bytes <= chargedAhead {
			unexplained.note = "the kernel counts in batches"
		}
		if rest.bytes >= tiny {
			rest.note = fewNames(names)
			out = append(out, rest)
		}
		return append(out, unexplained)
	}
	rest.bytes += unexplained.bytes
	if rest.bytes < tiny {
		return out
	}
	rest.note = fewNames(names)
	if s := strings.TrimSpace(mib(unexplained.bytes, true)); s != "0.0 MiB" {
		rest.note = strings.TrimPrefix(rest.note+", "+s+" "+sample.RowUnexplained, ", ")
	}
	return append(out, rest)
}

// others is the row of all that have none of their own.
const others = "other"

// onlyUnexplained is what a note says of what is not explained.
func onlyUnexplained(note string) string {
	if !strings.HasSuffix(note, sample.RowUnexplained) {
		return ""
	}
	return note[strings.LastIndex(note, ", ")+1:]
}

// fewNames are the largest rows of those.
func fewNames(names []string) string {
	const most = 3
	if len(names) > most {
		names = append(names[:most-1:most-1], fmt.Sprintf("%d more", len(names)-most+1))
	}
	return strings.Join(names, ", ")
}

// allRows are the rows as they are shown, the runtime's small ones in one, the largest first.
func allRows(l explain.Ledger) (rows []row) {
	fixed := row{name: "stacks, runtime"}
	for _, r := range l.Rows {
		switch r.Name {
		case sample.RowStacks, sample.RowRuntime, sample.RowProgramData:
			fixed.bytes += int64(r.Bytes)
		default:
			rows = append(rows, row{explain.RowWord(r.Name), int64(r.Bytes), rowNote(r)})
		}
	}
	if fixed.bytes > 0 {
		rows = append(rows, fixed)
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].bytes > rows[j].bytes })
	return rows
}

// rowNote says of a row what its name does not.
func rowNote(r explain.LedgerRow) string {
	switch {
	case len(r.Parts) > 0 && (r.Name == sample.RowPageCache || r.Name == sample.RowShmem):
		return fileWords(r)
	case r.Reclaimable:
		return "reclaimable"
	case r.Name == sample.RowIdle:
		return "kept by Go, not returned"
	case r.AsOfGC:
		return "as of the last GC"
	case r.Name == sample.RowNew:
		return "live or garbage is not known yet"
	case len(r.Parts) > 0 && (r.Name == sample.RowNative || r.Name == sample.RowKernel):
		return partWords(r)
	case r.Name == sample.RowNative:
		return "cgo or mmap"
	}
	return ""
}

// partWords name the two largest parts of a row, and others that are a tenth of it or more.
func partWords(r explain.LedgerRow) string {
	var words []string
	for i, p := range r.Parts {
		if i < 2 || p.Bytes*10 >= r.Bytes {
			words = append(words, p.Name+" "+units.Short(p.Bytes))
		}
	}
	return strings.Join(words, ", ")
}

// fileWords name the largest file of a row by its base name, with those of its directory that are like it.
func fileWords(r explain.LedgerRow) string {
	name := path.Base(r.Parts[0].Name)
	if r.Parts[0].Name == explain.PartOtherFiles || r.Parts[0].Name == explain.PartUnnamed {
		name = r.Parts[0].Name
	}
	words := []string{shortened(name) + " " + units.Short(r.Parts[0].Bytes)}
	if r.Reclaimable {
		words = append([]string{"reclaimable"}, words...)
	}
	return strings.Join(words, ", ")
}

// longestFile is how much of a file's name a row shows.
const longestFile = 28

// shortened is the beginning and the end of a name that is long; others' bytes are shown later.
func shortened(name string) string {
	runes := []rune(name)
	if len(runes) <= longestFile {
		return name
	}
	return string(runes[:longestFile/2]) + "…" + string(runes[len(runes)-longestFile/2+1:])
}

// Shares from which on a row is shown apart, and what is not explained, in percent.
const (
	leastRow         = 3
	largeRow         = 10 // shown apart on a full page, too
	leastUnexplained = 2
)

// chargedAhead is what the kernel may have charged before it is used, on eight
// processors: 64 pages each (mm/memcontrol.c, MEMCG_CHARGE_BATCH). Of a program of a
// few MiB that is much.
const chargedAhead = 8 * 64 * 4096

// tiny is what is printed as 0.0 MiB.
const tiny = int64(sample.MiB / 20)

// fixes prints each change to try, and below it the command that tests it, if there is
// one.
func (p *page) fixes(fixes []explain.Fix, d detail) {
	if len(fixes) == 0 {
		return
	}
	p.add("FIX")
	for _, f := range fixes[:min(d.fixes, len(fixes))] {
		p.wrap("  "+f.ID+"  ", fixWords(f))
		if f.Command != "" {
			p.testedBy(f, d.command)
		}
	}
}

// fixWords is a fix as an instruction, with what is known of it.
func fixWords(f explain.Fix) string {
	text := f.Text
	if f.Kind == "config" || f.Kind == "limit" {
		text = "set " + text
	}
	switch {
	case f.Outlook != "":
		return sentences(text) + " " + capital(f.State) + ": " + f.Outlook + "."
	case f.Kind != "code":
		return sentences(text, "this has not been tested")
	}
	return sentences(text)
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// leftOut stands in a command for an argument that the recording does not have (docs/adr/0030).
const leftOut = "…"

const fillIn = "Replace each " + leftOut + " with the argument that was not recorded:"

// testedBy prints the command that shows whether a fix works.
func (p *page) testedBy(f explain.Fix, most int) {
	lead := "Prove it:  "
	switch {
	case f.Kind == "code" && f.State == explain.Proved:
		lead = "Rebuild, then run:  " // the command is that of the recorded program
	case f.State == explain.Proved:
		lead = "Run it:  "
	case f.Kind == "code":
		lead = "Rebuild, then check:  "
	}
	if strings.Contains(f.Command, leftOut) {
		p.wrap("     ", strings.TrimRight(strings.TrimSpace(lead), ":")+". "+fillIn)
		p.command("       ", f.Command, most)
		return
	}
	if columns("     "+lead+f.Command) <= p.width {
		p.add("     " + lead + f.Command)
		return
	}
	p.add("     " + strings.TrimSpace(lead))
	p.command("       ", f.Command, most)
}

// wontHelp lists what comes to mind and does not help, and why no setting is predicted.
func (p *page) wontHelp(a *explain.Answer, d detail) {
	if !d.vain {
		return
	}
	for i, v := range a.WontHelp[:min(d.fixes, len(a.WontHelp))] {
		if i == 0 {
			p.add("WON'T HELP")
		}
		p.wrap("  ", v.Text+": "+v.Reason+".")
	}
	if a.NotPredicted != "" && a.Verdict.Class != explain.Inconclusive {
		p.wrap("NOT PREDICTED  ", "GOMEMLIMIT or another limit: "+a.NotPredicted+".")
	}
}

// gaps names what was not seen, and how much more there is of that.
func (p *page) gaps(a *explain.Answer, most int) {
	head := "NOT SEEN  "
	gaps := toTell(a)
	for i, g := range gaps[:min(most, len(gaps))] {
		text := g.What + ": " + g.Why + "."
		if rest := len(gaps) - most; i == most-1 && rest > 0 {
			text += fmt.Sprintf(" %d more: --json.", rest)
		}
		p.wrap(head, text)
		head = strings.Repeat(" ", columns(head))
	}
	if most == 0 && len(gaps) > 0 {
		p.wrap(head, fmt.Sprintf("%s: --json.", count(len(gaps), "thing")))
	}
}

// toTell are the gaps that a reader asks about. That one capture of the heap was left out is none of
// them where another capture says what retains the memory.
func toTell(a *explain.Answer) []explain.Gap {
	if k := a.Verdict.Culprit; k == nil || k.HeldBy == nil {
		return a.Gaps
	}
	return slices.DeleteFunc(slices.Clone(a.Gaps), func(g explain.Gap) bool { return strings.HasPrefix(g.What, "what retains the heap of ") })
}
