package latency

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Waits and marks that know nothing of each other coincide in few of many runs.
func TestChanceIsSeldomTakenForACause(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const runs = 300
	wrong := 0
	for range runs {
		slow, marks := randomly(rng, 12), randomly(rng, 40)
		if tie("collections", slow, marks, 0, 120).Chance <= rare {
			wrong++
		}
	}
	if wrong > runs*3/100 {
		t.Errorf("%d of %d coincide", wrong, runs)
	}
}

func randomly(rng *rand.Rand, n int) (list []Stretch) {
	for range n {
		at := 120 * rng.Float64()
		list = append(list, Stretch{at, at + rng.Float64()})
	}
	return United(list)
}

func TestCoverCountsAroundTheEnd(t *testing.T) {
	c := newCover([]Stretch{{-5, 1}, {4, 6}, {9, 20}}, 0, 10)
	for _, k := range []struct{ a, b, want float64 }{{0, 10, 4}, {0, 1, 1}, {0.5, 4.5, 1}, {5, 5.5, 0.5}, {6, 9, 0}, {9.5, 10.5, 1}, {14, 16, 2}, {9, 19, 4}} {
		if got := c.around(k.a, k.b); math.Abs(got-k.want) > 1e-9 {
			t.Errorf("%v to %v: %v, want %v", k.a, k.b, got, k.want)
		}
	}
}
