package report

import (
	"fmt"
	"strings"

	"github.com/highwater-go/highwater/internal/explain"
	"github.com/highwater-go/highwater/internal/sample"
	"github.com/highwater-go/highwater/internal/units"
)

// holders prints the lines that allocated what was held.
func (p *page) holders(a *explain.Answer, o Options, most int) {
	switch a.Verdict.Class {
	case explain.Native, explain.Shmem, explain.PageCache: // not the heap's doing
		return
	}
	if len(a.Holders) == 0 {
		return
	}
	s := a.Sampling
	title := "WHO held the live heap"
	if s.View != "live" {
		title = "WHO held the heap, by the program's last published profile"
	}
	p.both(title, sampling(s))
	unit := true
	for i, h := range a.Holders[:min(most, len(a.Holders))] {
		p.holder(h, s, o, unit, i == 0)
		unit = false
	}
	if rest := len(a.Holders) - most; rest > 0 {
		s.Others += rest
	}
	held := s.TotalBytes
	for _, h := range a.Holders[:min(most, len(a.Holders))] {
		held = held.Sub(h.Bytes)
	}
	if s.Others > 0 && int64(held) >= tiny {
		p.addf("%13s %4s  %s", mib(int64(held), false), units.Percent(float64(held), float64(s.TotalBytes)), other(s.Others))
	}
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
		return "the error of sampling is not known"
	case 1:
		return "every allocation counted"
	}
	return fmt.Sprintf("sampled 1 per %s; ± %.0f MiB", units.Limit(s.Rate), max(1, float64(s.ErrorBytes)/float64(sample.MiB)))
}

func (p *page) holder(h explain.Holder, s explain.Sampling, o Options, unit, first bool) {
	left := fmt.Sprintf("%13s %4s  %s  ", mib(int64(h.Bytes), unit), units.Percent(float64(h.Bytes), float64(s.TotalBytes)), placeOf(h))
	code, right := codeOf(h, o), grew(h, s, first)
	if first && columns(left)+columns(code)+2+columns(right) > p.width {
		right = grew(h, s, false)
	}
	p.both(left+cut(code, p.width-columns(left)-columns(right)-2), right)
	if first && h.InFlight > 0 {
		p.add(fold(fmt.Sprintf("%sunder %s, %s", strings.Repeat(" ", 20), explain.ShortFunc(h.Function), goroutines(h.InFlight)), p.width))
	}
}

func inRuntime(h explain.Holder) bool {
	return strings.HasPrefix(h.Function, "runtime.") || h.Function == ""
}

func placeOf(h explain.Holder) string {
	if inRuntime(h) {
		return "the Go runtime"
	}
	return fold(fmt.Sprintf("%s:%d", explain.ShortFile(h.File), h.Line), 30)
}

// codeOf is the source line where it can be read, else the function.
func codeOf(h explain.Holder, o Options) string {
	if inRuntime(h) {
		return "for itself"
	}
	if o.Source != nil && !o.NoSource {
		if text, ok := o.Source(h.Function, h.File, h.Line); ok && strings.TrimSpace(text) != "" {
			return strings.Join(strings.Fields(text), " ")
		}
	}
	return explain.ShortFunc(h.Function)
}

// grew says how a line changed since the baseline; the first line's share of all
// growth is said, too.
func grew(h explain.Holder, s explain.Sampling, first bool) string {
	switch {
	case s.Alone:
		return ""
	case first && h.GrowthBytes > int64(h.Bytes)/10 && s.GrowthBytes >= h.GrowthBytes:
		return fmt.Sprintf("grew %s of the %s", strings.TrimSpace(mib(h.GrowthBytes, false)), mib(s.GrowthBytes, true))
	case h.GrowthBytes > int64(h.Bytes)/10 && s.GrowthBytes > 0:
		return fmt.Sprintf("grew %s", strings.TrimSpace(mib(h.GrowthBytes, true)))
	case h.GrowthBytes < -int64(h.Bytes)/10:
		return fmt.Sprintf("shrank %s", strings.TrimSpace(mib(-h.GrowthBytes, true)))
	}
	return "flat"
}

func goroutines(n int) string {
	if n == 1 {
		return "1 goroutine"
	}
	return fmt.Sprintf("%d goroutines", n)
}
