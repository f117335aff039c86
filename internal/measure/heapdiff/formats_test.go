package heapdiff

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/protowire"
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

// What it says is compared in module interop by OpenTelemetry's own types.
func TestOTLPHasAProfileForEachValueAndOneDictionary(t *testing.T) {
	var out bytes.Buffer
	if err := Write(&out, twoStacks(), OTLP); err != nil {
		t.Fatal(err)
	}
	all := fieldsOf(t, out.Bytes())
	scoped := fieldsOf(t, fieldsOf(t, all[otlpResourceProfiles][0])[otlpScopeProfiles][0])
	if n := len(scoped[otlpProfiles]); n != 3 {
		t.Errorf("%d profiles", n)
	}
	d := fieldsOf(t, all[otlpDictionary][0])
	for what, want := range map[protowire.Number]int{otlpFunctions: 4, otlpLocations: 3, otlpStacks: 3, otlpLinks: 1, otlpMappings: 1} {
		if n := len(d[what]); n != want || len(d[what][0]) > 0 {
			t.Errorf("table %d has %d entries, want %d with an empty one first", what, n, want)
		}
	}
}

// fieldsOf are the fields of a message that are messages or texts, by number.
func fieldsOf(t *testing.T, b []byte) map[protowire.Number][][]byte {
	t.Helper()
	all := map[protowire.Number][][]byte{}
	for len(b) > 0 {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			t.Fatal(protowire.ParseError(size))
		}
		b = b[size:]
		if kind == protowire.BytesType {
			v, size := protowire.ConsumeBytes(b)
			if size < 0 {
				t.Fatal(protowire.ParseError(size))
			}
			all[n], b = append(all[n], v), b[size:]
			continue
		}
		size = protowire.ConsumeFieldValue(n, kind, b)
		if size < 0 {
			t.Fatal(protowire.ParseError(size))
		}
		b = b[size:]
	}
	return all
}
