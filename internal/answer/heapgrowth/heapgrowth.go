// Package heapgrowth compares the captures of a program's heap: which places came to retain more, and which
// lines allocated what lies there. highwater heap --since prints it.
package heapgrowth

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// Schema names the form of a Growth in JSON. Its fields are only ever
// added to.
const Schema = "highwater.heap-growth/1"

// Growth is what came to be held between two captures of a program's heap, and
// still was at the second. No slice is nil.
type Growth struct {
	Schema      string  `json:"schema"`
	Recording   string  `json:"recording"`
	Program     string  `json:"program"`
	PID         int     `json:"pid"`
	Before      Capture `json:"before"`
	After       Capture `json:"after"`
	Captures    int     `json:"captures"`    // that were compared, both included
	Collections uint32  `json:"collections"` // between them: what was held all the time is older than so many
	// Grew are the places where the growth accumulates: those that grew from each
	// capture to the next first, then by bytes.
	Grew []Place `json:"grew"`
}

// Capture is one of the two captures.
type Capture struct {
	At      string       `json:"at"`             // RFC 3339
	Elapsed float64      `json:"moment_seconds"` // since the start
	Reason  string       `json:"reason"`
	Live    sample.Bytes `json:"live_bytes"`
}

// Place is one place that grew.
type Place struct {
	Path          string         `json:"path"`
	Type          string         `json:"type"`
	Before        sample.Bytes   `json:"before_bytes"`
	After         sample.Bytes   `json:"after_bytes"`
	Change        sample.Bytes   `json:"change_bytes"`
	ChangeObjects int64          `json:"change_objects"`
	Young         *sample.Bytes  `json:"young_bytes"`  // of After, allocated since the last collection before it; null: not known
	Steps         int            `json:"steps"`        // from one capture to the next in which it grew
	Always        bool           `json:"always"`       // it did in all of them
	Allocated     []GrownBy      `json:"allocated_at"` // lines that allocated more of what lies there
	series        []sample.Bytes // retained at each capture
	after         int            // index in the last capture
}

// GrownBy is a line and how much more of what it allocated is held.
type GrownBy struct {
	sample.Place
	Change sample.Bytes `json:"change_bytes"` // an estimate
}

const (
	// mostCompared bounds the captures that are compared: of more some are left out.
	mostCompared = 40
	// A place is told of where it is this part of what it is a part of, and of all.
	grownOfWhole = 10
	grownOfAll   = 200
	mostGrown    = 100
	mostLines    = 5
)

// Between compares the captures of one process from since to at ("" is the
// last). The error is explain.ErrNoMoment or explain.ErrAt.
func Between(r *recording.Reader, name, since, at string) (*Growth, error) {
	list, start, err := explain.Heaps(r)
	if err != nil {
		return nil, err
	}
	last, err := explain.HeapNamed(list, cmp.Or(at, "last"), start)
	if err != nil {
		return nil, err
	}
	of := list[last].Process
	list = slices.DeleteFunc(list[:last+1], func(h recording.HeapInfo) bool { return h.Process != of })
	first, err := explain.HeapNamed(list, since, start)
	if err != nil {
		return nil, err
	}
	if list = list[first:]; len(list) < 2 {
		return nil, fmt.Errorf("%w: growth needs two captures, and from %s on there is one", explain.ErrAt, since)
	}
	captures, err := someOf(r, list)
	if err != nil {
		return nil, err
	}
	g := compareHeaps(captures)
	g.Recording, g.PID = name, of.PID
	g.Before, g.After = heapSide(captures[0], start), heapSide(captures[len(captures)-1], start)
	programs, err := r.Programs()
	for _, p := range programs {
		if p.Key == of {
			g.Program = p.Name
		}
	}
	return g, err
}

// someOf reads the captures, the first, the last and as many between as are compared.
func someOf(r *recording.Reader, list []recording.HeapInfo) (all []*sample.HeapCapture, err error) {
	n := min(len(list), mostCompared)
	for k := range n {
		c, err := r.Heap(list[k*(len(list)-1)/(n-1)].ID)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func heapSide(c *sample.HeapCapture, start time.Time) Capture {
	return Capture{At: c.At.Format(time.RFC3339Nano), Elapsed: c.At.Sub(start).Seconds(), Reason: string(c.Reason), Live: c.LiveBytes}
}

// compareHeaps finds where what the last capture holds more than the first
// accumulates.
func compareHeaps(captures []*sample.HeapCapture) *Growth {
	first, last := captures[0], captures[len(captures)-1]
	g := &Growth{Schema: Schema, Captures: len(captures), Collections: last.GC - first.GC, Grew: []Place{}}
	tree := growthTree{captures: captures, at: make([]map[string]int, len(captures)), frameless: frameless(captures)}
	for i, c := range captures {
		tree.at[i] = tree.pathIndex(c)
	}
	tree.grow()
	for _, row := range tree.rows {
		row.Allocated = tree.sites(row)
		g.Grew = append(g.Grew, row)
	}
	sorting.Stable(g.Grew, func(x, y Place) int {
		if x.Always != y.Always {
			return map[bool]int{true: -1, false: 1}[x.Always]
		}
		return cmp.Compare(y.Change, x.Change)
	})
	g.Grew = g.Grew[:min(len(g.Grew), mostGrown)]
	return g
}

// growthTree is the paths of the last capture, with what the others had there.
type growthTree struct {
	captures  []*sample.HeapCapture
	at        []map[string]int // by capture: 1 + index of a path
	frameless map[string]bool  // goroutines of which some capture does not know the frames
	rows      []Place
}

const inItsStack = " in " + sample.WholeStack

// frameless are such goroutines, by name.
func frameless(captures []*sample.HeapCapture) map[string]bool {
	names := make(map[string]bool)
	for _, c := range captures {
		for i := range c.Paths {
			if p := &c.Paths[i]; p.Label == inItsStack && p.Parent >= 0 {
				names[c.Paths[p.Parent].Label] = true
			}
		}
	}
	return names
}

// pathIndex is where each path of a capture is, by its text: the one that retains most
// of several frames, and of a list's nodes, whose text is its own again.
func (t *growthTree) pathIndex(c *sample.HeapCapture) map[string]int {
	index := make(map[string]int, len(c.Paths))
	for i := range c.Paths {
		text := t.text(c, i)
		if at := index[text]; at == 0 || c.Paths[at-1].Retained < c.Paths[i].Retained {
			index[text] = i + 1
		}
	}
	return index
}

// text is by which a path is known in all captures: where one does not know a
// goroutine's frames, without them.
func (t *growthTree) text(c *sample.HeapCapture, i int) string {
	text := ""
	for ; i >= 0; i = c.Paths[i].Parent {
		p := &c.Paths[i]
		label := p.Label
		if p.Parent >= 0 && t.frameless[c.Paths[p.Parent].Label] && strings.HasPrefix(label, " in ") {
			label = inItsStack
		}
		text = label + text
	}
	return text
}

// grow goes from the roots to where the growth accumulates: on to the parts of a
// path as long as they make up most of its growth.
func (t *growthTree) grow() {
	last := t.captures[len(t.captures)-1]
	children := make([][]int, len(last.Paths)+1)
	grown := make([]int64, len(last.Paths))
	for i := range last.Paths {
		p := &last.Paths[i]
		children[p.Parent+1] = append(children[p.Parent+1], i)
		grown[i] = int64(p.Retained) - int64(t.retained(0, t.text(last, i)))
	}
	least := max(int64(last.LiveBytes)/grownOfAll, 1)
	var descend func(at int)
	descend = func(at int) {
		named, parts := int64(0), []int(nil)
		for _, c := range children[at+1] {
			if n := grown[c]; n >= least && (at < 0 || n*grownOfWhole >= grown[at]) {
				parts, named = append(parts, c), named+n
			}
		}
		if at >= 0 && named*4 < grown[at]*3 {
			t.rows = append(t.rows, t.row(at))
			return
		}
		for _, c := range parts {
			descend(c)
		}
	}
	descend(-1)
}

func (t *growthTree) retained(capture int, path string) sample.Bytes {
	if i := t.at[capture][path]; i > 0 {
		return t.captures[capture].Paths[i-1].Retained
	}
	return 0
}

// row is what is told of a path of the last capture.
func (t *growthTree) row(at int) Place {
	last := t.captures[len(t.captures)-1]
	p, text := &last.Paths[at], t.text(last, at)
	row := Place{Path: last.Path(at), Type: p.Type, After: p.Retained, after: at, ChangeObjects: int64(p.Held)}
	for k := range t.captures {
		row.series = append(row.series, t.retained(k, text))
		if k > 0 && row.series[k] > row.series[k-1] {
			row.Steps++
		}
	}
	if i := t.at[0][text]; i > 0 {
		row.ChangeObjects -= int64(t.captures[0].Paths[i-1].Held)
	}
	row.Before, row.Always = row.series[0], row.Steps == len(t.captures)-1
	row.Change = row.After - row.Before
	if last.Ages {
		row.Young = &p.Young
	}
	return row
}

// sites are the lines that allocated more of what a place holds, most first.
func (t *growthTree) sites(row Place) []GrownBy {
	sums := map[sample.Frame]int64{}
	add := func(c *sample.HeapCapture, at int, sign int64) {
		for i := range c.Paths {
			if c.Paths[i].Holder && (isPart(c, i, at) || isPart(c, at, i)) {
				for _, s := range c.Paths[i].Sites {
					sums[s.At] += sign * int64(s.Bytes)
				}
			}
		}
	}
	add(t.captures[len(t.captures)-1], row.after, 1)
	if i := t.at[0][t.text(t.captures[len(t.captures)-1], row.after)]; i > 0 {
		add(t.captures[0], i-1, -1)
	}
	all := []GrownBy{}
	for at, n := range sums {
		if n > 0 {
			all = append(all, GrownBy{at.Place(), sample.Bytes(n)})
		}
	}
	sorting.Stable(all, func(x, y GrownBy) int {
		return cmp.Or(cmp.Compare(y.Change, x.Change), cmp.Compare(x.Function, y.Function), cmp.Compare(x.Line, y.Line))
	})
	return all[:min(len(all), mostLines)]
}

// isPart says whether a path is another, or a part of it.
func isPart(c *sample.HeapCapture, path, of int) bool {
	for ; path > of; path = c.Paths[path].Parent {
	}
	return path == of
}
