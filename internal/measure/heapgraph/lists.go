package heapgraph

import (
	"cmp"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/goheap"
)

// Lists are the linked lists of a heap, by the type of their elements: where some elements of each lie, in the order of the list.
// Those of an earlier capture tell what has left a list since (sample.HeapOwner.Taken).
type Lists map[string][]List

// List is one linked list. Its length is in elements.
type List struct {
	Length uint64
	at     []uint64 // addresses of elements, each so many behind the one before
	apart  uint64
}

const (
	minList       = 64      // elements that a list has at least
	mostListTypes = 8       // types whose lists are looked at
	mostLists     = 64      // of one type whose elements are known again
	mostElements  = 1 << 20 // elements of one type
	marksOfList   = 512     // elements whose addresses are kept
	probesOfLists = 1 << 16 // objects that are looked at to find which types are linked
)

// link is a field of a type that leads to another value of it, by its label.
type link struct {
	typ  goheap.TypeRef
	edge int32
}

// elements are the objects of a linked type that can be reached, in ascending order, and where each lies in which list.
type elements struct {
	ids      []uint32
	next     []uint32 // by place in ids; none: the last
	list, at []uint32 // by place in ids: its list, none: of no list; and how many come before it
	lists    [][]uint32
}

// listsOf finds the linked lists of a heap, and for each type how many elements have left one of them since an earlier
// capture, at least. A thinned graph has pieces of them only.
func (a *Analysis) listsOf(before Lists) (now Lists, taken map[goheap.TypeRef]uint64) {
	now, taken = make(Lists), make(map[goheap.TypeRef]uint64)
	if a.Objects.Thinned() != nil {
		return now, taken
	}
	of := make(map[goheap.TypeRef][]uint32)
	for _, l := range a.links() {
		name := a.Objects.Types.Name(l.typ)
		if now[name] != nil {
			continue // the way back
		}
		if _, known := of[l.typ]; !known {
			of[l.typ] = a.reachable(l.typ)
		}
		all := a.elementsOf(l, of[l.typ])
		if all == nil {
			continue
		}
		n := uint64(0)
		for _, old := range before[name] {
			n += a.leftSince(&old, l.typ, all)
		}
		if n > 0 && !a.isReferred(l.typ, all) {
			taken[l.typ] = n
		}
		slices.SortStableFunc(all.lists, func(x, y []uint32) int { return cmp.Compare(len(y), len(x)) })
		for _, one := range all.lists[:min(len(all.lists), mostLists)] {
			now[name] = append(now[name], a.marks(all, one))
		}
	}
	return now, taken
}

// links are the fields by which most objects are linked to one of their own type, as a part of all objects tells.
func (a *Analysis) links() (all []link) {
	o := a.Objects
	inner := uint32(o.Count - o.Leaves)
	step, found := max(1, inner/probesOfLists), make(map[link]uint32)
	for id := uint32(0); id < inner; id += step {
		typ := o.TypeOf(id)
		if typ == 0 || o.Types.IsArray(typ) || a.tree.dominator(id) == none {
			continue
		}
		for e, end := o.Pointers(id); e < end; e++ {
			if o.TypeOf(o.To[e]) == typ {
				found[link{typ, o.Edge(e)}] += step
			}
		}
	}
	for l, n := range found {
		if n >= minList && n <= mostElements {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(x, y link) int {
		return cmp.Or(cmp.Compare(found[y], found[x]), cmp.Compare(x.typ, y.typ), cmp.Compare(x.edge, y.edge))
	})
	return all[:min(len(all), mostListTypes)]
}

// reachable are the objects of a type that can be reached, in ascending order; nil where they are too many.
func (a *Analysis) reachable(typ goheap.TypeRef) (ids []uint32) {
	for id, inner := uint32(0), uint32(a.Objects.Count-a.Objects.Leaves); id < inner; id++ {
		if a.Objects.TypeOf(id) == typ && a.tree.dominator(id) != none {
			if ids = append(ids, id); len(ids) > mostElements {
				return nil
			}
		}
	}
	return ids
}

// elementsOf puts the objects of a type in the order of their lists; nil where most are in no long list, as those of a tree.
func (a *Analysis) elementsOf(l link, ids []uint32) *elements {
	o, all, n := a.Objects, &elements{ids: ids}, len(ids)
	if n < minList {
		return nil
	}
	all.next, all.list, all.at = make([]uint32, n), make([]uint32, n), make([]uint32, n)
	led := make([]bool, n)
	for k, id := range all.ids {
		all.next[k], all.list[k] = none, none
		for e, end := o.Pointers(id); e < end; e++ {
			if o.Edge(e) != l.edge || o.TypeOf(o.To[e]) != l.typ {
				continue
			}
			if to, ok := slices.BinarySearch(all.ids, o.To[e]); ok {
				all.next[k], led[to] = uint32(to), true
			}
		}
	}
	in := 0
	for k := range all.ids {
		if !led[k] {
			in += all.walk(uint32(k))
		}
	}
	if 2*in < n {
		return nil
	}
	return all
}

// walk follows a list from its first element on, and is its length, 0 where that is not long.
func (s *elements) walk(first uint32) int {
	var one []uint32
	for k := first; k != none && s.list[k] == none; k = s.next[k] {
		s.list[k], s.at[k] = uint32(len(s.lists)), uint32(len(one))
		one = append(one, k)
	}
	if len(one) < minList {
		for _, k := range one {
			s.list[k] = none
		}
		return 0
	}
	s.lists = append(s.lists, one)
	return len(one)
}

// marks are the addresses of some elements of a list.
func (a *Analysis) marks(all *elements, one []uint32) List {
	l := List{Length: uint64(len(one)), apart: uint64(max(1, len(one)/marksOfList))}
	for k := uint64(0); k < l.Length; k += l.apart {
		l.at = append(l.at, a.Objects.Address(all.ids[one[k]]))
	}
	return l
}

// leftSince is how many elements have left one end of a list since its marks were made, at least: those before the first, or
// behind the last, that is still there, with all others in the same order, while more came to the other end. Of a list whose
// order is another one, or that is all new, it is 0.
func (a *Analysis) leftSince(old *List, typ goheap.TypeRef, all *elements) uint64 {
	n := len(old.at)
	place := make([]uint32, n)
	for i, at := range old.at {
		place[i] = none
		if id, ok := a.Objects.At(at); ok && a.Objects.TypeOf(id) == typ {
			if k, ok := slices.BinarySearch(all.ids, id); ok && all.list[k] != none {
				place[i] = uint32(k)
			}
		}
	}
	if left := all.endLeft(place, old.apart, all.behindFirst); left > 0 {
		return left
	}
	slices.Reverse(place)
	return all.endLeft(place, old.apart, all.beforeLast)
}

// behindFirst is how many elements come before one in its list.
func (s *elements) behindFirst(k uint32) int { return int(s.at[k]) }

// beforeLast is how many come after it.
func (s *elements) beforeLast(k uint32) int { return len(s.lists[s.list[k]]) - 1 - int(s.at[k]) }

// endLeft is how many elements came before the first of those that are still there, by the places of marks so many elements
// apart, and by how far each lies from that end of its list now. 0: none has left, or more came to that end, or none to the other.
func (s *elements) endLeft(place []uint32, apart uint64, from func(k uint32) int) uint64 {
	first := len(place)
	for i := len(place) - 1; i >= 0; i-- {
		k := place[i]
		if k == none || i+1 < len(place) && (s.list[k] != s.list[place[i+1]] || from(k) >= from(place[i+1])) {
			break
		}
		first = i
	}
	if first == 0 || len(place)-first < max(2, len(place)/8) {
		return 0
	}
	begin, end := place[first], place[len(place)-1]
	if uint64(from(begin)) > apart || from(end) == len(s.lists[s.list[end]])-1 {
		return 0
	}
	return uint64(first-1)*apart + 1
}

// isReferred reports whether something else leads to most elements, as a map does to those of a cache.
func (a *Analysis) isReferred(typ goheap.TypeRef, all *elements) bool {
	o, n := a.Objects, 0
	for id, inner := uint32(0), uint32(o.Count-o.Leaves); id < inner; id++ {
		if o.TypeOf(id) == typ || a.tree.dominator(id) == none {
			continue
		}
		for e, end := o.Pointers(id); e < end; e++ {
			if o.TypeOf(o.To[e]) == typ {
				n++
			}
		}
	}
	return 2*n >= len(all.ids)
}
