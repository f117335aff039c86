package report

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/explain"
	"github.com/highwater-go/highwater/internal/sample"
	"github.com/highwater-go/highwater/internal/units"
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

// ledger prints where the memory was: rows that sum to the total, the unexplained
// rest always among them.
func (p *page) ledger(a *explain.Answer, most int) {
	l := a.Ledger
	if l.TotalBytes == 0 && len(l.Rows) == 0 {
		p.add("WHERE the memory was: not seen")
		return
	}
	what := "the memory was"
	if !l.OfCgroup {
		what = "the program's anonymous memory was"
	}
	p.addf("WHERE %s, at %s: %s", what, momentName(a.Outcome), mib(int64(l.TotalBytes), true))
	unit, fresh := true, false
	for _, r := range shownRows(l, most) {
		share := percent(r.bytes, l.TotalBytes)
		full := min(barCells, p.width-58)
		cells := strings.Repeat(string(bar), max(0, min(full, int(share*float64(full)/100+0.5))))
		p.addf("  %s%13s %4.0f%%  %s", pad(r.name, 22), mib(r.bytes, unit), share, strings.TrimSpace(cells+"  "+r.note))
		unit = false
		if r.name == sample.RowNew && share >= 10 {
			fresh = true
		}
	}
	if u := l.UntouchedBytes; u*20 > l.TotalBytes {
		p.wrap("  ", fmt.Sprintf("(%s more of live objects were never touched, so not charged; WHO counts them)", mib(int64(u), true)))
	}
	if fresh {
		p.wrap("  ", "(new: allocated since the last collection; live or garbage, the next one would have told)")
	}
}

// percent is a whole share, never a negative zero.
func percent(part int64, total sample.Bytes) float64 {
	share := math.Round(100 * float64(part) / float64(max(1, total)))
	if share == 0 {
		return 0
	}
	return share
}

// momentName is a moment in words. Of one asked for by its time, that is when it
// was taken: the one nearest to what was asked for.
func momentName(o explain.Outcome) string {
	switch o.Moment {
	case "last":
		return "the last moment"
	case "time":
		return "the moment " + units.Duration(time.Duration(o.MomentElapsed*float64(time.Second))) + " after start"
	}
	return "the " + o.Moment
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

// shownRows folds the runtime's small rows into one, sums up the smallest where
// there are more than most, and ends with the kernel and the unexplained rest.
func shownRows(l explain.Ledger, most int) []row {
	var rows, last []row
	fixed := row{name: "stacks, runtime"}
	for _, r := range l.Rows {
		one := row{name: r.Name, bytes: int64(r.Bytes)}
		if r.Reclaimable {
			one.note = "reclaimable"
		}
		switch r.Name {
		case sample.RowStacks, sample.RowRuntime, sample.RowProgramData:
			fixed.bytes += one.bytes
		case sample.RowKernel, sample.RowSockets:
			last = append(last, one)
		default:
			rows = append(rows, one)
		}
	}
	if fixed.bytes > 0 {
		rows = append(rows, fixed)
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].bytes > rows[j].bytes })
	rows = summedUp(append(rows, last...), most-1)
	rest := row{name: sample.RowUnexplained, bytes: l.UnexplainedBytes}
	if l.OfCgroup && rest.bytes > 0 && rest.bytes <= chargedAhead && percent(rest.bytes, l.TotalBytes) >= 2 {
		rest.note = "the kernel charges ahead"
	}
	return append(rows, rest)
}

// chargedAhead is what the kernel may have charged before it is used, on eight
// processors: 64 pages each (mm/memcontrol.c, MEMCG_CHARGE_BATCH). Of a program of a
// few MiB that is much.
const chargedAhead = 8 * 64 * 4096

// tiny is what is printed as 0.0 MiB.
const tiny = int64(sample.MiB / 20)

// summedUp puts rows that would be printed as 0.0 into one, and the smallest
// where there are more than most. What is 0.0 even so is left out.
func summedUp(rows []row, most int) []row {
	var out []row
	rest := row{}
	n := 0
	for _, r := range rows {
		if r.bytes < tiny {
			rest.bytes, n = rest.bytes+r.bytes, n+1
		} else {
			out = append(out, r)
		}
	}
	keep := most
	if len(out) > most || len(out) == most && rest.bytes >= tiny {
		keep = most - 1
	}
	for i := keep; i < len(out); i++ {
		rest.bytes, n = rest.bytes+out[i].bytes, n+1
	}
	out = out[:min(keep, len(out))]
	if rest.bytes < tiny {
		return out
	}
	rest.name = fmt.Sprintf("%d smaller parts", n)
	if n == 1 {
		rest.name = "1 smaller part"
	}
	return append(out, rest)
}

// whys prints the steps of the explanation and what is ruled out.
func (p *page) whys(a *explain.Answer, most int) {
	steps := a.Verdict.Why
	if most == 0 {
		return
	}
	if len(steps) == 0 && (len(a.RuledOut) == 0 || a.Verdict.Class == explain.Healthy) {
		return
	}
	if len(steps) == 0 {
		p.add("WHY NOT")
	} else {
		p.add("WHY")
	}
	for i, w := range steps[:min(most, len(steps))] {
		p.step(fmt.Sprintf("  %d ", i+1), w.Text, w.Evidence)
	}
	if len(a.RuledOut) == 0 {
		return
	}
	var names, ids []string
	for _, r := range a.RuledOut {
		names = append(names, r.Name)
		ids = append(ids, r.Evidence...)
	}
	p.step("  x ", "ruled out: "+strings.Join(names, ", "), unique(ids))
}

// step prints one reason, its evidence at the right edge of its first line.
func (p *page) step(head, text string, evidence []string) {
	ids := ""
	if len(evidence) > 0 {
		ids = "[" + strings.Join(evidence[:min(4, len(evidence))], " ") + "]"
	}
	room := p.width - columns(head) - columns(ids) - 2
	for i, line := range wrapped(text, room) {
		if i > 0 {
			head, ids = strings.Repeat(" ", columns(head)), ""
		}
		p.both(head+line, ids)
	}
}

func unique(ids []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	sort.Slice(out, func(i, j int) bool { return len(out[i]) < len(out[j]) || len(out[i]) == len(out[j]) && out[i] < out[j] })
	return out
}

// fixes prints each change to try, and below it the command that tests it, if there is
// one.
func (p *page) fixes(fixes []explain.Fix, most int) {
	if len(fixes) == 0 {
		return
	}
	p.add("FIX")
	for i, f := range fixes[:min(2, len(fixes))] {
		if i > 0 {
			most = 1 // it differs from the first in a word or two
		}
		state := "rebuild, then:"
		if f.Kind != "code" {
			state = f.State
		}
		if f.Outlook != "" {
			state = f.State + ": " + f.Outlook
		}
		if name := "  " + f.ID + "  " + f.Text; columns(name)+columns(state)+2 <= p.width || most < 3 && f.State != explain.Proved {
			p.both(name, state)
		} else {
			p.add(fold(name, p.width))
			p.add("     " + state)
		}
		if f.Command != "" {
			p.command("     ", f.Command, most)
		}
	}
}

// mostVain is how many changes that do not help are listed.
const mostVain = 2

// wontHelp lists what comes to mind and does not help, and why no setting is predicted;
// each in one line where room is short.
func (p *page) wontHelp(a *explain.Answer, short bool) {
	say := p.wrap
	if short {
		say = func(head, text string) { p.add(fold(head+text, p.width)) }
	}
	for i, v := range a.WontHelp[:min(mostVain, len(a.WontHelp))] {
		if i == 0 {
			p.add("WON'T HELP")
		}
		say("  "+v.Text+"  ", v.Reason)
	}
	if a.NotPredicted != "" {
		say("NOT PREDICTED  ", "what a setting or a limit would do: "+a.NotPredicted)
	}
}

// gaps names what was not seen, in two lines at most each.
func (p *page) gaps(gaps []explain.Gap, most int) {
	head := "NOT SEEN  "
	for _, g := range gaps[:min(most, len(gaps))] {
		lines := wrapped(g.What+": "+g.Why, p.width-columns(head))
		if len(lines) > 2 {
			lines = []string{lines[0], fold(strings.Join(lines[1:], " "), p.width-columns(head))}
		}
		for _, line := range lines {
			p.add(head + line)
			head = strings.Repeat(" ", columns(head))
		}
	}
}
