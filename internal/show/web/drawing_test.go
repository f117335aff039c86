package web

import (
	"slices"
	"testing"
)

func TestAProcessThatWasNotReadForAWhileIsNotGone(t *testing.T) {
	t.Parallel()
	sum := residents{{at: []int64{1, 2, 5}, v: []float64{10, 20, 50}}, {at: []int64{2, 3, 4}, v: []float64{100, 200, 300}}}.course()
	if want := []float64{10, 120, 220, 320, 50}; !slices.Equal(sum.at, []int64{1, 2, 3, 4, 5}) || !slices.Equal(sum.v, want) {
		t.Errorf("%v at %v, want %v", sum.v, sum.at, want)
	}
	if none := (residents{}).course(); len(none.at) != 0 {
		t.Errorf("%v", none)
	}
}
