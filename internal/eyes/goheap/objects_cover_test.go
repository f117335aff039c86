package goheap

import (
	"math/rand/v2"
	"testing"
)

func TestWhatIsOutOfReachDoesNotDependOnTheOrderOfSlices(t *testing.T) {
	const size = 64 << 10
	rng := rand.New(rand.NewPCG(1, 2))
	whole := 0
	for n := range 1000 {
		ty := typer{covers: make(map[uint32]coverage), reached: make([]uint64, 1)}
		want := coverage{lo: size}
		for range 1 + rng.IntN(4) {
			from := uint64(rng.IntN(size))
			n := uint64(rng.IntN(int(size - from)))
			if rng.IntN(4) == 0 {
				from, n = 0, size
			}
			want.lo, want.hi = min(want.lo, from), max(want.hi, from+n)
			ty.cover(3, &spanKind{elemsize: size}, &slot{kind: slotSlice, size: 1}, from, n)
		}
		got, listed := ty.covers[3]
		if listed != want.wastes(size) || listed && (got.lo != want.lo || got.hi != want.hi) {
			t.Fatalf("%d: %+v listed %v, want %+v", n, got, listed, want)
		}
		if !listed {
			whole++
		}
	}
	if whole < 100 || whole > 900 {
		t.Errorf("%d of 1000 objects are in reach: the test says little", whole)
	}
}
