package heapgraph

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/goheap"
	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
)

// BenchmarkHeap is an answer from the plan of the copy to the holders, and how long
// the program stood for it. A tree has a pointer an object, an LRU cache several
// ways to each.
func BenchmarkHeap(b *testing.B) {
	hwtest.Need(b, hwtest.Ptrace)
	for _, shape := range []string{"tree", "lru"} {
		for _, n := range []int{50_000, 500_000} {
			b.Run(fmt.Sprintf("%s/%d", shape, n), func(b *testing.B) {
				p := startShape(b, hwtest.BuildOptions{}, shape, n)
				var stood time.Duration
				var copied, objects uint64
				for b.Loop() {
					o, d, size := p.graph(b)
					a, err := Analyze(b.Context(), o)
					if err != nil {
						b.Fatal(err)
					}
					a.Holders()
					stood, copied, objects = stood+d, size, uint64(o.Count)
				}
				b.ReportMetric(stood.Seconds()*1e3/float64(b.N), "stopped-ms/op")
				b.ReportMetric(float64(copied)/1e6, "copied-MB")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(objects), "ns/object")
			})
		}
	}
}

// graph copies the heap and finds its pointers.
func (p *shaped) graph(t testing.TB) (o *goheap.Objects, stood time.Duration, size uint64) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	plan, err := p.heap.PlanHeapCopy(0)
	must(err)
	plan.Wait()
	var copied *goheap.HeapCopy
	var threads []goheap.Thread
	stood, err = lastbreath.WhileFrozen(p.pid, time.Minute, func(ctx context.Context, z *lastbreath.Freeze) (err error) {
		for _, th := range z.Threads {
			threads = append(threads, goheap.Thread(th))
		}
		copied, err = plan.Copy(ctx)
		return err
	})
	must(err)
	size = uint64(copied.Bytes())
	ranges, err := p.heap.VariableRanges()
	must(err)
	variables, err := p.bin.Variables(ranges)
	must(err)
	o, err = copied.Graph(t.Context(), variables, threads)
	must(err)
	return o, stood, size
}

// BenchmarkDominators is the search alone, on graphs in which half of the pointers
// lead to leaves: one like a heap, in which most pointers lead to what was allocated
// about the same time, and one without any order, the worst for caches.
func BenchmarkDominators(b *testing.B) {
	const n, degree = 1_000_000, 3
	for _, near := range []int{1000, n} {
		b.Run(fmt.Sprintf("near=%d", near), func(b *testing.B) {
			g := layered(rand.New(rand.NewPCG(1, 2)), n, degree, near)
			for b.Loop() {
				if _, err := Dominators(b.Context(), g); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/object")
		})
	}
}

// layered is a graph of n objects, half of them leaves, that lie at most so far from
// what points to them.
func layered(rng *rand.Rand, n, degree, near int) *Graph {
	g := &Graph{Objects: n, Leaves: n / 2, First: []uint32{0}}
	for v := range n / 2 {
		for k := range degree {
			to := (v + 1 + rng.IntN(near)) % (n / 2)
			if k > 0 && rng.IntN(2) == 0 {
				to += n / 2
			}
			g.To = append(g.To, uint32(to))
		}
		g.First = append(g.First, uint32(len(g.To)))
	}
	g.To = append(g.To, 0)
	g.First = append(g.First, uint32(len(g.To)))
	return g
}
