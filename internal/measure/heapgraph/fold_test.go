package heapgraph

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/highwater-go/highwater/internal/eyes/goheap"
)

// folded is the graph that a fold passes on, and the parts' sizes in it.
func (f *Folded) graph(t *testing.T) (g *Graph, weak int) {
	out := make([][]uint32, len(f.Parts))
	seen := make(map[[2]uint32]bool)
	f.Pointers(func(p PartPointer) {
		pair := [2]uint32{p.From, p.To}
		if folds := f.Parts[p.From].Node == PartFolded || f.Parts[p.To].Node == PartFolded; folds && seen[pair] {
			t.Errorf("%+v twice", p)
		}
		seen[pair] = true
		if p.Weak {
			weak++
			return
		}
		out[p.From] = append(out[p.From], p.To)
	})
	// The first part is no object: it becomes the one root, behind them.
	g = &Graph{Objects: len(f.Parts) - 1, First: []uint32{0}}
	for _, to := range append(out[1:], out[0]) {
		for _, v := range to {
			g.To = append(g.To, v-1)
		}
		g.First = append(g.First, uint32(len(g.To)))
	}
	return g, weak
}

func TestWhatIsFoldedChangesNothingOfWhatTheOthersRetain(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	foldedOnce, weakOnce := false, false
	for range 500 {
		n := 2 + rng.IntN(40)
		g := random(rng, n, 1+rng.IntN(5), rng.IntN(4*n))
		tree, err := Dominators(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		sizes := make([]uint64, n)
		for i := range sizes {
			sizes[i] = 8 << rng.IntN(12)
		}
		size := func(v uint32) uint64 {
			if v < uint32(n) {
				return sizes[v]
			}
			return 0
		}
		a := &Analysis{Objects: &goheap.Objects{Count: n, Leaves: g.Leaves, First: g.First, To: g.To, Later: g.Later, Roots: make([]goheap.Root, g.nodes()-n)},
			tree: tree, retained: tree.Retained(size)}
		most := rng.IntN(n + 4)
		f := a.fold(most, size, func(v uint32) goheap.TypeRef { return goheap.TypeRef(v % 3) })
		own := 0
		small, weak := f.graph(t)
		again, err := Dominators(t.Context(), small)
		if err != nil {
			t.Fatal(err)
		}
		retained := again.Retained(func(v uint32) uint64 {
			if v < uint32(len(f.Parts)-1) {
				return f.Parts[v+1].Bytes
			}
			return 0
		})
		if all := a.retained[0]; retained[0] != all {
			t.Fatalf("%d bytes are live, the parts have %d", all, retained[0])
		}
		for i, p := range f.Parts[1:] {
			foldedOnce, weakOnce = foldedOnce || p.Node == PartFolded, weakOnce || weak > 0
			if p.Node == PartFolded {
				continue
			}
			own++
			want := size(p.Node)
			if k := tree.Number(p.Node); k != none {
				want = a.retained[k]
			}
			if k := again.Number(uint32(i)); k == none || retained[k] != want {
				t.Fatalf("node %d retains %d; folded %+v", p.Node, want, f.Parts)
			}
		}
		if most > 0 && own > most {
			t.Fatalf("%d parts, at most %d", own, most)
		}
		if most == 0 && slices.ContainsFunc(f.Parts, func(p Part) bool { return p.Node == PartFolded }) {
			t.Fatal("folded, though all were asked for")
		}
	}
	if !foldedOnce || !weakOnce {
		t.Error("the graphs do not show it")
	}
}

func TestAFoldedHeapTakesNoMoreThanItsSize(t *testing.T) {
	const n = 200_000
	g := random(rand.New(rand.NewPCG(3, 4)), n, 3, 2*n)
	tree, err := Dominators(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	size := func(v uint32) uint64 { return 8 << (v % 8) }
	a := &Analysis{Objects: &goheap.Objects{Count: n, Leaves: g.Leaves, First: g.First, To: g.To, Roots: make([]goheap.Root, 1)}, tree: tree,
		retained: tree.Retained(size)}
	for _, most := range []int{0, 1000, n / 4} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		f := a.fold(most, size, func(v uint32) goheap.TypeRef { return goheap.TypeRef(v % 3) })
		runtime.GC()
		runtime.ReadMemStats(&after)
		if took := after.HeapAlloc - min(after.HeapAlloc, before.HeapAlloc); took > a.FoldSize(most) {
			t.Errorf("%d parts of at most %d take %d bytes, more than %d", len(f.Parts), most, took, a.FoldSize(most))
		}
		runtime.KeepAlive(f)
	}
}
