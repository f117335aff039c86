package heapgraph

import (
	"cmp"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/goheap"
)

// Holder is where memory accumulates: a field of a variable, of what a goroutine's
// stack leads to.
type Holder struct {
	Path     string
	Type     string // of what lies there; "?" if that is not known
	Retained uint64 // bytes
	Objects  uint64 // that it retains
	at       uint32
}

const (
	// A part is told of where it is this share of what it is a part of, and of all.
	partOfWhole = 10 // of the one above, 1/10
	partOfAll   = 200
	// Parts stand for the whole where they make up this share of it.
	mostOf = 0.75
)

// Holders are the places where most of the heap accumulates, largest first. From
// every root it goes on to a field as long as the fields that it can name hold most
// of what their owner does.
func (a *Analysis) Holders() []Holder {
	children := make([][]uint32, len(a.paths))
	for i := 1; i < len(a.paths); i++ {
		if p := &a.paths[i]; p.retains*partOfAll >= a.LiveSize {
			children[p.parent] = append(children[p.parent], uint32(i))
		}
	}
	var all []Holder
	var descend func(at uint32)
	descend = func(at uint32) {
		whole, named := a.paths[at].retains, uint64(0)
		var parts []uint32
		for _, c := range children[at] {
			if n := a.paths[c].retains; n*partOfWhole >= whole || at == 0 {
				parts = append(parts, c)
				named += n
			}
		}
		if at != 0 && float64(named) < mostOf*float64(whole) {
			all = append(all, a.holder(at))
			return
		}
		for _, c := range parts {
			descend(c)
		}
	}
	descend(0)
	slices.SortStableFunc(all, func(x, y Holder) int { return cmp.Compare(y.Retained, x.Retained) })
	return all
}

func (a *Analysis) holder(at uint32) Holder {
	p := &a.paths[at]
	return Holder{Path: a.Path(at), Type: a.Objects.Types.Name(p.typ), Retained: p.retains, Objects: p.held, at: at}
}

// Path is a path's text: "main.cache.entries[].body".
func (a *Analysis) Path(at uint32) string {
	var parts []string
	for ; at != 0; at = a.paths[at].parent {
		p := &a.paths[at]
		label := a.Objects.Types.Label(p.label)
		if strings.HasSuffix(label, ": ") { // held from several places, none a root
			label += a.Objects.Types.Name(p.typ)
		}
		parts = append(parts, label)
	}
	slices.Reverse(parts)
	return strings.Join(parts, "")
}

// Root is what the root of a name, or all roots of it, retain: objects and bytes.
func (a *Analysis) Root(name string) (objects, bytes uint64) {
	for i := 1; i < len(a.paths); i++ {
		if p := &a.paths[i]; p.parent == 0 && a.Objects.Types.Label(p.label) == name {
			return p.held, p.retains
		}
	}
	return 0, 0
}

// PathOf is the path of an object, "" if it is not reachable.
func (a *Analysis) PathOf(object uint32) string {
	if a.tree.dominator(object) == none {
		return ""
	}
	return a.Path(*a.path(object))
}

// Retained is how many bytes an object keeps alive, itself included; 0 if it is not
// reachable.
func (a *Analysis) Retained(object uint32) uint64 {
	if a.tree.dominator(object) == none {
		return 0
	}
	i := a.tree.Number(object)
	if i == none {
		return a.Objects.Size(object) // a leaf
	}
	if p := &a.paths[a.pathOf[i]]; p.objects == 1 && !p.spills {
		return p.retains
	}
	return a.allRetained()[i]
}

// allRetained is what each node but the leaves retains, by number. Most answers are told
// by paths, without it.
func (a *Analysis) allRetained() []uint64 {
	if a.retained == nil {
		a.retained = a.tree.Retained(a.Objects.SizeOf())
	}
	return a.retained
}

// TypeUse is the reachable objects of one type.
type TypeUse struct {
	Type     string
	Objects  uint64
	Bytes    uint64
	Inferred uint64 // of these, whose type follows from what points there alone
}

// TypesByBytes are the types of reachable objects, largest first.
func (a *Analysis) TypesByBytes() []TypeUse {
	sums := make(map[goheap.TypeRef]*TypeUse)
	for i := 1; i < len(a.paths); i++ {
		p := &a.paths[i]
		if p.objects == 0 {
			continue
		}
		u := sums[p.typ]
		if u == nil {
			u = &TypeUse{Type: a.Objects.Types.Name(p.typ)}
			sums[p.typ] = u
		}
		u.Objects, u.Bytes = u.Objects+p.objects, u.Bytes+p.bytes
		if p.typ != 0 {
			u.Inferred += p.bytes - p.carried
		}
	}
	all := make([]TypeUse, 0, len(sums))
	for _, u := range sums {
		all = append(all, *u)
	}
	slices.SortFunc(all, func(x, y TypeUse) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.Type, y.Type))
	})
	return all
}

// Sampled passes the reachable objects of the heap profile to fn, each with the
// index of the holder that it belongs to, -1 for none.
func (a *Analysis) Sampled(holders []Holder, fn func(holder int, s goheap.Sample)) {
	of := make([]int32, len(a.paths))
	for i := range of {
		of[i] = -1
	}
	for i, h := range holders {
		of[h.at] = int32(i)
	}
	for i := 1; i < len(of); i++ {
		if of[i] < 0 {
			of[i] = of[a.paths[i].parent]
		}
	}
	for _, s := range a.Objects.Samples {
		if a.tree.dominator(s.Object) != none {
			fn(int(of[*a.path(s.Object)]), s)
		}
	}
}
