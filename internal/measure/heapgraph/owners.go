package heapgraph

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/goheap"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// owners names holders as whoever wrote the program would: by the field of their own
// type, or the variable, through which everything that a holder has is reached.
type owners struct {
	a        *Analysis
	children [][]uint32 // of paths, those that hold something
	listed   map[uint32]listed
	taken    map[uint32]uint64            // of the arrays on one path
	left     map[goheap.TypeRef]uint64    // of linked lists, by the type of their elements
	several  map[uint32]*sample.HeapOwner // who leads to paths that several places lead to; nil: nobody has asked
	roots    map[string]*sample.HeapRoot
}

// listed is the maps and channels on one path.
type listed struct{ count, entries, room uint64 }

func (a *Analysis) owners() *owners {
	n := &owners{a: a, children: make([][]uint32, len(a.paths)), listed: make(map[uint32]listed), taken: make(map[uint32]uint64), roots: a.rootsByName()}
	for i := 1; i < len(a.paths); i++ {
		if p := &a.paths[i]; p.parent != 0 {
			n.children[p.parent] = append(n.children[p.parent], uint32(i))
		}
	}
	for _, c := range a.Objects.Collections {
		if c.Kind != "map" && c.Kind != "channel" || a.tree.dominator(c.Object) == none {
			continue
		}
		at := *a.path(c.Object)
		l := n.listed[at]
		n.listed[at] = listed{l.count + 1, l.entries + c.Len, l.room + c.Cap}
	}
	for id, taken := range a.Objects.Taken {
		if a.tree.dominator(id) != none {
			n.taken[*a.path(id)] += a.Objects.Stands(id) * taken
		}
	}
	return n
}

// naming is a name by which what lies on a path may be called.
type naming struct {
	at    uint32 // the path that the place leads to
	place goheap.Place
	name  string // instead of a field: a variable
	owner goheap.PackageKind
}

// of is the owner of what a path holds; nil where nothing has a name.
func (n *owners) of(at uint32) *sample.HeapOwner {
	way := n.way(at)
	box, ratio := n.container(way)
	if n.isOfSeveral(way[0]) && float64(n.a.paths[way[0]].objects) > ratio {
		if o := n.ofSeveral(way[0]); o != nil {
			own := *o
			return &own
		}
	}
	return n.owner(way, box)
}

// at is the owner of what lies right on a path.
func (n *owners) at(at uint32) *sample.HeapOwner {
	way := n.way(at)
	return n.owner(way, len(way)-1)
}

// owner is the one of what lies at a box on the way.
func (n *owners) owner(way []uint32, box int) *sample.HeapOwner {
	o := &sample.HeapOwner{}
	n.begin(o, way, box)
	if o.Kind == "goroutine" {
		return o
	}
	best, at := naming{}, way[box]
	for _, l := range n.levels(way[:n.last(way, box)+1]) {
		if best.at == 0 || l.owner <= best.owner {
			best = l
		}
	}
	if best.at == 0 || best.owner != goheap.PackageOwn {
		best = cmp.Or(n.referrer(n.reached(way)), best)
	}
	if box < len(way)-1 && best.at != 0 && n.isBehind(best.at, way[box]) {
		at = best.at
	}
	n.call(o, best, way, box)
	n.count(o, best, way, box, at)
	if left := max(n.leftOn(at), n.leftOn(way[box])); o.Kind == "" && left > 0 {
		o.Kind, o.Taken = "list", left
	}
	return o
}

// leftOn is how many elements have left the linked lists on a path, or right below it, since the capture before.
func (n *owners) leftOn(at uint32) uint64 {
	left := n.left[n.a.paths[at].typ]
	for _, c := range n.children[at] {
		left = max(left, n.left[n.a.paths[c].typ])
	}
	return left
}

// count says what kind of collection lies at the box, or on the path behind it, and how
// much is in there. What the name leads to may be a library's value with the box in it.
func (n *owners) count(o *sample.HeapOwner, best naming, way []uint32, box int, at uint32) {
	n.fill(o, at, n.ownersOn(way[box]))
	if c := n.ownersOn(way[box]); c > 1 && n.a.paths[way[box]].typ != 0 {
		o.Count = c
	}
	i := slices.Index(way, best.at)
	if above := i >= 0 && (o.Kind != "" && isValue(best.place.Type) || i < box-1 || i == box-1 && n.a.Objects.Types.IsNamed(n.a.paths[best.at].typ)); above {
		o.Kind, o.Count, o.Room = "", 0, 0
		if i == 0 {
			i++ // the object that a variable is
		}
		o.Entries = n.inLibrary(way[i:])
	} else if o.Kind == "" && o.Entries > 0 && i >= 0 {
		o.Entries = max(o.Entries, n.inLibrary(way[box:]))
	}
}

// reached is the first on a way that roots lead to: the object that several do, or the one that a goroutine's stack does.
func (n *owners) reached(way []uint32) uint32 {
	if p := &n.a.paths[way[0]]; len(way) > 1 && p.sample >= uint32(n.a.Objects.Count) && n.root(p.sample).Kind == goheap.RootGoroutine {
		return way[1]
	}
	return way[0]
}

// referrer is a field of a type of the program's own that leads to what roots hold besides; none where nothing of the
// program's own leads there.
func (n *owners) referrer(at uint32) naming {
	a := n.a
	p := &a.paths[at]
	if p.sample >= uint32(a.Objects.Count) || p.objects != 1 && n.heads(at) != 1 || p.retains*referredOf < a.LiveSize {
		return naming{}
	}
	types := a.Objects.Types
	for i := 1; i < len(a.tree.Node); i++ {
		from := a.tree.Node[i]
		if from >= uint32(a.Objects.Count) {
			continue
		}
		typ := a.Objects.TypeOf(from)
		if !types.IsNamed(typ) || types.OwnerOf(types.Package(typ)+".") != goheap.PackageOwn {
			continue
		}
		for e, end := a.Objects.Pointers(from); e < end; e++ {
			if places := types.PlacesOf(typ, a.Objects.Edge(e)); a.Objects.To[e] == p.sample && len(places) > 0 {
				return naming{at: at, place: places[0], owner: goheap.PackageOwn}
			}
		}
	}
	return naming{}
}

// referredOf is the share of the heap from which on a referrer is looked for.
const referredOf = 20

// last is the last of a way that may give a name: of a struct that leads to many things
// the field that does.
func (n *owners) last(way []uint32, box int) int {
	p := &n.a.paths[way[box]]
	types := n.a.Objects.Types
	if isStruct := p.sample < uint32(n.a.Objects.Count) && types.PartOf(p.typ) == goheap.PartValue && !types.IsArray(p.typ); isStruct && box+1 < len(way) {
		return box + 1
	}
	return box
}

// isBehind says whether a path is a part right below another.
func (n *owners) isBehind(at, above uint32) bool { return n.a.paths[at].parent == above }

// way is the paths from a root to one.
func (n *owners) way(at uint32) (way []uint32) {
	for ; at != 0; at = n.a.paths[at].parent {
		way = append([]uint32{at}, way...)
	}
	return way
}

// container is where on the way one thing leads to many: the index of the path whose
// objects those are held by, and how many for each. Of a way on which nothing becomes many it is the last one.
func (n *owners) container(way []uint32) (index int, ratio float64) {
	a := n.a
	best, most := len(way)-1, 1.0
	for i, at := range way {
		if a.Objects.Types.PartOf(a.paths[at].typ) == goheap.PartInside {
			continue
		}
		parts := n.below(at, way[i+1:])
		if ratio := float64(parts) / float64(max(n.ownersOn(at), 1)); ratio > most*2 {
			best, most = i, ratio
		}
	}
	return best, most
}

// ownersOn is how many objects lie on a path; of a root one.
func (n *owners) ownersOn(at uint32) uint64 {
	p := &n.a.paths[at]
	if p.parent == 0 && p.sample >= uint32(n.a.Objects.Count) {
		return 1
	}
	return p.objects
}

// below is how many objects lie right below a path, where what the runtime keeps behind
// a map is a part of the map: on the way, or where that ends there, on the largest path.
func (n *owners) below(at uint32, way []uint32) (most uint64) {
	if l, ok := n.listed[at]; ok {
		most = l.entries
	}
	a := n.a
	for _, next := range way {
		if a.Objects.Types.PartOf(a.paths[next].typ) != goheap.PartInside {
			return max(most, a.paths[next].objects)
		}
		at = next
	}
	joined := n.joined(at)
	for _, c := range n.children[at] {
		if a.Objects.Types.PartOf(a.paths[c].typ) == goheap.PartInside {
			most = max(most, n.below(c, nil))
		} else if joined != 0 && c != joined && a.paths[c].typ == a.paths[joined].typ {
			continue // the first and the last of a list, which is counted as one
		} else if c == joined {
			most = max(most, n.ofType(at, a.paths[c].typ))
		} else if a.Objects.Types.OfInterfaces(a.paths[at].typ) {
			if a.Objects.Types.Label(a.paths[c].label) != joinedLabel {
				most += a.paths[c].objects
			}
		} else {
			most = max(most, a.paths[c].objects)
		}
	}
	return most
}

// largePart is from what size on things in a library's value are taken for parts of it,
// shards, and not for what was put there.
const largePart = 64 << 10

// inLibrary is how many things a value of a library's type has: as many as lie at most on
// one path from there to the first objects of the program's own types. 0: not known, as
// some on the way have no type or are large.
func (n *owners) inLibrary(way []uint32) (most uint64) {
	types := n.a.Objects.Types
	for i, at := range way {
		p := &n.a.paths[at]
		if i == 0 || types.PartOf(p.typ) == goheap.PartInside {
			continue
		}
		if p.typ == 0 {
			return 0
		}
		most = max(most, p.objects)
		if types.IsNamed(p.typ) && types.OwnerOf(types.Package(p.typ)+".") == goheap.PackageOwn {
			break
		}
	}
	if len(way) == 0 || most <= 1 || n.a.paths[way[0]].retains/most > largePart {
		return 0
	}
	return most
}

// joined is the path right below one to which several fields of it lead, 0: there is none.
func (n *owners) joined(at uint32) uint32 {
	for _, c := range n.children[at] {
		if p := &n.a.paths[c]; p.typ != 0 && n.a.Objects.Types.Label(p.label) == joinedLabel {
			return c
		}
	}
	return 0
}

// ofType is how many objects of a type lie right below a path.
func (n *owners) ofType(at uint32, typ goheap.TypeRef) (sum uint64) {
	for _, c := range n.children[at] {
		if n.a.paths[c].typ == typ {
			sum += n.a.paths[c].objects
		}
	}
	return sum
}

// levels are the names on a way, outermost first.
func (n *owners) levels(way []uint32) (all []naming) {
	a := n.a
	types := a.Objects.Types
	for i, at := range way {
		p := &a.paths[at]
		if p.sample >= uint32(a.Objects.Count) {
			if r := n.root(p.sample); r.Kind == goheap.RootVariable && n.a.rootKind(int(p.sample)-a.Objects.Count) == sample.RootGlobal {
				name, user := variableName(r.Name)
				all = append(all, naming{at: at, name: name, owner: types.OwnerOf(user), place: goheap.Place{Type: types.Name(r.RootType())}})
			}
			continue
		}
		if name, _, ok := strings.Cut(types.Label(p.label), " and others"); i == 0 && ok && n.roots[name] != nil && n.roots[name].Kind == sample.RootGlobal {
			called, user := variableName(name)
			all = append(all, naming{at: at, name: called, owner: types.OwnerOf(user), place: goheap.Place{Type: pointerTo(types.Name(p.typ))}})
		}
		if i > 0 {
			places, to := n.places(at)
			for _, place := range places {
				if !isRuntime(place.Package) {
					all = append(all, naming{at: to, place: place, owner: types.OwnerOf(place.Package + ".")})
				}
			}
		}
	}
	return all
}

func (n *owners) root(node uint32) *goheap.Root {
	return &n.a.Objects.Roots[node-uint32(n.a.Objects.Count)]
}

// places are the structs that lead to a path from the one above it. What several fields of
// one object lead to is told by the largest map or slice among them.
func (n *owners) places(at uint32) (all []goheap.Place, to uint32) {
	a := n.a
	p := &a.paths[at]
	if all := n.fieldsTo(at); len(all) > 0 {
		return all, at
	}
	if a.Objects.Types.Label(p.label) != joinedLabel {
		return nil, 0
	}
	best, most := uint32(0), uint64(0)
	for _, c := range n.children[p.parent] {
		if part := a.Objects.Types.PartOf(a.paths[c].typ); c != at && (part == goheap.PartMap || a.Objects.Types.IsArray(a.paths[c].typ)) &&
			a.paths[c].retains > most {
			best, most = c, a.paths[c].retains
		}
	}
	if best == 0 {
		return nil, 0
	}
	return n.fieldsTo(best), best
}

// fieldsTo are the structs whose field leads to a path.
func (n *owners) fieldsTo(at uint32) []goheap.Place {
	a := n.a
	p := &a.paths[at]
	up := &a.paths[p.parent]
	typ := up.typ
	if up.sample >= uint32(a.Objects.Count) {
		typ = n.root(up.sample).RootType()
	}
	return a.Objects.Types.PlacesOf(typ, p.label)
}

// fill says what kind of collection lies on a path, and how much is in all that so many
// owners have.
func (n *owners) fill(o *sample.HeapOwner, at uint32, owners uint64) {
	a := n.a
	p := &a.paths[at]
	switch types := a.Objects.Types; {
	case p.sample >= uint32(a.Objects.Count):
	case types.PartOf(p.typ) == goheap.PartMap:
		o.Kind = "map"
	case types.PartOf(p.typ) == goheap.PartChannel:
		o.Kind = "channel"
	case types.IsArray(p.typ):
		o.Kind, o.Taken = "slice", n.taken[at]
	}
	if l, ok := n.listed[at]; ok {
		o.Entries, o.Room = l.entries, l.room
		if o.Kind == "map" {
			o.Room = 0
		}
		return
	}
	if p.typ == 0 && (p.sample < uint32(a.Objects.Count) || n.isUnknown(at)) {
		return
	}
	if parts := n.below(at, nil); parts > max(n.ownersOn(at), 1) {
		o.Entries = parts
	} else if on := n.ownersOn(at); on > max(owners, 1) { // of a list that holds itself
		o.Entries = on
	}
}

// mainPackage is package main's part of names, which its own source never writes.
var mainPackage = regexp.MustCompile(`\bmain\.`)

// runtimeType is types that no source but the runtime's writes.
var runtimeType = regexp.MustCompile(`^(\[\])?\*?(maps\.(table|Map|group)|runtime\.\w+)$`)
