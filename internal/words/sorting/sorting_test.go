package sorting_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sorting"
)

// A list of any length is in the order that slices.SortStableFunc gives it.
func TestByIsAStableSort(t *testing.T) {
	type pair struct{ key, place int }
	r := rand.New(rand.NewPCG(1, 2))
	for length := range 200 {
		list := make([]pair, length)
		for i := range list {
			list[i] = pair{r.IntN(1 + length/3), i}
		}
		want := slices.Clone(list)
		byKey := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
		slices.SortStableFunc(want, byKey)
		sorting.By(list, byKey)
		if !slices.Equal(list, want) {
			t.Fatalf("%v\nwant %v", list, want)
		}
	}
}
