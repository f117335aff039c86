package heapgraph

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/goheap"
)

// Folded is the live heap in which what retains little is one part with what else of
// its type its holder retains so little of. Every object that is still a part of its own is
// retained by the same of those as before, and retains as much; what was folded may,
// as a whole, retain what no part of it does.
type Folded struct {
	Parts   []Part
	Least   uint64 // what retains less is folded; 0: nothing is
	Objects uint64 // that are
	Bytes   uint64 // of these

	a       *Analysis
	size    func(node uint32) uint64
	typ     func(object uint32) goheap.TypeRef
	where   []uint32 // part by number
	leaf    []uint32 // and by leaf
	classes []uint32 // with which number each later class of roots begins
	folds   map[foldKey]uint32
}

// foldKey is what is folded together.
type foldKey struct {
	holder, class uint32
	typ           goheap.TypeRef
}

// Part is an object, a root, or what was folded. The first is all roots together.
type Part struct {
	Node    uint32 // of the graph; PartFolded, or of the first part PartRoots
	Holder  uint32 // of what is folded: the part that holds it
	Class   uint32 // of the first roots that lead to it
	Type    goheap.TypeRef
	Objects uint64
	Bytes   uint64
}

// What is no node of the graph.
const (
	PartFolded = none
	PartRoots  = none - 1
)

// PartPointer is a pointer from one part to another. A weak one does not count: what
// a stack points to is a variable's if one leads to it too.
type PartPointer struct {
	From, To uint32
	At       uint32 // in the graph; none: of what is folded
	Weak     bool
}

// perPart is what a part takes at most while the list of them grows, with its entry
// among those that are folded.
const perPart = 160

// FoldSize is how many bytes of ours Fold takes at most.
func (a *Analysis) FoldSize(most int) uint64 {
	nodes := uint64(len(a.tree.Node) + a.Objects.Leaves)
	parts := nodes
	if most > 0 {
		parts = min(nodes, foldsEach*min(nodes, uint64(most)))
	}
	return 4*nodes + perPart*parts
}

// foldsEach is how many parts there are for each object that is one of its own, with
// what it holds folded by type: of 12 million objects there were 1.7 where 100,000 were
// kept, and 2.3 where a million were.
const foldsEach = 3

// Fold keeps as many objects and roots as parts of their own, those that retain
// most. Of most 0 all are kept.
func (a *Analysis) Fold(most int) *Folded {
	return a.fold(most, a.Objects.SizeOf(), a.Objects.TypeOf)
}

func (a *Analysis) fold(most int, size func(node uint32) uint64, typ func(object uint32) goheap.TypeRef) *Folded {
	f := &Folded{a: a, size: size, typ: typ, where: table(len(a.tree.Node)), leaf: nones(a.Objects.Leaves), classes: a.classes(), folds: make(map[foldKey]uint32)}
	f.Least = f.leastOf(most)
	f.add(Part{Node: PartRoots})
	f.placeNodes()
	f.placeLeaves()
	return f
}

// leastOf is how much a node must retain to be among the first most.
func (f *Folded) leastOf(most int) uint64 {
	a := f.a
	const fine = 6 // bits of a step, of which each is 1/64 larger than the one before
	step := func(n uint64) int {
		shift := max(bits.Len64(n)-fine-1, 0)
		return shift<<fine + int(n>>shift)
	}
	count, total := make([]int, 65<<fine), 0
	add := func(n uint64) { count[step(n)]++; total++ }
	for _, n := range a.allRetained()[1:] {
		add(n)
	}
	for leaf := range a.tree.Leaves {
		if a.tree.Leaves[leaf].Dominator != none {
			add(f.size(uint32(a.Objects.Count - a.Objects.Leaves + leaf)))
		}
	}
	if most == 0 || total <= most {
		return 0
	}
	at := len(count) - 1
	for n := 0; at > 0 && n+count[at] <= most; at-- {
		n += count[at]
	}
	at++ // the first step that fits as a whole
	if shift := max(at>>fine-1, 0); shift > 0 {
		return uint64(at-shift<<fine) << shift
	}
	return uint64(at)
}

// classes is with which number each class of roots but the first begins.
func (a *Analysis) classes() (begin []uint32) {
	later := a.Objects.Later
	for i := 1; i < len(a.tree.Node) && len(later) > 0; i++ {
		for v := a.tree.Node[i]; len(later) > 0 && v >= uint32(a.Objects.Count) && v >= later[0]; later = later[1:] {
			begin = append(begin, uint32(i))
		}
	}
	return begin
}

func (f *Folded) add(p Part) uint32 {
	f.Parts = append(f.Parts, p)
	return uint32(len(f.Parts) - 1)
}

// place gives a node that a number dominates its part, and counts it there.
func (f *Folded) place(node, dominator, class uint32, retains uint64) (part uint32) {
	isObject := node < uint32(f.a.Objects.Count)
	p := Part{Node: node, Class: class}
	if isObject {
		p.Type = f.typ(node)
	}
	if retains >= f.Least {
		part = f.add(p)
	} else {
		part = f.folded(dominator, p)
	}
	if isObject {
		f.count(&f.Parts[part], f.size(node))
	}
	return part
}

// folded is the part of what is folded into the holder that a number is, or is folded
// into.
func (f *Folded) folded(number uint32, p Part) uint32 {
	p.Node, p.Holder = PartFolded, f.where[number]
	if up := &f.Parts[p.Holder]; up.Node == PartFolded {
		p.Holder = up.Holder
	}
	key := foldKey{p.Holder, p.Class, p.Type}
	at, ok := f.folds[key]
	if !ok {
		at = f.add(p)
		f.folds[key] = at
	}
	return at
}

// count adds an object to a part.
func (f *Folded) count(p *Part, size uint64) {
	p.Objects, p.Bytes = p.Objects+1, p.Bytes+size
	if p.Node == PartFolded {
		f.Objects, f.Bytes = f.Objects+1, f.Bytes+size
	}
}

// placeNodes gives all nodes but leaves their parts. What a folded node dominates
// retains less than it does, so that it is folded, too.
func (f *Folded) placeNodes() {
	a, t := f.a, f.a.tree
	class, retained := uint32(0), a.allRetained()
	for i := uint32(1); i < uint32(len(t.Node)); i++ {
		for int(class) < len(f.classes) && i >= f.classes[class] {
			class++
		}
		f.where[i] = f.place(t.Node[i], t.Dominator[i], class, retained[i])
	}
}

// placeLeaves gives the leaves their parts, in the order of the nodes that point to
// them, the first of which is of the class that they belong to.
func (f *Folded) placeLeaves() {
	a, t := f.a, f.a.tree
	class := uint32(0)
	first := uint32(a.Objects.Count - a.Objects.Leaves)
	for i := uint32(1); i < uint32(len(t.Node)); i++ {
		for int(class) < len(f.classes) && i >= f.classes[class] {
			class++
		}
		for e, end := a.Objects.Pointers(t.Node[i]); e < end; e++ {
			leaf := a.Objects.To[e] - first
			if leaf >= uint32(len(f.leaf)) || f.leaf[leaf] != none {
				continue
			}
			f.leaf[leaf] = f.place(first+leaf, t.Leaves[leaf].Dominator, class, f.size(first+leaf))
		}
	}
}

// part is where a node that is reachable lies.
func (f *Folded) part(node uint32) uint32 {
	if leaf := node - uint32(f.a.Objects.Count-f.a.Objects.Leaves); leaf < uint32(len(f.leaf)) {
		return f.leaf[leaf]
	}
	return f.where[f.a.tree.Number(node)]
}

// Pointers passes all pointers between parts to fn, in no order. Those of one part to
// what is folded, and of what is folded, are one.
func (f *Folded) Pointers(fn func(PartPointer)) {
	a, t := f.a, f.a.tree
	var some []PartPointer
	for k := 1; k < len(f.Parts); k++ {
		switch p := &f.Parts[k]; {
		case p.Node == PartFolded:
			fn(PartPointer{From: p.Holder, To: uint32(k), At: none})
		case p.Node >= uint32(a.Objects.Count):
			fn(PartPointer{To: uint32(k), At: none})
		}
	}
	full := 1 << 20
	for i := 1; i < len(t.Node); i++ {
		from := f.where[i]
		for e, end := a.Objects.Pointers(t.Node[i]); e < end; e++ {
			p := PartPointer{From: from, To: f.part(a.Objects.To[e]), At: none}
			to := &f.Parts[p.To]
			p.Weak = to.Class < f.Parts[from].Class
			switch folds := to.Node == PartFolded; {
			case from == p.To, folds && to.Holder == from:
			case folds || f.Parts[from].Node == PartFolded:
				if some = append(some, p); len(some) == full {
					some = distinct(some)
					full = max(full, 2*len(some))
				}
			default:
				p.At = e
				fn(p)
			}
		}
	}
	for _, p := range distinct(some) {
		fn(p)
	}
}

func distinct(all []PartPointer) []PartPointer {
	slices.SortFunc(all, func(x, y PartPointer) int { return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To)) })
	return slices.Compact(all)
}

// Name is what a root is called, and of an object its type.
func (f *Folded) Name(p *Part) string {
	if f.Root(p) {
		return rootName(&f.a.Objects.Roots[p.Node-uint32(f.a.Objects.Count)])
	}
	return f.a.Objects.Types.Name(p.Type)
}

// Root says whether a part is a root, Address where an object lies.
func (f *Folded) Root(p *Part) bool { return p.Node >= uint32(f.a.Objects.Count) && p.Node < PartRoots }

// Address is where a part's object lies, counted from where the heap begins.
func (f *Folded) Address(p *Part) uint64 {
	return f.a.Objects.Address(p.Node) - f.a.Objects.Start()
}

// Label is a pointer's: a field, "[]", the frame of a stack; "" if it has none.
func (f *Folded) Label(p PartPointer) string {
	if p.At == none {
		return ""
	}
	return f.a.Objects.Types.Label(f.a.Objects.Edge(p.At))
}
