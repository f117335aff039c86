package heapdiff

import (
	"math"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Usage is what was allocated under one line of a function: by the line itself, or
// by what it called.
type Usage struct {
	sample.Frame
	Held, Allocated Amount
	// Error is the standard error of Held.Bytes, Growth Held less what was held in
	// the earlier profile.
	Error  float64
	Growth Amount
}

// Under lists the lines of the functions that match, those that most was held under
// first. Both profiles are read in the view Now; the earlier one may be nil.
func Under(p Profile, earlier *sample.HeapProfile, match func(function string) bool) []Usage {
	known := map[string]bool{} // few functions are on many stacks
	return under(p, earlier, func(f sample.Frame) (sample.Frame, bool) {
		is, ok := known[f.Func]
		if !ok {
			is = match(f.Func)
			known[f.Func] = is
		}
		return f, is
	})
}

// Functions lists all functions on the stacks of a profile, those that most was
// held under first. Their frames have no line.
func Functions(p Profile, earlier *sample.HeapProfile) []Usage {
	return under(p, earlier, func(f sample.Frame) (sample.Frame, bool) {
		return sample.Frame{Func: f.Func, File: f.File}, f.Func != ""
	})
}

// under sums up the sites by what place makes of the frames on their stacks: a
// site counts once for each place, however often it is on the stack.
func under(p Profile, earlier *sample.HeapProfile, place func(sample.Frame) (sample.Frame, bool)) []Usage {
	index := map[sample.Frame]int{}
	last := map[int]int{} // the site that was counted last, from 1
	var list []Usage
	for i, c := range p.Counts[:p.count()] {
		s := p.Sites[i]
		for _, l := range s.Stack {
			for _, frame := range l.Frames {
				f, ok := place(frame)
				if !ok {
					continue
				}
				at, ok := index[f]
				if !ok {
					at = len(list)
					index[f] = at
					list = append(list, Usage{Frame: f})
				}
				if last[at] == i+1 {
					continue
				}
				last[at] = i + 1
				u := &list[at]
				u.Held = u.Held.Add(Scale(Now.InUse(c), s.Size, p.Rate))
				u.Allocated = u.Allocated.Add(Scale(Now.Allocs(c), s.Size, p.Rate))
				u.Error = math.Hypot(u.Error, Error(Now.InUse(c), s.Size, p.Rate))
				u.Growth = u.Growth.Add(Growth(earlier, p.HeapProfile, i, s.Size, Now))
			}
		}
	}
	sortBy(list, func(u Usage) int64 { return u.Allocated.Bytes })
	sortBy(list, func(u Usage) int64 { return u.Held.Bytes })
	return list
}
