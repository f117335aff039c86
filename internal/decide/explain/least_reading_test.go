package explain

import (
	"math"
	"slices"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// The last reading of a program that has ended by itself is the least that was live: it is no rest by itself, and does not
// hide one that the readings before it show.
func TestALowerBoundAtTheEndHidesNoRest(t *testing.T) {
	for name, c := range map[string]struct {
		live []float64
		want func(late float64) bool
	}{
		"a cache that is full":            {[]float64{115, 138, 162, 163, 163, 163, 162, 162}, func(late float64) bool { return late < cameToRest.v() }},
		"a leak, of which the end is low": {[]float64{115, 130, 145, 160, 175, 190, 205, 150}, func(late float64) bool { return late >= goneOnGrowing.v() }},
	} {
		var points []point
		for i, v := range c.live {
			points = append(points, point{at: 5 + 3*float64(i), live: v * float64(mib), alloc: 2 * v * float64(mib), least: i == len(c.live)-1})
		}
		if r := riseOf(points, 0, 5+3*float64(len(c.live)-1), 0); !c.want(r.late) {
			t.Errorf("%s: %v of even growth in the last third", name, r.late)
		}
	}
}

// To run a program again that ends by itself as it did tells nothing new: its heap is to be read more often.
func TestARunThatEndedByItselfIsReadMoreOftenNext(t *testing.T) {
	for elapsed, want := range map[float64]bool{25: true, 2: false} {
		k := newCase(leaking().Evidence)
		k.outcome.State, k.outcome.Elapsed = Exited, elapsed
		if flags := k.nextFlags(); slices.Contains(flags, "--heap=every=5s") != want {
			t.Errorf("%v s: %v", elapsed, flags)
		}
	}
}

// What comes in steps may rest between two of them, but growth that goes on is seen.
func TestGrowthThatGoesOnIsSeenWhereItComesInSteps(t *testing.T) {
	for late, known := range map[float64]bool{0.9: true, 0.1: false} {
		s := leaking()
		s.Sites[0].Stack = append([]sample.Frame{{Func: "runtime.growslice"}}, s.Sites[0].Stack...)
		k := newCase(s.Evidence)
		k.rise.late, k.rise.reached = late, k.readUntil()
		if got := k.late(); !math.IsNaN(got) != known {
			t.Errorf("%v of even growth: %v", late, got)
		}
	}
}

// Where no reading of the last third tells whether the growth went on, what the line that made it allocates then does.
func TestALineThatCameToRestTellsOfGrowthWithoutAReading(t *testing.T) {
	for until, want := range map[sample.Bytes]bool{100 * mib: false, 200 * mib: true} { // allocated three quarters through the run
		s := leaking()
		s.Sites[0].Course = append(s.Sites[0].Course, SiteSnapshot{At: 21, Bytes: until, Allocated: until, Goroutines: true})
		k := newCase(s.Evidence)
		k.rise.late = math.NaN()
		if got := k.late(); (got < lateGrowth.v()) != want || math.IsNaN(got) {
			t.Errorf("%s of 200 MiB by then: %v of even growth", size(until), got)
		}
	}
}
