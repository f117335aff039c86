package gomem

import "testing"

func TestAnArenaMayLoseItsLastSpanWhileTheHeapIsCopied(t *testing.T) {
	const middle = 0xc000000000
	at := func(arena int) mspan {
		start := uint64(middle + arena*arenaSize)
		return mspan{start: start, end: start + pageSize, elemsize: 64, nelems: pageSize / 64}
	}
	h := &heapMap{spans: []mspan{at(-1), at(0), at(1)}}
	if err := h.enter(); err != nil {
		t.Fatal(err)
	}
	h.spans = []mspan{at(0)}
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
	for _, p := range []uint64{middle, middle + pageSize, middle - arenaSize + 5*64, middle + arenaSize + 5*64} {
		if id, ok := o.At(p); ok {
			t.Errorf("at %#x lies object %d", p, id)
		}
	}
}
