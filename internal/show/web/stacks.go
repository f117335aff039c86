package web

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

func itoa(n int) string { return strconv.Itoa(n) }

// stacks lists those that hold most, and those that held most at the baseline.
func (h *Heap) stacks(p heapdiff.Profile, base *sample.HeapProfile, module string) {
	frames := frameTable{module: module, known: map[sample.Frame]int{}}
	type sized struct {
		site int
		Stack
	}
	var all []sized
	for i, c := range p.Counts[:min(len(p.Counts), len(p.Sites))] {
		size := p.Sites[i].Size
		held := heapdiff.Scale(heapdiff.Now.InUse(c), size, p.Rate)
		grown := heapdiff.Growth(base, p.HeapProfile, i, size, heapdiff.Now).Bytes
		allocated := heapdiff.Scale(heapdiff.Now.Allocs(c), size, p.Rate).Bytes
		if held.Bytes == 0 && allocated == 0 && grown == 0 {
			continue
		}
		all = append(all, sized{i, Stack{Bytes: held.Bytes, Before: held.Bytes - grown, Allocated: allocated, Objects: held.Objects}})
	}
	sorting.Stable(all, func(a, b sized) int {
		return cmp.Or(cmp.Compare(max(b.Bytes, b.Before), max(a.Bytes, a.Before)), cmp.Compare(b.Allocated, a.Allocated))
	})
	for n, s := range all {
		if n >= mostStacks {
			h.Left.Count, h.Left.Bytes = h.Left.Count+1, h.Left.Bytes+s.Bytes
			continue
		}
		s.Frames = frames.outermostFirst(p.Sites[s.site].Stack)
		h.Stacks = append(h.Stacks, s.Stack)
	}
	h.Frames = append(h.Frames, frames.list...)
}

// frameTable gives each frame one number.
type frameTable struct {
	module string
	known  map[sample.Frame]int
	list   []Frame
}

func (t *frameTable) number(f sample.Frame) int {
	n, ok := t.known[f]
	if !ok {
		n = len(t.list)
		t.known[f] = n
		t.list = append(t.list, Frame{f.Func, place(f), ownerOf(f.Func, t.module)})
	}
	return n
}

// outermostFirst is a stack as numbers; of a very deep one, the innermost part.
func (t *frameTable) outermostFirst(stack []sample.Location) []int {
	out := []int{}
	for _, l := range stack {
		for _, f := range l.Frames {
			out = append(out, t.number(f))
		}
	}
	out = out[:min(len(out), mostFrames)]
	slices.Reverse(out)
	return out
}
