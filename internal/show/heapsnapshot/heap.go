package heapsnapshot

import (
	"fmt"
	"strings"

	"github.com/highwater-go/highwater/internal/measure/heapgraph"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// OfHeap is an analysed heap. What was folded, and how much, f says.
func OfHeap(f *heapgraph.Folded) *Graph {
	g := &Graph{}
	numbers := make([]int, len(f.Parts))
	for i := range f.Parts {
		switch p := &f.Parts[i]; {
		case p.Node == heapgraph.PartRoots:
			numbers[i] = g.Add(Root, "", 1, 0)
		case p.Node == heapgraph.PartFolded:
			numbers[i] = g.Add(Object, foldedName(f, p), 0, p.Bytes)
		case f.Root(p):
			numbers[i] = g.Add(Place, f.Name(p), 0, 0)
		default:
			numbers[i] = g.Add(Object, f.Name(p), idOf(f, p), p.Bytes)
		}
	}
	places := 0
	f.Pointers(func(p heapgraph.PartPointer) {
		from, to := numbers[p.From], numbers[p.To]
		switch part := &f.Parts[p.To]; {
		case part.Node == heapgraph.PartFolded && p.From == part.Holder:
			g.Point(from, to, fmt.Sprintf("(%d folded)", max(part.Objects, 1)), false)
		case p.From == 0:
			places++
			g.Index(from, to, places)
		default:
			g.Point(from, to, fieldName(f.Label(p)), p.Weak)
		}
	})
	return g
}

// idOf makes an even id of an object's address: Go does not move objects, so that it
// has the same in the next snapshot of the process, and the two can be compared. 0
// where 16 GiB of addresses are not enough.
func idOf(f *heapgraph.Folded, p *heapgraph.Part) uint32 {
	const word = 8
	if n := f.Address(p) / word * 2; n < mostSize-2 {
		return uint32(n) + 2
	}
	return 0
}

// foldedName is what several objects are called; none are variables without objects.
func foldedName(f *heapgraph.Folded, p *heapgraph.Part) string {
	if p.Objects == 0 {
		return "(smaller variables)"
	}
	return f.Name(p) + " (folded)"
}

// fieldName is a label as a reader of snapshots names what a pointer lies in: it puts
// the dot before fields itself.
func fieldName(label string) string {
	name := strings.TrimSpace(strings.TrimPrefix(label, "."))
	if name == "" {
		return "(folded)"
	}
	return name
}

// OfCapture is what a recording keeps of a heap: a node stands for all objects on a
// path, and has what they and what they hold off all other paths take.
func OfCapture(c *sample.HeapCapture) *Graph {
	g := &Graph{}
	root := g.Add(Root, "", 1, 0)
	own := ownBytes(c)
	numbers := make([]int, len(c.Paths))
	for i := range c.Paths {
		p := &c.Paths[i]
		if p.Parent < 0 || p.Parent >= i {
			numbers[i] = g.Add(Place, p.Label, 0, own[i])
			g.Index(root, numbers[i], i+1)
			continue
		}
		numbers[i] = g.Add(Object, p.Type, 0, own[i])
		name := fieldName(p.Label)
		if p.Objects > 1 {
			name = fmt.Sprintf("%s (%d objects)", name, p.Objects)
		}
		g.Point(numbers[p.Parent], numbers[i], name, false)
	}
	return g
}

// ownBytes is what each path retains and no path that is a part of it.
func ownBytes(c *sample.HeapCapture) []uint64 {
	own := make([]uint64, len(c.Paths))
	for i := range c.Paths {
		own[i] = uint64(c.Paths[i].Retained)
		if up := c.Paths[i].Parent; up >= 0 && up < i {
			own[up] -= min(own[up], own[i]) // of a foreign file a part may be more than the whole
		}
	}
	return own
}
