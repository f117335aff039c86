package heapgraph

import "strings"

// askedOfSeveral is how many objects of a path that several places lead to are asked who they are.
const askedOfSeveral = 64

// ofSeveral is the owner of what leads to most objects of a path to which several places lead, "(*store).log and others"; "" where none
// leads to more than half of them.
func (n *owners) ofSeveral(at uint32) string {
	a := n.a
	p := &a.paths[at]
	if !n.isOfSeveral(at) || p.objects < 2 || p.retains*referredOf < a.LiveSize {
		return ""
	}
	asked, all := n.askedOn(at)
	from := make(map[uint32]map[uint32]bool) // the objects asked of that each path leads to
	for i := 1; i < len(a.tree.Node); i++ {
		id := a.tree.Node[i]
		if id >= uint32(a.Objects.Count) {
			continue
		}
		for e, end := a.Objects.Pointers(id); e < end; e++ {
			if to := a.Objects.To[e]; asked[to/64]>>(to%64)&1 != 0 {
				if from[a.pathOf[i]] == nil {
					from[a.pathOf[i]] = make(map[uint32]bool)
				}
				from[a.pathOf[i]][to] = true
			}
		}
	}
	best, most := "", all/2
	led := make(map[string]map[uint32]bool) // the same by owner, as one has several paths
	for path, objects := range from {
		if way := n.way(path); len(way) == 0 || n.isOfSeveral(way[0]) {
			continue
		}
		name := n.of(path).Name
		if led[name] == nil {
			led[name] = make(map[uint32]bool)
		}
		for id := range objects {
			led[name][id] = true
		}
	}
	for name, objects := range led {
		if len(objects) > most || len(objects) == most && best != "" && name < best {
			best, most = name, len(objects)
		}
	}
	if best == "" {
		return ""
	}
	return best + " and others"
}

// isOfSeveral says whether a path begins with what several places lead to, none of them a root.
func (n *owners) isOfSeveral(at uint32) bool {
	return n.a.paths[at].parent == 0 && strings.HasPrefix(n.a.Objects.Types.Label(n.a.paths[at].label), "several places: ")
}

// askedOn are some objects of a path, a bit each, and how many.
func (n *owners) askedOn(at uint32) (asked []uint64, all int) {
	a := n.a
	asked = make([]uint64, a.Objects.Count/64+1)
	seen, step := uint64(0), max(1, a.paths[at].objects/askedOfSeveral)
	ask := func(id uint32) {
		if seen%step == 0 {
			asked[id/64] |= 1 << (id % 64)
			all++
		}
		seen++
	}
	for i, path := range a.pathOf {
		if path == at && i > 0 && a.tree.Node[i] < uint32(a.Objects.Count) {
			ask(a.tree.Node[i])
		}
	}
	for leaf, path := range a.leafPath {
		if path == at {
			ask(uint32(a.Objects.Count-a.Objects.Leaves) + uint32(leaf))
		}
	}
	return asked, all
}
