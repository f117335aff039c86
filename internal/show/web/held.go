package web

import (
	"cmp"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// Held is who holds the heap of one process, as the capture found it that is
// nearest to an instant: ways into the heap by variables, fields and goroutines.
// Amounts are bytes, times seconds. No list is null.
type Held struct {
	Taken   float64 `json:"taken"` // since the start
	Reason  string  `json:"reason"`
	PID     int     `json:"pid"`
	Stopped float64 `json:"stopped"` // the process stood still for it

	LiveObjects uint64 `json:"live_objects"`
	LiveBytes   int64  `json:"live_bytes"`
	Dead        int64  `json:"dead"`    // garbage, and free to be swept
	Untyped     int64  `json:"untyped"` // live, of a type that is not known

	Paths       []HeldPath   `json:"paths"` // a tree, each after the one that it is a part of
	Types       []HeldType   `json:"types"` // most bytes first
	Collections []Collection `json:"collections"`
	Chains      []Chain      `json:"chains"`

	Gaps []explain.Gap `json:"gaps"`
}

// HeldPath is one way into the heap, and what would be garbage without it.
type HeldPath struct {
	Parent   int        `json:"parent"` // index, -1: a root
	Label    string     `json:"label"`  // what it adds to its parent: ".entries[]"
	Type     string     `json:"type"`   // of the objects on it
	Objects  uint64     `json:"objects"`
	Bytes    int64      `json:"bytes"`
	Held     uint64     `json:"held"` // objects that it retains
	Retained int64      `json:"retained"`
	Holder   bool       `json:"holder"` // here memory accumulates
	Sites    []HeldSite `json:"sites"`  // where what a holder retains was allocated
}

// HeldSite is a line that allocated, as sampled.
type HeldSite struct {
	Place string `json:"place"`
	Bytes int64  `json:"bytes"`
}

// HeldType is the live objects of one type.
type HeldType struct {
	Type    string `json:"type"`
	Objects uint64 `json:"objects"`
	Bytes   int64  `json:"bytes"`
	// Inferred is the bytes of those whose type follows from what points there alone; null:
	// not known.
	Inferred *int64 `json:"inferred_bytes"`
}

// Collection is maps, channels, slices or strings that are large or keep more than
// is in reach.
type Collection struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"`
	Count   uint64 `json:"count"`
	Entries uint64 `json:"entries"`
	Room    uint64 `json:"room"`
	Bytes   int64  `json:"bytes"`
	Reached int64  `json:"reached"`
}

// Chain is objects that can only be found one after the other.
type Chain struct {
	Path   string `json:"path"`
	Length uint64 `json:"length"`
}

// Held reads the capture that is nearest to an instant, as Instant has it; nil:
// none was made of the process that the instant is about.
func (b *Book) Held(at string) (h *Held, err error) {
	err = b.main.read(b.opener(), b.Path, func(r *recording.Reader) error {
		h, err = once(&b.parts, "held "+at, func() (*Held, bool, error) {
			e, err := b.load(r)
			if err == nil && at != "" {
				e, err = explain.LoadAgain(r, b.Path, at, e)
			}
			if err != nil || e.Heap == nil {
				return nil, err == nil && !r.Live(), err
			}
			return heldOf(e.Heap, e.Seconds(e.Heap.At)), !r.Live(), nil
		})
		return err
	})
	return h, err
}

func heldOf(c *sample.HeapCapture, taken float64) *Held {
	h := &Held{Taken: taken, Reason: string(c.Reason), PID: c.Process.PID, Stopped: c.Stopped.Seconds(),
		LiveObjects: c.LiveObjects, LiveBytes: int64(c.LiveBytes), Dead: int64(c.Bytes.Sub(c.LiveBytes)), Untyped: int64(c.Untyped),
		Paths: []HeldPath{}, Types: []HeldType{}, Collections: []Collection{}, Chains: []Chain{}, Gaps: []explain.Gap{}}
	for _, p := range c.Paths {
		one := HeldPath{p.Parent, p.Label, p.Type, p.Objects, int64(p.Bytes), p.Held, int64(p.Retained), p.Holder, []HeldSite{}}
		for _, s := range p.Sites {
			one.Sites = append(one.Sites, HeldSite{place(s.At), int64(s.Bytes)})
		}
		h.Paths = append(h.Paths, one)
	}
	h.addTypes(c)
	for _, l := range c.Collections {
		h.Collections = append(h.Collections, Collection{l.Path, l.Kind, l.Count, l.Entries, l.Room, int64(l.Bytes), int64(l.Reached)})
	}
	for _, l := range c.Chains {
		h.Chains = append(h.Chains, Chain{l.Path, l.Length})
	}
	for _, g := range c.Gaps {
		h.Gaps = append(h.Gaps, explain.Gap{What: g.What, Why: g.Why})
	}
	return h
}

// addTypes lists types by their name: several of the program may share one.
func (h *Held) addTypes(c *sample.HeapCapture) {
	at := map[string]int{}
	for _, t := range c.Types {
		i, ok := at[t.Type]
		if !ok {
			i = len(h.Types)
			at[t.Type] = i
			h.Types = append(h.Types, HeldType{Type: t.Type})
			if c.Ages {
				h.Types[i].Inferred = new(int64)
			}
		}
		h.Types[i].Objects += t.Objects
		h.Types[i].Bytes += int64(t.Bytes)
		if c.Ages {
			*h.Types[i].Inferred += int64(t.Inferred)
		}
	}
	sorting.Stable(h.Types, func(a, b HeldType) int { return cmp.Compare(b.Bytes, a.Bytes) })
}
