package heapdiff

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/pprof/profile"
)

// twoStacks is a profile of two stacks with two values each, one of which has an inlined call and a
// name that no format likes.
func twoStacks() *profile.Profile {
	main := &profile.Function{ID: 1, Name: "main.main", Filename: "/src/main.go"}
	serve := &profile.Function{ID: 2, Name: "main.(*T[go.shape.struct { a int; b int }]).serve", Filename: "/src/serve.go"}
	load := &profile.Function{ID: 3, Name: "main.load", Filename: "/src/load.go"}
	outer := &profile.Location{ID: 1, Line: []profile.Line{{Function: main, Line: 10}}}
	inlined := &profile.Location{ID: 2, Line: []profile.Line{{Function: load, Line: 30}, {Function: serve, Line: 20}}}
	return &profile.Profile{
		SampleType:        []*profile.ValueType{{Type: "alloc_space", Unit: "bytes"}, {Type: "inuse_objects", Unit: "count"}, {Type: "inuse_space", Unit: "bytes"}},
		DefaultSampleType: "inuse_space", Comments: []string{"shop at the kill"},
		Sample: []*profile.Sample{
			{Location: []*profile.Location{inlined, outer}, Value: []int64{900, 2, 600}},
			{Location: []*profile.Location{outer}, Value: []int64{70, 0, 0}},
			{Location: []*profile.Location{inlined, outer}, Value: []int64{100, 1, 50}},
		},
		Location: []*profile.Location{outer, inlined}, Function: []*profile.Function{main, serve, load},
	}
}

func TestFoldedStacksHaveALineForEachStackThatHolds(t *testing.T) {
	var out bytes.Buffer
	if err := Write(&out, twoStacks(), "folded"); err != nil {
		t.Fatal(err)
	}
	if want := "main.main;main.(*T[go.shape.struct_{_a_int,_b_int_}]).serve;main.load 650\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestSpeedscopeHasAProfileForEachValue(t *testing.T) {
	var out bytes.Buffer
	if err := Write(&out, twoStacks(), "speedscope"); err != nil {
		t.Fatal(err)
	}
	var f speedscope
	if err := json.Unmarshal(out.Bytes(), &f); err != nil {
		t.Fatal(err)
	}
	if len(f.Shared.Frames) != 3 || f.Shared.Frames[0] != (speedscopeFrame{"main.main", "/src/main.go", 10}) || f.Active != 2 || f.Name != "shop at the kill" {
		t.Errorf("%+v", f)
	}
	if len(f.Profiles) != 3 {
		t.Fatalf("profiles %+v", f.Profiles)
	}
	all, held := f.Profiles[0], f.Profiles[2]
	if len(all.Samples) != 3 || all.End != 1070 || all.Unit != "bytes" || f.Profiles[1].Unit != "none" {
		t.Errorf("allocated %+v", all)
	}
	if len(held.Samples) != 2 || held.End != 650 || held.Weights[0] != 600 || len(held.Samples[0]) != 3 || held.Samples[0][0] != 0 {
		t.Errorf("held %+v", held)
	}
}

func TestAFormatThatIsNoneIsRefused(t *testing.T) {
	if err := Write(&bytes.Buffer{}, twoStacks(), "svg"); err == nil {
		t.Error("svg was written")
	}
}
