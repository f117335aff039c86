package explain

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/words/sample"
)

var untouchedPage = Page{
	Truth: "The program reserved memory and never wrote to it. Go counts that memory as heap, but the kernel has given no page for it.",
	Looks: []string{
		"The spans that hold objects, page by page: those without a page behind them (/proc/PID/pagemap).",
		"The line with most bytes in use, where Go's figure is the larger one.",
	},
	Blind: []string{
		"Which objects the unwritten pages belong to: the answer names a line with much in use, without proof.",
		"What will be touched later. Under a limit the memory is counted again as soon as it is written.",
		"Programs whose pages were not read at the moment.",
	},
	Example: "buffers that were reserved and never used",
}

// judgeUntouched speaks where a large part of what Go calls heap has no page behind it. Near the limit that is no
// explanation of anything.
func judgeUntouched(c *Case) Finding {
	if c.g == nil || c.proc.Residency == nil || !c.proc.Residency.GoKnown {
		return minor("the pages of the process were not read")
	}
	untouched, heap := c.proc.Residency.Untouched, c.g.HeapInUse
	facts := []Fact{c.factUntouched()}
	switch {
	case untouched < 64*sample.MiB || untouched*100 < heap*30:
		return minor(fmt.Sprintf("%s of heap was never written", size(untouched)), facts...)
	case c.pressed:
		return silent(fmt.Sprintf("%s of heap was never written, so the kernel does not count it", size(untouched)), facts...)
	}
	f := Finding{Stance: Speaks, Bytes: untouched, Confidence: High, Facts: facts}
	f.Sentence = fmt.Sprintf("Go counts %s of heap%s, but %s of that was never written. The kernel counts only %s of heap.",
		size(heap), c.of(), partOf(untouched, heap), size(c.heap()))
	f.Detail = "Memory that was reserved and never written, which is harmless."
	f.Because = []string{"every page of the heap was read"}
	f.Why = []Why{{Text: "the kernel counts a page when it is first written or read, not when the page is allocated", Evidence: []string{"untouched"}}}
	if len(c.Sites) > 0 && c.Sites[0].Bytes*2 > untouched {
		s := &c.Sites[0]
		f.Culprit = culprit(s, "allocates")
		f.Facts = append(f.Facts, c.factLine(s))
		f.Why = append(f.Why, Why{Text: fmt.Sprintf("%s of the heap was allocated at %s", size(s.Bytes), place(s.File, s.Line)), Evidence: []string{"site"}})
	}
	return f
}

func (c *Case) factUntouched() Fact {
	r := c.proc.Residency
	return Fact{ID: "untouched", Text: fmt.Sprintf("of %s of heap in use, %s was never written, %s of that in new large objects",
		size(c.g.HeapInUse), size(r.Untouched), size(r.UntouchedNew)),
		Values: map[string]int64{"heap_in_use_bytes": int64(c.g.HeapInUse), "untouched_bytes": int64(r.Untouched), "untouched_new_bytes": int64(r.UntouchedNew)}}
}
