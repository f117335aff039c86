package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// offHeap reports whether the memory in question is not of the heap, so that its lines say nothing.
func offHeap(class explain.Class) bool {
	return class == explain.Native || class == explain.Shmem || class == explain.PageCache
}

// allocated prints the lines that allocated what is live.
func (p *page) allocated(a *explain.Answer, o Options, most int) {
	if offHeap(a.Verdict.Class) || len(a.Holders) == 0 || most == 0 {
		return
	}
	s := a.Sampling
	title := explain.AllocatedBy
	if s.View == "published" {
		title += ", as of the last GC"
	}
	p.both(title, sampling(s)+counted(a))
	unit := true
	listed := listedHolders(a, most)
	for i, h := range listed {
		p.holder(h, s, o, unit, i == 0)
		unit = false
	}
	p.otherLines(a, listed)
	if note := ofAnotherTime(a); note != "" {
		p.wrap("  ", note)
	} else if u := a.Ledger.UntouchedBytes; u*20 > a.Ledger.TotalBytes {
		p.wrap("  ", "Of this, "+units.Short(u)+" is not yet written, so the kernel does not count it above.")
	}
}

// ofAnotherTime says that the lines do not sum to the live heap of the table: a heap profile is of a
// GC, and sampled.
func ofAnotherTime(a *explain.Answer) string {
	live, fresh := rowBytes(a, sample.RowLive), rowBytes(a, sample.RowNew)
	low, high := live*3/4, (live+fresh+a.Ledger.UntouchedBytes)*5/4
	t, err := a.Sampling.TotalBytes, 2*a.Sampling.ErrorBytes
	if live == 0 || t+err >= low && t <= high+err || len(a.Program.Processes) > 1 {
		return ""
	}
	return fmt.Sprintf("These lines come from another reading than the table above: %s was live at that time.", units.Short(t))
}

// counted is the live heap that was counted, where the sample is above it by more than its own
// error: the two are on one screen.
func counted(a *explain.Answer) string {
	live := rowBytes(a, sample.RowLive) + rowBytes(a, sample.RowNew) + a.Ledger.UntouchedBytes
	s := a.Sampling
	if live == 0 || s.Rate <= 1 || s.View == "published" || s.TotalBytes <= live+s.ErrorBytes || ofAnotherTime(a) != "" || len(a.Program.Processes) > 1 {
		return ""
	}
	return "; counted: " + units.Short(live)
}

func rowBytes(a *explain.Answer, name string) sample.Bytes {
	for _, r := range a.Ledger.Rows {
		if r.Name == name {
			return r.Bytes
		}
	}
	return 0
}

// listedHolders are the first lines, and the one that the cause names.
func listedHolders(a *explain.Answer, most int) []explain.Holder {
	list := slices.Clone(a.Holders[:min(most, len(a.Holders))])
	k := a.Verdict.Culprit
	if k == nil || k.Role != "allocates" || len(list) == 0 {
		return list
	}
	named := func(h explain.Holder) bool { return h.Function == k.Function && h.File == k.File && h.Line == k.Line }
	if i := slices.IndexFunc(a.Holders, named); i >= len(list) {
		list = append(list[:max(1, len(list)-1)], a.Holders[i]) // a line more where there is but one
	}
	return list
}

// otherLines sums up the lines that are not listed.
func (p *page) otherLines(a *explain.Answer, listed []explain.Holder) {
	s := a.Sampling
	s.Others += len(a.Holders) - len(listed)
	held := s.TotalBytes
	for _, h := range listed {
		held = held.Sub(h.Bytes)
	}
	if s.Others > 0 && int64(held) >= tiny {
		p.addf("  %11s %4s  %s", mib(int64(held), false), units.Percent(float64(held), float64(s.TotalBytes)), other(s.Others))
	}
}

// retained prints what keeps the memory alive, where the heap was captured.
func (p *page) retained(a *explain.Answer, most int) {
	k := a.Verdict.Culprit
	if k == nil || k.HeldBy == nil || most < 2 { // the cause names it, too
		return
	}
	h := k.HeldBy
	p.both(explain.RetainedBy, fmt.Sprintf("heap captured %s after start", units.Duration(time.Duration(h.At*float64(time.Second)))))
	p.wrap(fmt.Sprintf("  %11s %4s  ", mib(int64(h.Retained), true), units.Percent(float64(h.Retained), float64(h.Live))), cmp.Or(h.Name, h.String()))
}

func other(n int) string {
	if n == 1 {
		return "1 other line"
	}
	return fmt.Sprintf("%d other lines", n)
}

func sampling(s explain.Sampling) string {
	switch s.Rate {
	case 0:
		return "sampled, error not known"
	case 1:
		return "every allocation counted"
	}
	return fmt.Sprintf("sampled, ± %.0f MiB", max(1, float64(s.ErrorBytes)/float64(sample.MiB)))
}

func (p *page) holder(h explain.Holder, s explain.Sampling, o Options, unit, first bool) {
	left := fmt.Sprintf("  %11s %4s  %s  ", mib(int64(h.Bytes), unit), units.Percent(float64(h.Bytes), float64(s.TotalBytes)), placeOf(h, p.width-24))
	code, right := codeOf(h, o), grew(h, s)
	room := p.right() - columns(left) - columns(right) - 2
	if room < 12 {
		code, right = "", ""
	}
	if code == "" {
		p.both(strings.TrimRight(left, " "), right)
	} else {
		p.both(left+cut(code, room), right)
	}
	if first && h.InFlight > 0 {
		p.wrap(strings.Repeat(" ", 20), fmt.Sprintf("%s inside %s", goroutines(h.InFlight), explain.ShortFunc(h.Function)))
	}
}

func inRuntime(h explain.Holder) bool {
	return strings.HasPrefix(h.Function, "runtime.") || h.Function == ""
}

// placeOf is the line in at most so many columns.
func placeOf(h explain.Holder, most int) string {
	if inRuntime(h) {
		return "Go runtime"
	}
	return fold(fmt.Sprintf("%s:%d", explain.ShortFile(h.File), h.Line), min(most, 40))
}

// codeOf is the source line where it can be read, else the function.
func codeOf(h explain.Holder, o Options) string {
	if inRuntime(h) {
		return "(internal)"
	}
	if o.Source != nil && !o.NoSource {
		if text, ok := o.Source(h.Function, h.File, h.Line); ok && strings.TrimSpace(text) != "" {
			return strings.Join(strings.Fields(text), " ")
		}
	}
	return explain.ShortFunc(h.Function)
}

// grew says how a line changed since the baseline.
func grew(h explain.Holder, s explain.Sampling) string {
	switch {
	case s.Alone:
		return ""
	case h.GrowthBytes > int64(h.Bytes)/10 && s.GrowthBytes > 0:
		return "+" + strings.TrimSpace(mib(h.GrowthBytes, true))
	case h.GrowthBytes < -int64(h.Bytes)/10:
		return strings.TrimSpace(mib(h.GrowthBytes, true))
	}
	return "unchanged"
}

func goroutines(n int) string {
	if n == 1 {
		return "1 goroutine"
	}
	return sample.Thousands(uint64(n)) + " goroutines"
}
