package gomem_test

import (
	"context"
	"errors"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// live marks the held program.
func (p *target) live() *sample.Liveness {
	p.t.Helper()
	live, err := p.heap.LiveObjects(p.t.Context(), p.stats)
	if err != nil {
		p.t.Fatal(err)
	}
	return live
}

func TestLiveObjectsAreWhatACollectionLeaves(t *testing.T) {
	for _, b := range builds() {
		t.Run(b.String(), func(t *testing.T) {
			p := start(t, b)
			p.ask("allocate 50000")
			p.ask("tree 100000")
			p.ask("goroutines 20")
			p.ask("big %d", 3<<20)
			p.ask("gc")
			p.ask("gc") // frees what finalizers kept
			after := p.said()
			if err := p.hold(); err != nil {
				t.Fatal(err)
			}
			live := p.live()
			got, want := float64(live.Bytes), float64(after["HeapAlloc"])
			t.Logf("%v", live)
			if got < 0.99*want || got > 1.01*want {
				t.Errorf("%d bytes are live, a collection left %d", live.Bytes, after["HeapAlloc"])
			}
		})
	}
}

func TestGarbageIsNotLive(t *testing.T) {
	for _, b := range builds() {
		t.Run(b.String(), func(t *testing.T) {
			p := start(t, b)
			p.ask("nogc")
			p.ask("gc")
			before := p.said()["HeapAlloc"]
			p.ask("rate 1")
			p.ask("tree 50000")
			p.ask("rate 0")
			if err := p.hold(); err != nil {
				t.Fatal(err)
			}
			tree := p.live()
			if err := p.release(); err != nil {
				t.Fatal(err)
			}
			p.ask("garbage")
			if err := p.hold(); err != nil {
				t.Fatal(err)
			}
			garbage := p.live()
			const size = 50000 * (144 + 64)
			const said = 1 << 10 // of what the program told, which is garbage by then
			if tree.Bytes < sample.Bytes(before)+size-said || tree.Bytes > sample.Bytes(before)+size+1<<20 {
				t.Errorf("a tree of %d bytes over %d is %d live bytes", size, before, tree.Bytes)
			}
			if garbage.Bytes > sample.Bytes(before)+1<<20 {
				t.Errorf("%d bytes are live after the tree was dropped, %d were before it", garbage.Bytes, before)
			}
			if n := total(tree.Sampled); n < 100000 || n > 101000 {
				t.Errorf("%d of 100000 sampled objects are live", n)
			}
			if n := total(garbage.Sampled); n > 10000 { // a stale word on a stack may hold a branch
				t.Errorf("%d sampled objects are live after the tree was dropped", n)
			}
		})
	}
}

func total(counts []uint64) (n uint64) {
	for _, c := range counts {
		n += c
	}
	return n
}

func TestAMarkThatTakesTooLongEnds(t *testing.T) {
	p := start(t, newest)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.heap.LiveObjects(ctx, p.stats); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled mark: %v", err)
	}
}
