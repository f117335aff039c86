package heapdiff

import (
	"math"
	"path"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Change is one line of code at two instants, or in two programs.
type Change struct {
	sample.Place
	Before, After Amount
	// Error is the standard error of After.Bytes - Before.Bytes.
	Error float64
}

// Bytes is what was held more in the end.
func (c Change) Bytes() int64 { return c.After.Bytes - c.Before.Bytes }

// Certain says whether the change is beyond two standard errors, of which chance
// alone gives one in twenty.
func (c Change) Certain() bool {
	return c.Bytes() != 0 && math.Abs(float64(c.Bytes())) > 2*c.Error
}

// Changes compares two profiles of one process, whose sites have the same numbers,
// line by line: greatest change first. Both are read in the view Now (see Live and
// AsPublished); either may be the later one.
//
// Objects that were held both times are the same ones, and cancel: the error is
// that of what came and went in between.
func Changes(before, after Profile, module string) []Change {
	sites := before.Sites
	if len(after.Sites) > len(sites) {
		sites = after.Sites
	}
	g := newGroups(module)
	rateBefore, rateAfter := rateOf(before), rateOf(after)
	for i, s := range sites {
		b, a := countsAt(before, i), countsAt(after, i)
		moved := distance(a.NowAllocs, b.NowAllocs) + distance(a.NowFrees, b.NowFrees)
		err := Error(min(moved, Now.InUse(b)+Now.InUse(a)), s.Size, rateAfter)
		if rateBefore != rateAfter {
			err = math.Hypot(Error(Now.InUse(b), s.Size, rateBefore), Error(Now.InUse(a), s.Size, rateAfter))
		}
		g.add(s, Scale(Now.InUse(b), s.Size, rateBefore), Scale(Now.InUse(a), s.Size, rateAfter), err)
	}
	return g.list()
}

// Across compares two profiles of different processes, of one build or of two:
// by function, name of the file and line. With sameLines false, the builds differ:
// a line that only one of them has is taken for the other's where it is the only
// such line of its function in both.
func Across(before, after Profile, moduleBefore, moduleAfter string, sameLines bool) []Change {
	b, a := newGroups(moduleBefore), newGroups(moduleAfter)
	for i, s := range before.Sites[:before.count()] {
		n := Now.InUse(before.Counts[i])
		b.add(s, Scale(n, s.Size, before.Rate), Amount{}, Error(n, s.Size, before.Rate))
	}
	for i, s := range after.Sites[:after.count()] {
		n := Now.InUse(after.Counts[i])
		a.add(s, Amount{}, Scale(n, s.Size, after.Rate), Error(n, s.Size, after.Rate))
	}
	if !sameLines {
		b.renumber(a)
	}
	for _, c := range b.lines {
		a.merge(*c)
	}
	return a.list()
}

func countsAt(p Profile, site int) sample.BucketCounts {
	if p.HeapProfile == nil || site >= len(p.Counts) {
		return sample.BucketCounts{}
	}
	return p.Counts[site]
}

func rateOf(p Profile) int64 {
	if p.HeapProfile == nil {
		return 0
	}
	return p.Rate
}

func distance(a, b uint64) int64 {
	if a < b {
		a, b = b, a
	}
	return int64(min(a-b, math.MaxInt64/4))
}

// groups collects changes by the line to blame.
type groups struct {
	ownerOf func(string) Owner
	index   map[line]int
	lines   []*Change
}

func newGroups(module string) *groups {
	owners := map[string]Owner{}
	return &groups{index: map[line]int{}, ownerOf: func(function string) Owner {
		o, ok := owners[function]
		if !ok {
			o = OwnerOf(function, module)
			owners[function] = o
		}
		return o
	}}
}

func (g *groups) add(s sample.Site, before, after Amount, err float64) {
	if before == (Amount{}) && after == (Amount{}) && err == 0 {
		return
	}
	f := blame(s, g.ownerOf).Frame
	g.merge(Change{f.Place(), before, after, err})
}

// merge adds a change to that of its line. Files are told by their name alone: two
// builds may have been made in two places.
func (g *groups) merge(c Change) {
	key := line{c.Function, path.Base(c.File), c.Line}
	at, ok := g.index[key]
	if !ok {
		g.index[key] = len(g.lines)
		g.lines = append(g.lines, &c)
		return
	}
	have := g.lines[at]
	have.Before, have.After = have.Before.Add(c.Before), have.After.Add(c.After)
	have.Error = math.Hypot(have.Error, c.Error)
}

// renumber gives lines that the other does not have the other's number.
func (g *groups) renumber(other *groups) {
	here, there := g.lonely(other), other.lonely(g)
	for function, c := range here {
		if to := there[function]; c != nil && to != nil {
			c.File, c.Line = to.File, to.Line
		}
	}
}

// lonely are, by function, the lines that the other does not have; nil where there
// are several.
func (g *groups) lonely(other *groups) map[string]*Change {
	out := map[string]*Change{}
	for _, c := range g.lines {
		if _, both := other.index[line{c.Function, path.Base(c.File), c.Line}]; both {
			continue
		}
		if _, several := out[c.Function]; several {
			out[c.Function] = nil
			continue
		}
		out[c.Function] = c
	}
	return out
}

// list is the changes, greatest first, and what did not change by size.
func (g *groups) list() []Change {
	out := make([]Change, len(g.lines))
	for i, c := range g.lines {
		out[i] = *c
	}
	sortBy(out, func(c Change) int64 { return c.After.Bytes })
	sortBy(out, func(c Change) int64 { return max(c.Bytes(), -c.Bytes()) })
	return out
}
