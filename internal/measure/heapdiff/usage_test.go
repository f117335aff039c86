package heapdiff

import (
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func stackOf(frames ...sample.Frame) sample.Site {
	s := sample.Site{Size: sample.MiB}
	for _, f := range frames {
		s.Stack = append(s.Stack, sample.Location{Frames: []sample.Frame{f}})
	}
	return s
}

func TestALineHasWhatWasAllocatedUnderIt(t *testing.T) {
	grow := sample.Frame{Func: "main.grow", File: "a.go", Line: 3}
	walk := sample.Frame{Func: "main.walk", File: "a.go", Line: 9} // calls itself
	leaf := sample.Frame{Func: "main.walk", File: "a.go", Line: 8}
	root := sample.Frame{Func: "main.main", File: "a.go", Line: 20}
	p := Profile{[]sample.Site{stackOf(grow, walk, walk, walk, root), stackOf(leaf, walk, root), stackOf(leaf, root)},
		&sample.HeapProfile{Rate: 1, Counts: counts(5, 1, 3, 0, 2, 2)}}
	earlier := &sample.HeapProfile{Rate: 1, Counts: counts(2, 1)}
	got := map[int]Usage{}
	for _, u := range Under(p, earlier, func(name string) bool { return name == "main.walk" }) {
		got[u.Line] = u
	}
	const m = int64(sample.MiB)
	if u := got[9]; len(got) != 2 || u.Held.Bytes != 7*m || u.Allocated.Bytes != 8*m || u.Growth.Bytes != 6*m || u.Error != 0 {
		t.Errorf("the line that calls: %+v", u)
	}
	if u := got[8]; u.Held.Bytes != 3*m || u.Allocated.Bytes != 5*m {
		t.Errorf("the line that allocates: %+v", u)
	}
	all := Functions(p, nil)
	if len(all) != 3 || all[0].Held.Bytes != 7*m || all[2].Func != "main.grow" || all[2].Held.Bytes != 4*m {
		t.Errorf("%+v", all)
	}
}

func TestAnEmptyProfileHasNoLines(t *testing.T) {
	if got := Under(Profile{HeapProfile: &sample.HeapProfile{}}, nil, func(string) bool { return true }); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
