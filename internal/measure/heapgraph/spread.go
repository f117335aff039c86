package heapgraph

import (
	"math"

	"github.com/highwater-go/highwater/internal/eyes/goheap"
)

// Spread says how far the figures of a sampled heap may be off: objects that were chosen belong
// to random groups, and how the groups' sums differ tells how their total does.
type Spread struct {
	a     *Analysis
	paths map[uint32]*groupSums
	types map[goheap.TypeRef]*groupSums
	live  groupSums
	Rough uint64 // bytes of kinds of objects most of which the sample has missed: they count where all of a kind hang
}

type groupSums [goheap.Groups]float64

// Spread is that of the paths that hold much and of types; nil where all objects were read.
func (a *Analysis) Spread() *Spread {
	th := a.Objects.Thinned()
	if th == nil {
		return nil
	}
	s := &Spread{a: a, paths: make(map[uint32]*groupSums), types: make(map[goheap.TypeRef]*groupSums)}
	large := make([]*groupSums, len(a.paths)) // of the nearest path above that holds much
	for i := 1; i < len(large); i++ {
		if p := &a.paths[i]; p.retains*partKept >= a.LiveSize {
			large[i] = &groupSums{}
			s.paths[uint32(i)] = large[i]
		} else {
			large[i] = large[p.parent]
		}
	}
	size := a.Objects.SizeOf()
	for id := range uint32(a.Objects.Count) {
		group := th.GroupOf(id)
		if th.StandIn(id) && a.tree.dominator(id) != none {
			s.Rough += size(id)
		}
		if a.Objects.Stands(id) == 0 || group == goheap.Groups || a.tree.dominator(id) == none {
			continue
		}
		n := float64(size(id))
		s.live[group] += n
		if at := large[*a.path(id)]; at != nil {
			at[group] += n
		}
		typ := a.paths[*a.path(id)].typ
		of := s.types[typ]
		if of == nil {
			of = &groupSums{}
			s.types[typ] = of
		}
		of[group] += n
	}
	for i := len(large) - 1; i > 0; i-- {
		of := s.paths[uint32(i)]
		up := large[a.paths[i].parent]
		if of == nil || up == nil {
			continue
		}
		for g, n := range of {
			up[g] += n
		}
	}
	return s
}

// Live is how far the live bytes may be off.
func (s *Spread) Live() uint64 { return s.live.err() }

// Paths is how far what paths retain may be off, by their text.
func (s *Spread) Paths() map[string]uint64 {
	all := make(map[string]uint64, len(s.paths))
	for at, of := range s.paths {
		all[s.a.Path(at)] = of.err()
	}
	return all
}

// Types is how far the bytes of types may be off, by their names.
func (s *Spread) Types() map[string]uint64 {
	all := make(map[string]uint64, len(s.types))
	for typ, of := range s.types {
		all[s.a.Objects.Types.Name(typ)] += of.err()
	}
	return all
}

// err is how far the sum of all groups may be off: twice its standard error, so that the truth lies
// within it nineteen times of twenty.
func (g *groupSums) err() uint64 {
	mean, squares := 0.0, 0.0
	for _, n := range g {
		mean += n / goheap.Groups
	}
	for _, n := range g {
		squares += (n - mean) * (n - mean)
	}
	return uint64(2 * math.Sqrt(squares*goheap.Groups/(goheap.Groups-1)))
}
