package cli

import (
	"cmp"
	"math"
	"path"
	"slices"

	"github.com/highwater-go/highwater/internal/gobin"
	"github.com/highwater-go/highwater/internal/gomem"
	"github.com/highwater-go/highwater/internal/heapgraph"
	"github.com/highwater-go/highwater/internal/sample"
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

	program string
	copied  sample.Bytes
	typed   float64 // share of live bytes whose type is known
}

type heapType struct {
	Type    string `json:"type"`
	Objects uint64 `json:"objects"`
	Bytes   uint64 `json:"bytes"`
}

type heapHolder struct {
	Path      string     `json:"path"`
	Type      string     `json:"type"`
	Retained  uint64     `json:"retained_bytes"`
	Objects   uint64     `json:"objects"`
	Allocated []heapSite `json:"allocated_at"`
}

type heapSite struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Bytes    uint64 `json:"bytes"`
}

type heapCollection struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"`
	Type    string `json:"type"`
	Entries uint64 `json:"entries"`
	Cap     uint64 `json:"capacity"`
	Bytes   uint64 `json:"bytes"`
	Reached uint64 `json:"reached_bytes"`
	Count   uint64 `json:"count"` // of collections on this path
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

// At most so many of each are told of; of sites at most maxHeapSites a holder.
const (
	maxHeapRows  = 100
	maxHeapSites = 5
)

// fill turns an analysis into the answer.
func (ans *heapAnswer) fill(a *heapgraph.Analysis) []heapgraph.Holder {
	ans.Schema = "highwater.heap/1"
	ans.Objects, ans.Bytes, ans.LiveBytes = uint64(a.Objects.Count), a.Objects.Bytes, a.LiveSize
	ans.Types, ans.Holders, ans.Collections, ans.Chains = []heapType{}, []heapHolder{}, []heapCollection{}, []heapChain{}
	unknown := uint64(0)
	for _, t := range a.TypesByBytes() {
		if t.Type == "?" {
			unknown += t.Bytes
		}
		if len(ans.Types) < maxHeapRows {
			ans.Types = append(ans.Types, heapType(t))
		}
	}
	ans.typed = 1 - float64(unknown)/float64(max(a.LiveSize, 1))
	holders := a.Holders()
	holders = holders[:min(len(holders), maxHeapRows)]
	for _, h := range holders {
		ans.Holders = append(ans.Holders, heapHolder{Path: h.Path, Type: h.Type, Retained: h.Retained, Objects: h.Objects, Allocated: []heapSite{}})
	}
	ans.collections(a)
	return holders
}

// collections sums the collections by path: of a thousand short strings that each
// keep a page there is one row.
func (ans *heapAnswer) collections(a *heapgraph.Analysis) {
	type key struct{ path, kind string }
	sums := make(map[key]*heapCollection)
	for _, c := range a.Objects.Collections {
		p := a.PathOf(c.Object)
		if p == "" {
			continue
		}
		s := sums[key{p, c.Kind}]
		if s == nil {
			s = &heapCollection{Path: p, Kind: c.Kind, Type: a.Objects.Types.Name(a.Objects.TypeOf[c.Object])}
			sums[key{p, c.Kind}] = s
		}
		s.Entries, s.Cap, s.Count = s.Entries+c.Len, s.Cap+c.Cap, s.Count+1
		s.Bytes, s.Reached = s.Bytes+c.Bytes, s.Reached+c.Reached
		if c.Bytes == 0 { // a header: what counts is what it holds
			s.Bytes += a.Retained(c.Object)
			s.Reached = s.Bytes
		}
	}
	for _, s := range sums {
		ans.Collections = append(ans.Collections, *s)
	}
	slices.SortFunc(ans.Collections, func(x, y heapCollection) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.Path, y.Path))
	})
	ans.Collections = ans.Collections[:min(len(ans.Collections), maxHeapRows)]
}

// allocated joins the holders with the stacks by which the heap profile's objects
// among what they hold were allocated.
func (ans *heapAnswer) allocated(a *heapgraph.Analysis, holders []heapgraph.Holder, rt *gomem.Runtime, bin *gobin.Binary, bias uint64) error {
	var profile sample.HeapProfile
	if err := rt.Profile(&profile); err != nil {
		return err
	}
	sites := make([]map[heapSite]float64, len(holders))
	where := make(map[uint64]heapSite)
	a.Sampled(holders, func(holder int, s gomem.Sample) {
		b, ok := rt.Bucket(s.Bucket)
		if holder < 0 || !ok {
			return
		}
		at, ok := where[s.Bucket]
		if !ok {
			at = siteOf(bin, b.Stack, bias)
			where[s.Bucket] = at
		}
		if sites[holder] == nil {
			sites[holder] = make(map[heapSite]float64)
		}
		sites[holder][at] += scaled(float64(b.Size), float64(profile.Rate))
	})
	for i, m := range sites {
		for at, n := range m {
			at.Bytes = uint64(n)
			ans.Holders[i].Allocated = append(ans.Holders[i].Allocated, at)
		}
		all := ans.Holders[i].Allocated
		slices.SortFunc(all, func(x, y heapSite) int {
			return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.Function, y.Function), cmp.Compare(x.Line, y.Line))
		})
		ans.Holders[i].Allocated = all[:min(len(all), maxHeapSites)]
	}
	return nil
}

// scaled is the bytes that one sampled object of that size stands for
// (runtime/pprof, scaleHeapSample).
func scaled(size, rate float64) float64 {
	if rate <= 1 {
		return size
	}
	return size / (1 - math.Exp(-size/rate))
}

// siteOf is the line that allocated: the program's own nearest to the allocation,
// else the first that runtime/pprof shows.
func siteOf(bin *gobin.Binary, stack []uint64, bias uint64) heapSite {
	linked := make([]uint64, len(stack))
	for i, pc := range stack {
		linked[i] = pc - bias
	}
	locations, hidden := bin.Site(linked)
	first := heapSite{Function: "?"}
	for _, l := range locations[min(hidden, len(locations)):] {
		for _, f := range l.Frames {
			at := heapSite{Function: f.Func, File: f.File, Line: f.Line}
			if bin.Owner(f.Func).Kind == gobin.OwnModule {
				return at
			}
			if first.File == "" {
				first = at
			}
		}
	}
	return first
}

func (s heapSite) String() string { return path.Base(s.File) + ":" + itoa(s.Line) + " " + s.Function }
