package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// nativeLive prints the lines that asked C's allocator for what is live. It says no where there are
// none, or native memory is not what the answer is about and little of it was followed.
func (p *page) nativeLive(a *explain.Answer, o Options, most int) bool {
	n := a.NativeLive
	if n == nil || len(n.Lines) == 0 || most == 0 || n.TotalBytes < sample.MiB && a.Verdict.Class != explain.Native {
		return false
	}
	p.nativeLines(n, o, most)
	return true
}

// nativeLines prints at most so many of the lines.
func (p *page) nativeLines(n *explain.NativeLive, o Options, most int) {
	p.both(explain.NativeBy, fmt.Sprintf("%s of C code, ± %.0f MiB", blocks(n.Blocks), max(1, float64(n.ErrorBytes)/float64(sample.MiB))))
	left := n.TotalBytes
	lines := n.Lines[:min(most, len(n.Lines))]
	for i, k := range lines {
		p.nativeLine(k, n, o, i == 0)
		left = left.Sub(k.Bytes)
	}
	if others := n.Others + len(n.Lines) - len(lines); others > 0 && int64(left) >= tiny {
		p.addf("  %11s %4s  %s", mib(int64(left), false), units.Percent(float64(left), float64(n.Whole())), other(others))
	}
	if n.Ended != "" {
		p.wrap("  ", fmt.Sprintf("as it was %s before, when the probes were taken out", ago(n.EndedSeconds)))
	}
}

func blocks(n uint64) string {
	if n == 1 {
		return "1 live block"
	}
	return sample.Thousands(n) + " live blocks"
}

// nativeLine is one line, how old its blocks are, and the C functions below it.
func (p *page) nativeLine(k explain.NativeLine, n *explain.NativeLive, o Options, unit bool) {
	if k.File != "" {
		h := explain.Holder{Place: k.Place, Bytes: k.Bytes, OwnCode: k.OwnCode}
		p.holder(h, explain.Sampling{TotalBytes: n.Whole(), Alone: true}, o, unit, false)
	} else {
		left := fmt.Sprintf("  %11s %4s  ", mib(int64(k.Bytes), unit), units.Percent(float64(k.Bytes), float64(n.Whole())))
		p.add(left + cut("a thread of C: "+k.Function, p.right()-columns(left)))
	}
	text := fmt.Sprintf("%s, the oldest %s old, half of them less than %s", blocksOf(k.Blocks), ago(k.OldestSeconds), ago(k.MedianSeconds))
	if grown := k.GrowthBytes; grown > int64(k.Bytes)/10 && grown > 2*int64(k.ErrorBytes) {
		text += fmt.Sprintf("; %s more than halfway through", strings.TrimSpace(mib(grown, true)))
	}
	if len(k.Native) > 0 && k.File != "" {
		text += "; C: " + strings.Join(k.Native, " < ")
	}
	p.wrap(strings.Repeat(" ", 20), text)
}

func blocksOf(n uint64) string { return strings.Replace(blocks(n), " live", "", 1) }

// ago is a time as people say it.
func ago(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d < time.Second {
		d = max(d.Round(100*time.Millisecond), 100*time.Millisecond)
	} else {
		d = d.Round(time.Second)
	}
	return units.Duration(d)
}
