package heapgraph

import (
	"maps"
	"strings"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// askedOfSeveral is how many objects of a path that several places lead to are asked who they are.
const askedOfSeveral = 64

// ofSeveral is the owner of what leads to most objects of a path to which several places lead, "(*store).log and others"; nil where
// none leads to more than half of them. All such paths are looked at in one pass, the first time that one is asked for.
func (n *owners) ofSeveral(at uint32) *sample.HeapOwner {
	if n.several == nil && n.isAsked(at) {
		n.several = n.nameSeveral()
	}
	return n.several[at]
}

// referrers are some objects of a path, and which of them each other path leads to.
type referrers struct {
	asked int
	from  map[uint32]map[uint32]bool
}

func (n *owners) nameSeveral() map[uint32]*sample.HeapOwner {
	a := n.a
	asked, of := n.ask()
	for i := 1; i < len(a.tree.Node); i++ {
		id := a.tree.Node[i]
		if id >= uint32(a.Objects.Count) {
			continue
		}
		for e, end := a.Objects.Pointers(id); e < end; e++ {
			if to := a.Objects.To[e]; asked[to/64]>>(to%64)&1 != 0 {
				from := of[*a.path(to)].from
				if from[a.pathOf[i]] == nil {
					from[a.pathOf[i]] = make(map[uint32]bool)
				}
				from[a.pathOf[i]][to] = true
			}
		}
	}
	n.several = make(map[uint32]*sample.HeapOwner) // nobody is to ask again while they are named
	for at, r := range of {
		if o := n.mostOf(r); o != nil {
			o.Name += " and others"
			n.several[at] = o
		}
	}
	return n.several
}

// mostOf is the owner that leads to most of the objects asked, nil where none leads to more than half of them.
func (n *owners) mostOf(r *referrers) (best *sample.HeapOwner) {
	led := make(map[string]map[uint32]bool) // by owner, as one has several paths
	by := make(map[string]*sample.HeapOwner)
	for path, objects := range r.from {
		if way := n.way(path); len(way) == 0 || n.isOfSeveral(way[0]) {
			continue
		}
		owner := *n.of(path)
		name := owner.Name
		if first := by[name]; first == nil || owner.Entries > first.Entries {
			by[name] = &owner
		}
		if led[name] == nil {
			led[name] = make(map[uint32]bool)
		}
		maps.Copy(led[name], objects)
	}
	most := r.asked / 2
	for name, objects := range led {
		if len(objects) > most || len(objects) == most && best != nil && name < best.Name {
			best, most = by[name], len(objects)
		}
	}
	return best
}

// isOfSeveral says whether a path begins with what several places lead to, none of them a root.
func (n *owners) isOfSeveral(at uint32) bool {
	return n.a.paths[at].parent == 0 && strings.HasPrefix(n.a.Objects.Types.Label(n.a.paths[at].label), "several places: ")
}

// isAsked says whether the objects of such a path are many, and enough of the heap.
func (n *owners) isAsked(at uint32) bool {
	p := &n.a.paths[at]
	return n.isOfSeveral(at) && p.objects > 1 && p.retains*referredOf >= n.a.LiveSize
}

// ask picks some objects of each such path, a bit each.
func (n *owners) ask() (asked []uint64, of map[uint32]*referrers) {
	a := n.a
	asked, of = make([]uint64, a.Objects.Count/64+1), make(map[uint32]*referrers)
	for at := uint32(1); int(at) < len(a.paths); at++ {
		if n.isAsked(at) {
			of[at] = &referrers{from: make(map[uint32]map[uint32]bool)}
		}
	}
	seen := make(map[uint32]uint64)
	ask := func(id, at uint32) {
		r := of[at]
		if r == nil {
			return
		}
		if seen[at]%max(1, a.paths[at].objects/askedOfSeveral) == 0 {
			asked[id/64] |= 1 << (id % 64)
			r.asked++
		}
		seen[at]++
	}
	for i := 1; i < len(a.pathOf); i++ {
		if id := a.tree.Node[i]; id < uint32(a.Objects.Count) {
			ask(id, a.pathOf[i])
		}
	}
	for leaf, at := range a.leafPath {
		ask(uint32(a.Objects.Count-a.Objects.Leaves)+uint32(leaf), at)
	}
	return asked, of
}
