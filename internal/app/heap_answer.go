package app

import (
	"cmp"
	"fmt"
	"path"

	"github.com/highwater-go/highwater/internal/measure/heapgraph"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// heapAnswer is what heap says, and its JSON.
type heapAnswer struct {
	Schema      string           `json:"schema"`
	Objects     uint64           `json:"objects"`    // allocated, garbage that is not swept included
	Bytes       uint64           `json:"bytes"`      // of these
	LiveBytes   uint64           `json:"live_bytes"` // of those that are reachable
	StopMS      float64          `json:"stop_ms"`    // 0: the process was not stopped
	Types       []heapType       `json:"types"`
	Holders     []heapHolder     `json:"holders"`
	Collections []heapCollection `json:"collections"`
	Chains      []heapChain      `json:"chains"`
	Gaps        []heapGap        `json:"gaps"`
	Frames      *stackFrames     `json:"stack_frames,omitempty"` // of a process or a core
	Strings     *heapStrings     `json:"strings,omitempty"`      // with --strings
	Sample      *heapSample      `json:"sample,omitempty"`       // with --sample

	program string
	gc      uint32  // collections that have ended
	typed   float64 // share of live bytes whose type is known
}

// stackFrames says how well it is known what of the stacks is alive.
type stackFrames struct {
	Exact int `json:"exact"` // by the compiler's maps
	Whole int `json:"whole"` // every word counts
}

func (f *stackFrames) String() string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf("; %d of %d stack frames exact", f.Exact, f.Exact+f.Whole)
}

type heapType struct {
	Type     string  `json:"type"`
	Objects  uint64  `json:"objects"`
	Bytes    uint64  `json:"bytes"`
	Error    *uint64 `json:"error_bytes,omitempty"` // with --sample: how far bytes may be off
	Inferred *uint64 `json:"inferred_bytes"`        // of these, whose type follows from what points there alone; null: not known
}

type heapHolder struct {
	Name      string     `json:"name"` // as the program's source calls the place; "": not known
	Root      string     `json:"root"` // what kind of root it hangs on: global, goroutine, timer, special; "": not known
	Path      string     `json:"path"`
	Type      string     `json:"type"`
	Retained  uint64     `json:"retained_bytes"`
	Error     *uint64    `json:"error_bytes,omitempty"` // with --sample: how far that may be off
	Young     *uint64    `json:"young_bytes"`           // of these, allocated since the last collection; null: not known
	Objects   uint64     `json:"objects"`
	Allocated []heapSite `json:"allocated_at"`
}

type heapSite struct {
	sample.Place
	Bytes uint64 `json:"bytes"`
}

type heapCollection struct {
	Name    string `json:"name"` // as the program's source calls the place; "": not known
	Path    string `json:"path"`
	Kind    string `json:"kind"`
	Type    string `json:"type"`
	Entries uint64 `json:"entries"`
	Cap     uint64 `json:"capacity"`
	Bytes   uint64 `json:"bytes"`
	Reached uint64 `json:"reached_bytes"`
	Count   uint64 `json:"count"` // of collections on this path
}

// heapStrings is how many strings are copies of others.
type heapStrings struct {
	heapCopies
	Paths []heapStringsOn `json:"paths"`
}

type heapStringsOn struct {
	Path string `json:"path"`
	heapCopies
}

type heapCopies struct {
	Count    uint64 `json:"count"`
	Distinct uint64 `json:"distinct"`
	Bytes    uint64 `json:"bytes"`
	Copied   uint64 `json:"copied_bytes"` // that would not be there if each were there once
}

type heapChain struct {
	Path   string `json:"path"`
	Type   string `json:"type"`
	Length uint64 `json:"length"`
}

type heapGap struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// maxHeapRows is how many holders are told of.
const maxHeapRows = 100

// heapAnswerOf is what a capture says.
func heapAnswerOf(program string, c *sample.HeapCapture) *heapAnswer {
	ans := &heapAnswer{
		Schema: "highwater.heap/1", program: program, gc: c.GC, typed: 1 - float64(c.Untyped)/float64(max(c.LiveBytes, 1)),
		Objects: c.Objects, Bytes: uint64(c.Bytes), LiveBytes: uint64(c.LiveBytes), StopMS: float64(c.Stopped.Microseconds()) / 1000,
		Types: []heapType{}, Holders: []heapHolder{}, Collections: []heapCollection{}, Chains: []heapChain{}, Gaps: []heapGap{},
	}
	for _, t := range c.Types {
		row := heapType{Type: t.Type, Objects: t.Objects, Bytes: uint64(t.Bytes)}
		if inferred := uint64(t.Inferred); c.Ages {
			row.Inferred = &inferred
		}
		ans.Types = append(ans.Types, row)
	}
	for _, l := range c.Collections {
		ans.Collections = append(ans.Collections, heapCollection{l.Name, l.Path, l.Kind, l.Type, l.Entries, l.Room, uint64(l.Bytes), uint64(l.Reached), l.Count})
	}
	for _, l := range c.Chains {
		ans.Chains = append(ans.Chains, heapChain(l))
	}
	for _, g := range c.Gaps {
		ans.Gaps = append(ans.Gaps, heapGap{g.What, g.Why})
	}
	ans.holders(c)
	return ans
}

// compared takes in how many strings are copies, and what is not known of that.
func (ans *heapAnswer) compared(s *heapgraph.Strings) {
	ans.Strings = &heapStrings{heapCopies: copiesOf(s.Copies), Paths: []heapStringsOn{}}
	for _, on := range s.On[:min(len(s.On), maxHeapRows)] {
		ans.Strings.Paths = append(ans.Strings.Paths, heapStringsOn{on.Path, copiesOf(on.Copies)})
	}
	if n := s.Left.NoRoom; n > 0 {
		ans.Gaps = append(ans.Gaps, heapGap{"copies among strings", fmt.Sprintf("%s references to strings found no room within --max-memory", count(n))})
	}
	if n := s.Left.Unread; n > 0 {
		ans.Gaps = append(ans.Gaps, heapGap{"copies among strings", fmt.Sprintf("%s strings were gone before they were read", count(n))})
	}
}

func copiesOf(c heapgraph.Copies) heapCopies {
	return heapCopies{Count: c.Strings, Distinct: c.Distinct, Bytes: c.Bytes, Copied: c.Copied}
}

// holders are those of the capture, largest first.
func (ans *heapAnswer) holders(c *sample.HeapCapture) {
	for i := range c.Paths {
		p := &c.Paths[i]
		if !p.Holder {
			continue
		}
		h := heapHolder{Path: c.Path(i), Type: p.Type, Retained: uint64(p.Retained), Objects: p.Held, Allocated: []heapSite{}}
		if young := uint64(p.Young); c.Ages {
			h.Young = &young
		}
		if p.Owner != nil {
			h.Name = p.Owner.String()
		}
		if r := c.RootOf(i); r != nil {
			h.Root = string(r.Kind)
		}
		for _, s := range p.Sites {
			h.Allocated = append(h.Allocated, heapSite{s.At.Place(), uint64(s.Bytes)})
		}
		ans.Holders = append(ans.Holders, h)
	}
	sorting.Stable(ans.Holders, func(x, y heapHolder) int { return cmp.Compare(y.Retained, x.Retained) })
	ans.Holders = ans.Holders[:min(len(ans.Holders), maxHeapRows)]
}

func (s heapSite) String() string { return path.Base(s.File) + ":" + itoa(s.Line) + " " + s.Function }
