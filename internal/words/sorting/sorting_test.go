package sorting

import (
	"cmp"
	"slices"
	"testing"
)

func TestWhatIsEqualStaysAsItIs(t *testing.T) {
	type line struct {
		bytes int
		name  string
	}
	list := []line{{3, "a"}, {9, "b"}, {3, "c"}, {9, "d"}, {1, "e"}, {3, "f"}}
	want := slices.Clone(list)
	descending := func(a, b line) int { return cmp.Compare(b.bytes, a.bytes) }
	slices.SortStableFunc(want, descending)
	if Stable(list, descending); !slices.Equal(list, want) || list[0].name != "b" || list[4].name != "f" {
		t.Errorf("%v, want %v", list, want)
	}
	Stable([]line(nil), descending)
}
