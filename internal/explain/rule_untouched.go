package explain

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/sample"
)

var untouchedPage = Page{
	Truth: "The program reserved memory that it never touched. Go counts it as heap; the kernel has given no page for it and charges nothing.",
	Looks: []string{
		"The spans that hold objects, page by page: those without a page behind them (/proc/PID/pagemap).",
		"The line with most bytes in use, where Go's figure is the larger one.",
	},
	Blind: []string{
		"Which objects the untouched pages belong to: a line with much in use is named, not proved.",
		"What will be touched later. Under a limit the memory is counted again as soon as it is written.",
		"Programs whose pages were not read at the moment.",
	},
	Example: "buffers that were reserved and never used",
}

// judgeUntouched: a large part of what Go calls heap has no page behind it. Near
// the limit that is no explanation of anything.
func judgeUntouched(c *Case) Finding {
	if c.g == nil || c.proc.Residency == nil || !c.proc.Residency.GoKnown {
		return minor("the process was not read page by page")
	}
	untouched, heap := c.proc.Residency.Untouched, c.g.HeapInUse
	facts := []Fact{c.factUntouched()}
	switch {
	case untouched < 64*sample.MiB || untouched*100 < heap*30:
		return minor(fmt.Sprintf("%s of heap were never touched", size(untouched)), facts...)
	case c.pressed:
		return silent(fmt.Sprintf("%s of heap were never touched, and so not charged", size(untouched)), facts...)
	}
	f := Finding{Stance: Speaks, Bytes: untouched, Confidence: High, Facts: facts}
	f.Sentence = fmt.Sprintf("Go counts %s of heap%s, but %s of it were reserved and never touched: the kernel charges %s for the heap.",
		size(heap), c.of(), size(untouched), size(c.heap()))
	f.Detail = "Harmless: two figures that disagree, and both are right."
	f.Because = []string{"every page of the heap was looked at"}
	f.Why = []Why{{Text: "a page is charged when it is first written or read, not when it is allocated", Evidence: []string{"untouched"}}}
	if len(c.Sites) > 0 && c.Sites[0].Bytes*2 > untouched {
		s := &c.Sites[0]
		f.Culprit = culprit(s, "allocates")
		f.Facts = append(f.Facts, c.factLine(s))
		f.Why = append(f.Why, Why{Text: fmt.Sprintf("%s of the heap were allocated at %s", size(s.Bytes), place(s.File, s.Line)), Evidence: []string{"site"}})
	}
	return f
}

func (c *Case) factUntouched() Fact {
	r := c.proc.Residency
	return Fact{ID: "untouched", Text: fmt.Sprintf("of %s in spans with objects %s have no page behind them, %s in large objects that are new",
		size(c.g.HeapInUse), size(r.Untouched), size(r.UntouchedNew)),
		Values: map[string]int64{"heap_in_use_bytes": int64(c.g.HeapInUse), "untouched_bytes": int64(r.Untouched), "untouched_new_bytes": int64(r.UntouchedNew)}}
}
