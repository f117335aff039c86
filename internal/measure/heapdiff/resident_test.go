package heapdiff

import (
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestResidentGrowthIsAProfileOfItsOwnKind(t *testing.T) {
	c := sample.Location{Address: 1 << 40, Frames: []sample.Frame{{Func: "malloc", File: "libc.so.6"}}}
	line := sample.Location{Address: 0x4711, Frames: []sample.Frame{{Func: "main.fill", File: "/src/main.go", Line: 40}}}
	p := ResidentToPprof([]sample.ResidentGrowth{
		{Kind: sample.ResidentNative, Where: []sample.Location{c, line}, Samples: 3, Bytes: 3 << 18},
		{Kind: sample.ResidentHeap, Samples: 1, Bytes: 1 << 18},
	}, time.Unix(1, 0), sample.Program{Exe: "/srv/server"}, "made by a test")
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	if p.DefaultSampleType != "resident_grown_bytes" || len(p.Sample) != 2 {
		t.Fatalf("%v", p)
	}
	s := p.Sample[0]
	if s.Value[0] != 3 || s.Value[1] != 3<<18 || s.Label["memory"][0] != "native" {
		t.Errorf("values %v, labels %v", s.Value, s.Label)
	}
	if len(s.Location) != 2 || s.Location[0].Address != 0 || s.Location[0].Line[0].Function.Name != "malloc" || s.Location[1].Line[0].Line != 40 {
		t.Errorf("locations %v", s.Location)
	}
}
