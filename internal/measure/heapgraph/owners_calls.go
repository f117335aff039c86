package heapgraph

import (
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/goheap"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// begin says what the way begins with; of goroutines that are many, and hold one thing
// each, that is all.
func (n *owners) begin(o *sample.HeapOwner, way []uint32, box int) {
	a := n.a
	first := &a.paths[way[0]]
	label := a.Objects.Types.Label(first.label)
	name, _, _ := strings.Cut(label, " and others")
	r := n.roots[name]
	switch {
	case r == nil:
		return
	case r.Kind != sample.RootGoroutine:
		called, _ := variableName(name)
		switch o.Root = shortName(called); r.Kind {
		case sample.RootTimer:
			o.Root = "timers that have not fired"
		case sample.RootSpecial:
			o.Root = "a finalizer or cleanup"
		}
		return
	}
	function := r.Func
	if len(way) > 1 {
		if in, ok := strings.CutPrefix(a.Objects.Types.Label(a.paths[way[1]].label), " in "); ok && in != sample.WholeStack && !strings.HasPrefix(in, "its ") {
			function = in
		}
	}
	o.Root = "a local variable of " + shortName(function)
	switch {
	case box > 0 || n.isChannel(way[0]) || n.isShared(way[0], r.Count):
	case r.Count > 1:
		o.Name, o.Kind, o.Count, o.Root = "the stacks of "+shortName(function), "goroutine", uint64(r.Count), ""
	case len(way) == 1:
		o.Name, o.Kind, o.Root = "the stack of "+shortName(function), "goroutine", ""
	}
}

// isShared says whether goroutines have the same few things in hand, and not one each: what they share may have a name
// of its own then, as a map has that two calls are at when the program is stopped. What has no type has none.
func (n *owners) isShared(at uint32, goroutines int) bool {
	heads := n.heads(at)
	return n.a.paths[at].typ != 0 && heads > 0 && heads*2 <= goroutines
}

// heads is how many objects of a path roots lead to right away, 0 where one root leads to all.
func (n *owners) heads(at uint32) (most int) {
	for _, count := range n.a.sharers[at] {
		most = max(most, count)
	}
	return most
}

// isChannel says whether channels lie on a path: what several goroutines have in hand is named after it.
func (n *owners) isChannel(at uint32) bool {
	p := &n.a.paths[at]
	return p.sample < uint32(n.a.Objects.Count) && n.a.Objects.Types.PartOf(p.typ) == goheap.PartChannel
}

// call gives the owner its name.
func (n *owners) call(o *sample.HeapOwner, l naming, way []uint32, box int) {
	types := n.a.Objects.Types
	at := &n.a.paths[way[box]]
	switch {
	case l.at == 0, n.isCaptured(way[:box+1], l.at):
		n.callByType(o, way, box)
		return
	case l.name != "":
		o.Name, o.Root = shortName(l.name), ""
	default:
		o.Name = "(*" + shortType(l.place.Struct) + ")." + l.place.Field
	}
	if o.Type = shortType(l.place.Type); o.Type == "?" || isInterface(o.Type) {
		o.Type = ""
		if t := types.Name(n.a.paths[l.at].typ); l.at == way[box] && at.sample < uint32(n.a.Objects.Count) && t != "?" {
			o.Type = pointerTo(shortType(t))
		} else if next := n.after(way, l.at); next != 0 {
			if t := types.Name(n.a.paths[next].typ); t != "?" {
				o.Type = pointerTo(shortType(t))
			}
		}
	}
	n.via(o, way, box)
}

// isCaptured says whether a closure lies on the way behind a path: what it captured is not
// what the path is called.
func (n *owners) isCaptured(way []uint32, after uint32) bool {
	for _, at := range slices.Backward(way) {
		if at == after {
			return false
		}
		if typ := n.a.paths[at].typ; n.a.Objects.Types.PartOf(typ) == goheap.PartClosure && n.a.ownFunction(typ) != "" {
			return true
		}
	}
	return false
}

// ownFunction is the function of a closure if it is the program's own.
func (a *Analysis) ownFunction(typ goheap.TypeRef) string {
	types := a.Objects.Types
	name := strings.TrimSuffix(strings.TrimPrefix(types.Name(typ), "func "), "-fm")
	if name == "" || types.OwnerOf(name) != goheap.PackageOwn {
		return ""
	}
	return shortName(name)
}

// after is the path behind one on the way, 0 if there is none.
func (n *owners) after(way []uint32, at uint32) uint32 {
	for i, p := range way[:len(way)-1] {
		if p == at {
			return way[i+1]
		}
	}
	return 0
}

// callByType names what no field and no variable of a name leads to.
func (n *owners) callByType(o *sample.HeapOwner, way []uint32, box int) {
	n.via(o, way, box)
	if t := n.a.Objects.Types.Name(n.a.paths[way[box]].typ); t != "?" {
		o.Type = shortType(t)
	}
	if box == 0 && len(way) > 1 && o.Type == "" { // it lies on the stack itself
		o.Type = shortType(n.a.Objects.Types.Name(n.a.paths[way[1]].typ))
		if n.a.Objects.Types.PartOf(n.a.paths[way[1]].typ) == goheap.PartInside {
			o.Kind = "map"
		}
		if o.Type == "?" {
			o.Type = ""
		}
	}
	switch {
	case o.Via != "":
		o.Name, o.Via = "a variable that "+o.Via+" captured", ""
	case o.Root != "" && o.Name == "":
		o.Name, o.Root = o.Root, ""
	case o.Name == "":
		o.Name = "several variables"
		if by := n.ofSeveral(way[0]); by != nil {
			o.Name = by.Name
		}
	}
}

// via notes the last function whose closure leads to what lies at the box.
func (n *owners) via(o *sample.HeapOwner, way []uint32, box int) {
	for _, at := range way[:box+1] {
		if typ := n.a.paths[at].typ; n.a.Objects.Types.PartOf(typ) == goheap.PartClosure {
			if name := n.a.ownFunction(typ); name != "" {
				o.Via = name
			}
		}
	}
}
