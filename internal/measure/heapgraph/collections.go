package heapgraph

import (
	"cmp"
	"slices"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// largeSlice is from how many values on a slice is listed that keeps nothing out of reach.
const largeSlice = 1 << 10

// collections sums the collections by path, whatever leads there: of a thousand short
// strings that each keep a page there is one row. Those that keep most come first, with
// their owners' names.
func (a *Analysis) collections(owners *owners) []sample.HeapCollection {
	sums := make(map[collectionKey]*sample.HeapCollection)
	for _, c := range a.Objects.Collections {
		if a.tree.dominator(c.Object) == none {
			continue
		}
		key := collectionKey{*a.path(c.Object), c.Kind}
		s := sums[key]
		if s == nil {
			s = &sample.HeapCollection{Kind: c.Kind, Type: a.Objects.Types.Name(a.Objects.TypeOf(c.Object))}
			sums[key] = s
		}
		n := a.Objects.Stands(c.Object)
		s.Count, s.Entries, s.Room = s.Count+n, s.Entries+n*c.Len, s.Room+n*c.Cap
		bytes, reached := n*c.Bytes, n*c.Reached
		if bytes == 0 { // a header: what counts is what it holds
			bytes = a.Retained(c.Object)
			reached = bytes
		}
		s.Bytes, s.Reached = s.Bytes+sample.Bytes(bytes), s.Reached+sample.Bytes(reached)
	}
	a.largeSlices(sums, owners)
	return a.rowsOf(sums, owners)
}

// collectionKey is what one row is about.
type collectionKey struct {
	at   uint32 // path
	kind string
}

// largeSlices adds the slices that lead to many objects.
func (a *Analysis) largeSlices(sums map[collectionKey]*sample.HeapCollection, owners *owners) {
	for i := uint32(1); int(i) < len(a.paths); i++ {
		p := &a.paths[i]
		key := collectionKey{i, "slice"}
		if sums[key] != nil || p.sample >= uint32(a.Objects.Count) || !a.Objects.Types.IsArray(p.typ) || p.retains*partKept < a.LiveSize {
			continue
		}
		if n := owners.below(i, nil); n >= largeSlice {
			sums[key] = &sample.HeapCollection{Kind: "slice", Type: a.Objects.Types.Name(p.typ), Count: p.objects, Entries: n, Room: n,
				Bytes: sample.Bytes(p.retains), Reached: sample.Bytes(p.retains)}
		}
	}
}

// rowsOf are the rows that keep most, largest first. A map that is reached as a variable and as
// what the variable points to has one: the larger.
func (a *Analysis) rowsOf(sums map[collectionKey]*sample.HeapCollection, owners *owners) []sample.HeapCollection {
	keys := make([]collectionKey, 0, len(sums))
	for key := range sums {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(x, y collectionKey) int {
		return cmp.Or(cmp.Compare(sums[y].Bytes, sums[x].Bytes), cmp.Compare(x.at, y.at), cmp.Compare(x.kind, y.kind))
	})
	type shown struct {
		path, kind    string
		entries, room uint64
	}
	seen := make(map[shown]bool)
	all := make([]sample.HeapCollection, 0, min(len(keys), mostRows))
	for _, key := range keys {
		row := sums[key]
		row.Path = a.Path(key.at)
		same := shown{row.Path, row.Kind, uint64(row.Entries), uint64(row.Room)}
		if seen[same] {
			continue
		}
		if len(all) == mostRows {
			break
		}
		seen[same] = true
		if o := owners.at(key.at); o != nil {
			row.Name = o.Name
		}
		all = append(all, *row)
	}
	return all
}
