package heapgraph

import (
	"math"

	"github.com/highwater-go/highwater/internal/eyes/goheap"
)

// Spread says how far the figures of a sampled heap may be off. Objects that were chosen belong to
// random groups. How many there are of each shape is known, so that a path's bytes err by its share
// of each shape alone: a group's residual is what it has of the path, less that share of what it has
// of the shape (Särndal et al., Model Assisted Survey Sampling, 1992, 7.6, post-stratification).
type Spread struct {
	Rough uint64 // bytes of kinds of objects most of which the sample has missed: they count where all of a kind are retained

	a      *Analysis
	paths  map[uint32]*sampleSum
	types  map[goheap.TypeRef]*sampleSum
	shapes map[uint16]*groupSums // all that is reachable
	missed map[uint16]float64
}

type groupSums [goheap.Groups]float64

func (g *groupSums) total() (sum float64) {
	for _, n := range g {
		sum += n
	}
	return sum
}

// sampleSum is bytes by group, and by shape.
type sampleSum struct {
	groups groupSums
	shapes map[uint16]float64
	missed map[uint16]float64 // by shape, what stand-ins stand for themselves
	whole  float64            // variance of making each object stand for a whole number of them
}

func newSampleSum() *sampleSum {
	return &sampleSum{shapes: make(map[uint16]float64), missed: make(map[uint16]float64)}
}

func (s *sampleSum) add(group uint8, shape uint16, n, size float64) {
	s.groups[group] += n
	s.shapes[shape] += n
	s.whole += size * size / 6 // f(1-f) for an f between 0 and 1, on an average
}

func (s *sampleSum) join(other *sampleSum) {
	for g, n := range other.groups {
		s.groups[g] += n
	}
	s.whole += other.whole
	for shape, n := range other.shapes {
		s.shapes[shape] += n
	}
	for shape, n := range other.missed {
		s.missed[shape] += n
	}
}

// Spread is that of the paths that hold much and of types; nil where all objects were read.
func (a *Analysis) Spread() *Spread {
	if a.Objects.Thinned() == nil {
		return nil
	}
	s := &Spread{a: a, paths: make(map[uint32]*sampleSum), types: make(map[goheap.TypeRef]*sampleSum),
		shapes: make(map[uint16]*groupSums), missed: make(map[uint16]float64)}
	large := make([]*sampleSum, len(a.paths)) // of the nearest path above that holds much
	for i := 1; i < len(large); i++ {
		if p := &a.paths[i]; p.retains*partKept >= a.LiveSize {
			large[i] = newSampleSum()
			s.paths[uint32(i)] = large[i]
		} else {
			large[i] = large[p.parent]
		}
	}
	s.sum(large)
	for i := len(large) - 1; i > 0; i-- {
		if of, up := s.paths[uint32(i)], large[a.paths[i].parent]; of != nil && up != nil {
			up.join(of)
		}
	}
	return s
}

// sum adds up what can be reached.
func (s *Spread) sum(large []*sampleSum) {
	a, th := s.a, s.a.Objects.Thinned()
	size := a.Objects.SizeOf()
	for id := range uint32(a.Objects.Count) {
		if a.Objects.Stands(id) == 0 || a.tree.dominator(id) == none {
			continue
		}
		n, at, group, shape := size(id), *a.path(id), th.GroupOf(id), th.ShapeOf(id)
		if th.StandIn(id) {
			s.Rough += n
			s.missed[shape] += float64(n)
			if large[at] != nil {
				large[at].missed[shape] += float64(n)
			}
		}
		if group == goheap.Groups {
			continue
		}
		of, typ := s.shapes[shape], s.types[a.paths[at].typ]
		if of == nil {
			of = &groupSums{}
			s.shapes[shape] = of
		}
		if typ == nil {
			typ = newSampleSum()
			s.types[a.paths[at].typ] = typ
		}
		of[group] += float64(n)
		one := float64(a.Objects.Size(id))
		typ.add(group, shape, float64(n), one)
		if large[at] != nil {
			large[at].add(group, shape, float64(n), one)
		}
	}
}

// Paths is how far what paths retain may be off, by their text.
func (s *Spread) Paths() map[string]uint64 {
	all := make(map[string]uint64, len(s.paths))
	for at, of := range s.paths {
		all[s.a.Path(at)] = s.err(of)
	}
	return all
}

// Types is how far the bytes of types may be off, by their names.
func (s *Spread) Types() map[string]uint64 {
	all := make(map[string]uint64, len(s.types))
	for typ, of := range s.types {
		all[s.a.Objects.Types.Name(typ)] += s.err(of)
	}
	return all
}

// err is how far a sum may be off: twice its standard error, so that the truth lies within it
// nineteen times of twenty.
func (s *Spread) err(of *sampleSum) uint64 {
	residual, elsewhere := of.groups, 0.0 // what was missed of its shapes may be its own, too
	for shape, n := range of.shapes {
		all := s.shapes[shape]
		share := n / all.total()
		elsewhere += share * (s.missed[shape] - of.missed[shape])
		for g := range residual {
			residual[g] -= share * all[g]
		}
	}
	squares := 0.0 // their mean is 0
	for _, r := range residual {
		squares += r * r
	}
	return uint64(2*math.Sqrt(squares*goheap.Groups/(goheap.Groups-1)+of.whole) + elsewhere)
}
