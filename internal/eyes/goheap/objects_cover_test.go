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
		ty := typer{covers: make(map[uint32]coverage), reached: make([]uint64, 1), heads: heads{make(map[uint32]uint64), make([]uint64, 1)}}
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

// A queue begins behind the start of its array, unless another slice begins there.
func TestWhatComesBeforeTheFirstElementOfASliceIsCounted(t *testing.T) {
	h := heads{make(map[uint32]uint64), make([]uint64, 1)}
	for _, one := range []struct {
		id           uint32
		before, want uint64
	}{{1, 9, 9}, {1, 12, 9}, {1, 7, 7}, {1, 0, 0}, {1, 5, 0}, {2, 0, 0}, {2, 3, 0}, {3, 4, 4}} {
		if h.note(one.id, one.before); h.before[one.id] != one.want {
			t.Errorf("%+v: %d", one, h.before[one.id])
		}
	}
}
