package web

import (
	"strings"

	"github.com/highwater-go/highwater/internal/answer/moment"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Heap is who held the heap of one process at one moment, as sampled and scaled.
type Heap struct {
	View  string   `json:"view"` // "live", "published" or "none"
	Rate  int64    `json:"rate"` // bytes a sample; 0: not known
	Taken float64  `json:"taken"`
	Since *float64 `json:"since"` // growth is since then; null: nothing to compare with
	Total int64    `json:"total"`
	Error int64    `json:"error"`
	Grown int64    `json:"grown"`

	Lines  []Line  `json:"lines"`  // most held first
	Others Rest    `json:"others"` // lines that are not listed
	Frames []Frame `json:"frames"`
	Stacks []Stack `json:"stacks"` // most held first
	Left   Rest    `json:"left"`   // stacks that are not listed
}

// Rest is what a list does not show.
type Rest struct {
	Count int   `json:"count"`
	Bytes int64 `json:"bytes"`
}

// Line is one line of code, the program's own where there is one on the stack.
type Line struct {
	Function  string  `json:"function"`
	Short     string  `json:"short"` // of the function, as people say it
	File      string  `json:"file"`
	Place     string  `json:"place"` // file with its folder, and line
	Line      int     `json:"line"`
	Owner     string  `json:"owner"`
	Bytes     int64   `json:"bytes"`
	Error     int64   `json:"error"`
	Grown     int64   `json:"grown"`
	Allocated int64   `json:"allocated"`
	Garbage   int64   `json:"garbage"`
	Objects   int64   `json:"objects"`
	InFlight  int     `json:"in_flight"` // goroutines inside the function
	Course    []Stood `json:"course"`
	Code      *Code   `json:"code"`
	CodeWhy   string  `json:"code_why"` // why there is none
}

// Stood is what a line held at one time.
type Stood struct {
	At    float64 `json:"at"`
	Bytes int64   `json:"bytes"`
}

// Frame is one function on a stack, at a line.
type Frame struct {
	Function string `json:"function"`
	Place    string `json:"place"`
	Owner    string `json:"owner"`
}

// Stack is one allocation site: frames outermost first.
type Stack struct {
	Frames    []int `json:"frames"`
	Bytes     int64 `json:"bytes"`
	Before    int64 `json:"before"` // at the baseline
	Allocated int64 `json:"allocated"`
	Objects   int64 `json:"objects"`
}

// How much of a profile a page is given.
const (
	mostLines  = 12
	mostStacks = 400
	mostFrames = 64 // of one stack
	courseLong = 40
)

func (b *Book) heap(r *recording.Reader, side *moment.Profiled, a *explain.Answer, from string) (Heap, error) {
	h := Heap{View: side.View, Lines: []Line{}, Frames: []Frame{}, Stacks: []Stack{}}
	if side.View == "none" {
		return h, nil
	}
	h.Rate, h.Taken = side.Profile.Rate, side.Seconds(side.Taken)
	base, since, err := baseline(r, side, from)
	if err != nil {
		return h, err
	}
	h.Since = since
	holders := heapdiff.Holders(side.Profile, base, heapdiff.Now, side.Module())
	sum, stray := heapdiff.Total(holders)
	h.Total, h.Error = sum.Bytes, int64(stray+0.5)
	for _, one := range holders {
		h.Grown += one.Growth.Bytes
		if len(h.Lines) < mostLines && (one.InUse.Bytes > 0 || one.Alloc.Bytes > h.Total/100) {
			h.Lines = append(h.Lines, b.line(one, side, a))
		} else if one.InUse.Bytes > 0 {
			h.Others.Count, h.Others.Bytes = h.Others.Count+1, h.Others.Bytes+one.InUse.Bytes
		}
	}
	if err := h.courses(r, side, holders); err != nil {
		return h, err
	}
	h.stacks(side.Profile, base, side.Module())
	return h, nil
}

func (b *Book) line(h heapdiff.Holder, side *moment.Profiled, a *explain.Answer) Line {
	f := h.Frame
	l := Line{Function: f.Func, Short: explain.ShortFunc(f.Func), File: f.File, Place: place(f), Line: f.Line, Owner: string(h.Owner), Bytes: h.InUse.Bytes,
		Error: int64(h.Error + 0.5), Grown: h.Growth.Bytes, Allocated: h.Alloc.Bytes, Objects: h.InUse.Objects, Course: []Stood{}}
	for _, known := range a.Holders {
		if known.Function == f.Func && known.File == f.File && known.Line == f.Line {
			l.InFlight = known.InFlight
		}
	}
	for _, known := range side.Allocators {
		if known.Function == f.Func && known.File == f.File && known.Line == f.Line {
			l.Garbage = int64(known.Garbage)
		}
	}
	l.Code, l.CodeWhy = b.code(f)
	return l
}

// courses reads how the lines stood at profiles up to this one. The lines are the
// first of the holders.
func (h *Heap) courses(r *recording.Reader, side *moment.Profiled, holders []heapdiff.Holder) error {
	// More than are shown: some are of other processes.
	all, err := r.ProfilesBetween(side.First, side.Taken, 40*courseLong, side.Subject)
	if err != nil {
		return err
	}
	for len(all) > 0 && !all[len(all)-1].At.Before(side.Taken) {
		all = all[:len(all)-1] // its own is read as the mark has it, below
	}
	byLine := map[[2]any]heapdiff.Holder{}
	for _, one := range holders {
		byLine[[2]any{one.Frame.Func, one.Frame.Line}] = one
	}
	for i, n := 0, min(len(all), courseLong-1); i < n; i++ {
		info := all[len(all)-1-(len(all)-1)*(n-1-i)/max(1, n-1)]
		p, err := r.Profile(info.ID)
		if err != nil {
			return err
		}
		for j := range h.Lines {
			l := &h.Lines[j]
			l.Course = append(l.Course, Stood{side.Seconds(p.At), heldBy(byLine[[2]any{l.Function, l.Line}], p, side.Profile.Sites)})
		}
	}
	for j := range h.Lines {
		h.Lines[j].Course = append(h.Lines[j].Course, Stood{h.Taken, h.Lines[j].Bytes})
	}
	return nil
}

// heldBy is what was held then under a line, by what was published.
func heldBy(h heapdiff.Holder, p *sample.HeapProfile, sites []sample.Site) (bytes int64) {
	for _, i := range h.Sites {
		if i < len(p.Counts) {
			bytes += heapdiff.Scale(heapdiff.Published.InUse(p.Counts[i]), sites[i].Size, p.Rate).Bytes
		}
	}
	return bytes
}

func place(f sample.Frame) string {
	if f.File == "" {
		return ""
	}
	return explain.ShortFile(f.File) + ":" + itoa(f.Line)
}

// ownerOf is short for the page.
func ownerOf(function, module string) string {
	return strings.ReplaceAll(string(heapdiff.OwnerOf(function, module)), "standard library", "standard")
}
