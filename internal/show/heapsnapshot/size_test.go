package heapsnapshot

import (
	"runtime"
	"testing"
)

func TestAGraphTakesNoMoreThanItsSize(t *testing.T) {
	const nodes, edges = 300_000, 500_000
	before := live()
	g := &Graph{}
	for i := range nodes {
		g.Add(Object, "main.node", uint32(2*i+2), 64)
	}
	for i := range edges {
		g.Point(i%nodes, (i+1)%nodes, "next", false)
	}
	if took := live() - before; took > Size(nodes, edges) {
		t.Errorf("%d nodes and %d edges take %d bytes, more than %d", nodes, edges, took, Size(nodes, edges))
	}
	if n, e := len(g.nodes), len(g.edges); n != nodes || e != edges {
		t.Errorf("%d nodes, %d edges", n, e)
	}
}

func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
