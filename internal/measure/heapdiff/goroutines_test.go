package heapdiff

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestGoroutinesAreAPprofFile(t *testing.T) {
	at := func(name string, line int) sample.Location {
		return sample.Location{Address: uint64(4096 + line), Frames: []sample.Frame{{Func: name, File: "/b/" + name, Line: line}}}
	}
	groups := []sample.GoroutineGroup{
		{State: "waiting", Reason: "select", Count: 3, StackBytes: 8192, Where: []sample.Location{at("runtime.gopark", 1), at("main.serve", 2)},
			Labels: []sample.LabelCount{{Key: "route", Value: "/cart", Count: 3}, {Key: "user", Value: "a", Count: 1}}},
		{State: "running", Count: 1, StackBytes: 4096, Where: []sample.Location{at("main.serve", 2)}},
		{State: "running", Count: 9}, // its stack is not known
	}
	var file bytes.Buffer
	if err := GoroutinesToPprof(groups, time.Unix(5, 0), sample.Program{Exe: "/srv/shop"}, "from a test").Write(&file); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&file)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Sample) != 3 || len(p.Function) != 3 || p.Sample[2].Value[0] != 9 || p.TimeNanos != 5e9 {
		t.Fatalf("%s", p)
	}
	first, second := p.Sample[0], p.Sample[1]
	if first.Value[0] != 3 || first.Value[1] != 8192 || len(first.Location) != 2 || first.Location[1].Line[0].Function.Name != "main.serve" {
		t.Errorf("%v", first)
	}
	if !first.HasLabel("route", "/cart") || first.HasLabel("user", "a") || !first.HasLabel("reason", "select") || len(second.Label) != 1 {
		t.Errorf("labels %v and %v", first.Label, second.Label)
	}
}
