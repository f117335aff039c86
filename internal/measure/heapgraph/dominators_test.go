package heapgraph

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
)

// random is a graph of n objects, some of them leaves, r roots and e pointers.
func random(rng *rand.Rand, n, r, e int) *Graph {
	out := make([][]uint32, n+r)
	g := &Graph{Objects: n, Leaves: rng.IntN(n), First: []uint32{0}}
	for range e {
		if from := rng.IntN(n + r); from < n-g.Leaves || from >= n {
			out[from] = append(out[from], uint32(rng.IntN(n)))
		}
	}
	for v, to := range out {
		if v < n-g.Leaves || v >= n {
			g.To = append(g.To, to...)
			g.First = append(g.First, uint32(len(g.To)))
		}
	}
	for root := n + 1; root < n+r; root++ {
		if rng.IntN(3) == 0 {
			g.Later = append(g.Later, uint32(root))
		}
	}
	return g
}

// cut is the graph without the pointers of later classes to what earlier ones lead
// to.
func (g *Graph) cut() *Graph {
	class := make([]int, g.nodes())
	for i := range class {
		class[i] = 1 << 30
	}
	for k := 0; k <= len(g.Later); k++ {
		from, to := uint32(g.Objects), uint32(len(class))
		if k > 0 {
			from = g.Later[k-1]
		}
		if k < len(g.Later) {
			to = g.Later[k]
		}
		for v, seen := range g.reachableFrom(none, from, to) {
			if seen {
				class[v] = min(class[v], k)
			}
		}
	}
	c := &Graph{Objects: g.Objects, First: []uint32{0}} // without leaves, as far as it says
	for v := range class {
		for e, end := g.pointers(uint32(v)); e < end; e++ {
			if to := g.To[e]; class[to] >= class[v] {
				c.To = append(c.To, to)
			}
		}
		c.First = append(c.First, uint32(len(c.To)))
	}
	return c
}

// reachable marks what is left when a node is taken out.
func (g *Graph) reachable(without uint32) []bool {
	return g.reachableFrom(without, uint32(g.Objects), uint32(g.nodes()))
}

// reachableFrom is that from some of the roots.
func (g *Graph) reachableFrom(without, from, to uint32) []bool {
	seen := make([]bool, g.nodes())
	var todo []uint32
	visit := func(v uint32) {
		if v != without && !seen[v] {
			seen[v] = true
			todo = append(todo, v)
		}
	}
	for v := from; v < to; v++ {
		visit(v)
	}
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for e, end := g.pointers(v); e < end; e++ {
			visit(g.To[e])
		}
	}
	return seen
}

func TestANodeRetainsWhatWouldBeGarbageWithoutIt(t *testing.T) {
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 7))
		n := 1 + rng.IntN(60)
		g := random(rng, n, 1+rng.IntN(5), rng.IntN(4*n))
		tree, err := Dominators(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		retained := tree.Retained(func(v uint32) uint64 { return uint64(v) + 1 })
		g = g.cut()
		whole := g.reachable(none)
		for v, reached := range whole {
			if dom := tree.dominator(uint32(v)); reached != (dom != none) {
				t.Fatalf("seed %d: node %d is reachable: %v, has dominator %d", seed, v, reached, dom)
			} else if !reached {
				continue
			}
			without, want := g.reachable(uint32(v)), uint64(0)
			for w := range whole {
				if whole[w] && !without[w] {
					want += uint64(w) + 1
				}
			}
			got := uint64(v) + 1
			if i := tree.Number(uint32(v)); i != none {
				got = retained[i]
			}
			if got != want {
				t.Errorf("seed %d: node %d retains %d, its removal frees %d", seed, v, got, want)
			}
		}
	}
}

func TestANodeIsLedToByTheFirstPointerOfItsDominator(t *testing.T) {
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 8))
		n := 1 + rng.IntN(60)
		g := random(rng, n, 1+rng.IntN(5), rng.IntN(4*n))
		tree, err := Dominators(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		check := func(node, dom, by uint32) {
			want := none
			if dom != 0 {
				for e, end := g.pointers(tree.Node[dom]); e < end && want == none; e++ {
					if g.To[e] == node {
						want = e
					}
				}
			}
			if by != want {
				t.Errorf("seed %d: node %d is led to by pointer %d, the first of its dominator is %d", seed, node, by, want)
			}
		}
		for i := 1; i < len(tree.Node); i++ {
			check(tree.Node[i], tree.Dominator[i], tree.By[i])
		}
		for leaf, l := range tree.Leaves {
			if l.Dominator != none {
				check(uint32(g.Objects-g.Leaves+leaf), l.Dominator, l.By)
			}
		}
	}
}

// simple finds dominators by going through all pointers until nothing changes (Cooper,
// Harvey and Kennedy, A Simple, Fast Dominance Algorithm, 2001), in the numbers of a tree.
func (g *Graph) simple(t *Tree) []uint32 {
	into := make([][]uint32, len(t.Node))
	for i := 1; i < len(t.Node); i++ {
		if t.Node[i] >= uint32(g.Objects) {
			into[i] = append(into[i], 0)
		}
		for e, end := g.pointers(t.Node[i]); e < end; e++ {
			to := t.number[g.To[e]]
			into[to] = append(into[to], uint32(i))
		}
	}
	dom := nones(len(t.Node))
	dom[0] = 0
	for changed := true; changed; {
		changed = false
		for i := 1; i < len(dom); i++ {
			best := none
			for _, v := range into[i] {
				switch {
				case dom[v] == none:
				case best == none:
					best = v
				default:
					for best != v {
						if best > v {
							best = dom[best]
						} else {
							v = dom[v]
						}
					}
				}
			}
			if best != dom[i] {
				dom[i], changed = best, true
			}
		}
	}
	return dom
}

func TestDominatorsOfManyNodesAreThoseOfASimpleSearch(t *testing.T) {
	const n = 9 * rangeLen
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 11))
		g := &Graph{Objects: n, First: []uint32{0}}
		for v := range n + 10 { // most lead to what is near, some to anything
			for range 1 + rng.IntN(2) {
				to := rng.IntN(n)
				if v < n && rng.IntN(16) > 0 {
					to = min(v+1+rng.IntN(50), n-1)
				}
				g.To = append(g.To, uint32(to))
			}
			g.First = append(g.First, uint32(len(g.To)))
		}
		tree, err := Dominators(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		if len(tree.Node) < 4*rangeLen {
			t.Fatalf("seed %d: %d nodes can be reached: the test says little", seed, len(tree.Node))
		}
		for i, want := range g.simple(tree) {
			if got := tree.Dominator[i]; got != want {
				t.Fatalf("seed %d: node %d of %d has dominator %d, not %d", seed, i, len(tree.Node), got, want)
			}
		}
	}
}

func TestManyLeavesAreHeldByWhatAllThatPointToThemHaveInCommon(t *testing.T) {
	const n = 6 * rangeLen
	for seed := range uint64(2) {
		g := layered(rand.New(rand.NewPCG(seed, 13)), n, 4, n/8)
		d := newDominators(g)
		for _, step := range []func(context.Context) error{d.search, d.solve, d.gather} {
			if err := step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := both(t.Context(), d.leaves, d.leaves); err != nil {
			t.Fatal(err)
		}
		want := nones(g.Leaves)
		for i := 1; i < len(d.t.Node); i++ {
			for e, end := g.pointers(d.t.Node[i]); e < end; e++ {
				if !g.isLeaf(g.To[e]) {
					continue
				}
				at := &want[g.To[e]-d.inner]
				if *at == none {
					*at = uint32(i)
				}
				for v := uint32(i); *at != v; {
					if *at > v {
						*at = d.t.Dominator[*at]
					} else {
						v = d.t.Dominator[v]
					}
				}
			}
		}
		for leaf := range want {
			if got := d.t.Leaves[leaf].Dominator; got != want[leaf] {
				t.Fatalf("seed %d: leaf %d of %d has dominator %d, not %d", seed, leaf, g.Leaves, got, want[leaf])
			}
		}
	}
}

func TestALongListIsNotRecursedInto(t *testing.T) {
	const n = 1 << 20
	g := &Graph{Objects: n, First: make([]uint32, n+2)}
	for i := range uint32(n) {
		if g.First[i] = uint32(len(g.To)); i+1 < n {
			g.To = append(g.To, i+1)
		}
	}
	g.First[n] = uint32(len(g.To))
	g.To = append(g.To, 0)
	g.First[n+1] = uint32(len(g.To))
	tree, err := Dominators(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	if got := tree.Retained(func(uint32) uint64 { return 1 })[tree.Number(n/2)]; got != n/2 {
		t.Errorf("the middle of a list of %d retains %d", n, got)
	}
}

func TestALeafOfNodesFarApartIsHeldByTheNearestAboveAll(t *testing.T) {
	const arm, inner = 500, 1001 // node 0 leads to two lists
	leaves := []struct {
		from []uint32
		want uint32
	}{
		{[]uint32{arm, inner - 1}, 0},
		{[]uint32{100, 400, 401}, 100},
		{[]uint32{arm, arm - 1}, arm - 1},
		{[]uint32{1, inner - 1}, 0},
		{[]uint32{700}, 700},
	}
	to := make([][]uint32, inner)
	for v := range uint32(inner - 1) {
		if v != arm {
			to[v] = append(to[v], v+1)
		}
	}
	to[0] = append(to[0], arm+1)
	for i, leaf := range leaves {
		for _, v := range leaf.from {
			to[v] = append(to[v], uint32(inner+i))
		}
	}
	g := &Graph{Objects: inner + len(leaves), Leaves: len(leaves), First: []uint32{0}}
	for _, all := range append(to, []uint32{0}) { // and a root
		g.To = append(g.To, all...)
		g.First = append(g.First, uint32(len(g.To)))
	}
	tree, err := Dominators(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	for i, leaf := range leaves {
		if got := tree.Node[tree.Leaves[i].Dominator]; got != leaf.want {
			t.Errorf("the leaf of %v is held by node %d, not %d", leaf.from, got, leaf.want)
		}
	}
}

func TestAStacksDeadWordMakesNoChainShorter(t *testing.T) {
	g := &Graph{Objects: 6, First: []uint32{0}, Later: []uint32{7}}
	for _, to := range []uint32{1, 2, 3, 4, 5, 5, 0, 3} { // a list, its variable, and a stack that knows its middle
		g.To = append(g.To, to)
		g.First = append(g.First, uint32(len(g.To)))
	}
	depth, err := g.depths(t.Context())
	if err != nil || !slices.Equal(depth, []uint32{0, 1, 2, 3, 4, 5}) {
		t.Errorf("depths %v, %v", depth, err)
	}
}

func TestNoNodeIsFartherAwayThanTheSearchSays(t *testing.T) {
	const n = 5 * minChain / 2
	for seed := range uint64(24) {
		rng := rand.New(rand.NewPCG(seed, 10))
		ways := []int{0, 1, 10, n}[seed%4] // from the root, others than to the first
		g := &Graph{Objects: n + n/2, First: []uint32{0}, Later: []uint32{n + n/2 + 1}[:seed%2]}
		for v := range uint32(n) { // a list, from its end on, each with something of its own
			if v > 0 {
				g.To = append(g.To, v-1)
			}
			if v%2 == 0 {
				g.To = append(g.To, n+v/2)
			}
			if seed%3 == 0 && rng.IntN(1000) == 0 {
				g.To = append(g.To, uint32(rng.IntN(n)))
			}
			g.First = append(g.First, uint32(len(g.To)))
		}
		for range n / 2 {
			g.First = append(g.First, uint32(len(g.To)))
		}
		g.To = append(g.To, n-1)
		for k := range ways {
			if ways < n {
				k = rng.IntN(n)
			}
			g.To = append(g.To, uint32(k))
		}
		g.First = append(g.First, uint32(len(g.To)))
		g.To = append(g.To, uint32(rng.IntN(n))) // what another root, of a later class or not, leads to
		g.First = append(g.First, uint32(len(g.To)))

		d := newDominators(g)
		if err := d.search(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d.deepest < minChain {
			t.Fatalf("seed %d: the search went %d deep: the test says little", seed, d.deepest)
		}
		if err := d.solve(t.Context()); err != nil {
			t.Fatal(err)
		}
		most := 0
		for _, depth := range g.plainDepths()[:g.Objects] {
			most = max(most, int(depth))
		}
		if far := d.deepest - 2; far < most || ways == n && d.deepest >= minChain { // roots are at 1, what they lead to at 2
			t.Errorf("seed %d: some node is %d pointers away, none more than %d by the search", seed, most, far)
		}
	}
}

func TestDepthsAreThoseOfAPlainSearch(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 9))
		n := 1 + rng.IntN(5000)
		g := random(rng, n, 1+rng.IntN(5), rng.IntN(4*n))
		got, err := g.depths(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := g.plainDepths()
		for node := range got {
			if want[node] != none && got[node] != want[node] {
				t.Errorf("seed %d: node %d is %d pointers away, not %d", seed, node, want[node], got[node])
			}
		}
	}
}

// plainDepths is depths by one queue a class, with none for what is not reachable.
func (g *Graph) plainDepths() []uint32 {
	depth := nones(g.nodes())
	root := uint32(g.Objects)
	for _, end := range append(slices.Clone(g.Later), uint32(g.nodes())) {
		var queue []uint32
		for ; root < end; root++ {
			depth[root] = none - 1 // its own are at 0
			queue = append(queue, root)
		}
		for ; len(queue) > 0; queue = queue[1:] {
			d := depth[queue[0]] + 1
			if d == none {
				d = 0
			}
			for e, end := g.pointers(queue[0]); e < end; e++ {
				if to := g.To[e]; depth[to] == none {
					depth[to] = d
					queue = append(queue, to)
				}
			}
		}
	}
	return depth
}

func TestAPointerToNoObjectIsRefused(t *testing.T) {
	for _, to := range []uint32{1, 2, none} {
		g := &Graph{Objects: 1, First: []uint32{0, 0, 1}, To: []uint32{to}}
		if _, err := Dominators(t.Context(), g); err != ErrGraph {
			t.Errorf("a pointer to node %d of 1: %v", to, err)
		}
	}
}
