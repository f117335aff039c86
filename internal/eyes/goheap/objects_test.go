package goheap

import (
	"testing"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

func TestAnArenaMayLoseItsLastSpanWhileTheHeapIsCopied(t *testing.T) {
	const middle = 0xc000000000
	at := func(arena int) gomem.MSpan {
		start := uint64(middle + arena*gomem.ArenaSize)
		return gomem.MSpan{Start: start, End: start + gomem.PageSize, ElemSize: 64, NElems: gomem.PageSize / 64}
	}
	h := &heapMap{spans: []gomem.MSpan{at(-1), at(0), at(1)}}
	if err := h.enter(); err != nil {
		t.Fatal(err)
	}
	h.spans = []gomem.MSpan{at(0)}
	if err := h.enter(); err != nil {
		t.Fatal(err)
	}
	h.number()
	h.unmarked[0] = 1 << 5
	o, err := numberObjects(h, false)
	if err != nil {
		t.Fatal(err)
	}
	if id, ok := o.At(middle + 5*64 + 8); !ok || id != 0 {
		t.Errorf("the object is %d, %v", id, ok)
	}
	for _, p := range []uint64{middle, middle + gomem.PageSize, middle - gomem.ArenaSize + 5*64, middle + gomem.ArenaSize + 5*64} {
		if id, ok := o.At(p); ok {
			t.Errorf("at %#x lies object %d", p, id)
		}
	}
}

func TestASpanIsSweptByItsSweepgen(t *testing.T) {
	const heap = 12
	for sweepgen, want := range map[uint32]bool{heap: true, heap + 3: true, heap - 2: false, heap - 1: false, heap + 1: false} {
		if got := (&gomem.MSpan{SweepGen: sweepgen}).Swept(heap); got != want {
			t.Errorf("a span of %d in a heap of %d is swept: %v", sweepgen, heap, got)
		}
	}
}

func TestWhatIsYoungIsKnownByObject(t *testing.T) {
	h := &heapMap{spans: []gomem.MSpan{{Start: 0xc000000000, End: 0xc000000000 + 4*gomem.PageSize, ElemSize: 128, NElems: 4 * gomem.PageSize / 128}}}
	if err := h.enter(); err != nil {
		t.Fatal(err)
	}
	h.number()
	h.unmarked = []uint64{0xff00ff00f0f0f0f0, 0, 1<<63 | 1, ^uint64(0)}
	h.young = []uint64{0x0100f000f0f00010, 5, 1<<63 | 2, 1<<40 | 3}
	o, err := numberObjects(h, false)
	if err != nil {
		t.Fatal(err)
	}
	id := uint32(0)
	for place := range 4 * 64 {
		w, bit := place/64, place%64
		if o.places[w].bits>>bit&1 == 0 {
			continue
		}
		young := []uint64{0x0100f000f0f00010, 5, 1<<63 | 2, 1<<40 | 3}[w]>>bit&1 != 0
		if o.Young(id) != young {
			t.Errorf("object %d, in place %d, is young: %v", id, place, !young)
		}
		id++
	}
	if int(id) != o.Count {
		t.Errorf("%d objects, not %d", o.Count, id)
	}
}
