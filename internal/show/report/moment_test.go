package report

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/answer/compare"
	"github.com/highwater-go/highwater/internal/answer/listing"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// oneMoment has a process of which everything is known, and one of which nothing is.
func oneMoment() (*explain.Evidence, []sample.Program, []sample.Site) {
	at := time.Date(2026, 3, 1, 12, 0, 30, 0, time.UTC)
	key, other := sample.ProcessKey{PID: 7, Start: 99}, sample.ProcessKey{PID: 8, Start: 100}
	frame := sample.Location{Address: 4096, Frames: []sample.Frame{{Func: "main.main", File: "/b/main.go", Line: 9, StartLine: 3}}}
	cg := &sample.Cgroup{Usage: 64 << 20, Limit: sample.Some(128 * sample.MiB), Stat: &sample.CgroupStat{Anon: 60 << 20, PageCache: 4 << 20},
		Events: &sample.CgroupEvents{Max: 2}}
	e := &explain.Evidence{Recording: "shop-1.hwm", Start: at.Add(-30 * time.Second), At: "kill", Subject: key}
	e.Moment = sample.Moment{At: at, Kind: sample.MomentDeath, Took: 5 * time.Millisecond, Cgroup: cg, Processes: []sample.ProcessMoment{
		{Key: key, Signal: 9, ExitCode: sample.Some(137), Resident: &sample.Resident{Total: 60 << 20, Threads: 5},
			Residency: &sample.Residency{GoKnown: true, Anon: 60 << 20},
			Go: &sample.Runtime{GOGC: 100, MemoryLimit: sample.NoMemoryLimit, HeapLive: 50 << 20, LastGC: at.Add(-time.Second), GCPhase: sample.GCMark,
				Goroutines: 3},
			Profile: &sample.HeapProfile{At: at, Rate: 512 << 10, Counts: []sample.BucketCounts{{PubAllocs: 5, PubFrees: 1, NowAllocs: 6, NowFrees: 1}, {}}},
			Live:    &sample.Liveness{Objects: 10, Bytes: 48 << 20, Sampled: []uint64{3}},
			Goroutines: []sample.GoroutineGroup{{State: "waiting", Reason: "select", Count: 2, StackBytes: 8192, Where: []sample.Location{frame},
				Frames: []sample.Bytes{96}, Labels: []sample.LabelCount{{Key: "route", Value: "/cart", Count: 2}}}},
			Metrics: &sample.RuntimeMetrics{At: at, Values: []sample.Metric{{Name: "/gc/heap/live:bytes", Value: 50 << 20}}, Histograms: []sample.Histogram{
				{Name: "/gc/pauses:seconds", Bounds: []float64{math.Inf(-1), 0, 0.001, math.Inf(1)}, Counts: []uint64{0, 4, 1}}}}},
		{Key: other, Incomplete: "it was gone"}}}
	programs := []sample.Program{{Key: key, Name: "shop", Exe: "/srv/shop", HeapProfile: sample.HeapProfileOn,
		Go: &sample.GoProgram{Version: "go1.26.8", Module: "example.org/shop", FoundBy: "symbols",
			Deps: []sample.Module{{Path: "example.org/lib", Version: "v1.2.3"}}}},
		{Key: other, Name: "sh", HeapProfile: sample.HeapProfileUnknown, WhyNot: "no Go program"}}
	return e, programs, []sample.Site{{Size: sample.MiB, Stack: []sample.Location{frame}}, {Size: 16}}
}

func TestAMomentIsExportedAsAgreed(t *testing.T) {
	e, programs, sites := oneMoment()
	m, err := MomentOf(e, programs, func(sample.ProcessKey) ([]sample.Site, error) { return sites, nil })
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := JSON(&got, m); err != nil {
		t.Fatal(err)
	}
	const path = "testdata/moment.json"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || got.String() != string(want) {
		t.Errorf("%s differs (UPDATE=1 rewrites), %v\n--- got\n%s", path, err, got.String())
	}
	var back Moment
	if err := json.Unmarshal(got.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	noNilList(t, "moment", reflect.ValueOf(back))
	if h := back.Processes[0].Heap; h.View != "live" || len(h.Sites) != 1 || h.Sites[0].HeldObjects != 3 || back.Processes[1].Heap != nil {
		t.Errorf("%+v", h)
	}
}

// noNilList fails for each list that is null.
func noNilList(t *testing.T, at string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			noNilList(t, at, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				noNilList(t, at+"."+f.Tag.Get("json"), v.Field(i))
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			t.Errorf("%s is null", at)
		}
		for i := range v.Len() {
			noNilList(t, at, v.Index(i))
		}
	}
}

func TestEveryFieldIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{Moment{}, compare.Diff{}, listing.Listing{}} {
		names := map[string]bool{}
		fieldNames(reflect.TypeOf(v), names)
		for name := range names {
			if name != strings.ToLower(name) || !strings.Contains(string(doc), "`"+name+"`") {
				t.Errorf("docs/json.md does not have `%s` of %T", name, v)
			}
		}
	}
	for _, schema := range []string{MomentSchema, explain.Schema, compare.Schema, listing.Schema, "highwater.list/1", "highwater.notes/1"} {
		if !strings.Contains(string(doc), "`"+schema+"`") {
			t.Errorf("docs/json.md does not have %s", schema)
		}
	}
}

func fieldNames(of reflect.Type, names map[string]bool) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice:
		fieldNames(of.Elem(), names)
	case reflect.Struct:
		if of == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range of.NumField() {
			f := of.Field(i)
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
				names[name] = true
			}
			fieldNames(f.Type, names)
		}
	}
}
