package explain

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// BenchmarkExplainAWeek is the same of a week at one sample a second: 604,800
// samples, 300,000 collections, 1,680 moments.
func BenchmarkExplainAWeek(b *testing.B) {
	path := recordTicks(b, 7*24*3600, time.Second, 2, 360)
	b.ResetTimer()
	for b.Loop() {
		explainFile(b, path, func(e *Evidence) bool { return len(e.Ticks.At) <= mostRows*11/10 && len(e.Cycles) <= mostRows*11/10 })
	}
}

// BenchmarkExplainAnHour reads and explains an hour's recording: 36,000 samples
// at 10 Hz, 7,200 collections, 200 moments of 1,000 sites and 50 groups of
// goroutines each.
func BenchmarkExplainAnHour(b *testing.B) {
	path := recordTicks(b, 36000, 100*time.Millisecond, 5, 180)
	b.ResetTimer()
	for b.Loop() {
		explainFile(b, path, func(e *Evidence) bool { return len(e.Ticks.At) == 36000 && len(e.Sites[0].Course) == courseLength })
	}
}

func explainFile(b *testing.B, path string, right func(*Evidence) bool) {
	r, err := recording.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	e, err := Load(r, path, "")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := Explain(e, nil); err != nil {
		b.Fatal(err)
	}
	if !right(e) {
		b.Fatalf("%d samples, %d collections, %d moments of the line", len(e.Ticks.At), len(e.Cycles), len(e.Sites[0].Course))
	}
}

// recordTicks writes ticks of one Go process, with a collection and a moment every so
// many of them.
func recordTicks(b testing.TB, ticks int, step time.Duration, collect, keep int) string {
	path := filepath.Join(b.TempDir(), "hour-1.hwm")
	w, err := recording.Create(path, recording.Meta{At: began})
	put := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	put(err)
	put(w.Program(sample.Program{Key: subject, Name: "hour", Go: &sample.GoProgram{Version: "go1.26.8", Module: "example.org/hour"}}))
	put(w.Event(sample.Event{At: began, Kind: sample.EventStart, Process: subject}))
	sites := make([]sample.Site, 1000)
	for i := range sites {
		sites[i] = sample.Site{Size: sample.Bytes(64 + 16*i), Stack: []sample.Location{{Address: uint64(4 * i),
			Frames: []sample.Frame{{Func: fmt.Sprintf("example.org/hour.f%d", i/4), File: "f.go", Line: i}}}, {Address: 1, Frames: []sample.Frame{{Func: "main.main"}}}}}
	}
	put(w.Sites(subject, 0, sites))
	groups := make([]sample.GoroutineGroup, 50)
	for i := range groups {
		groups[i] = sample.GoroutineGroup{State: "waiting", Count: 2, Stack: []uint64{1, 2, 3}, Where: sites[i].Stack}
	}
	for i := range ticks {
		at := began.Add(time.Duration(i) * step)
		held := sample.Bytes(100+100*i/ticks) * mib
		g := &sample.Runtime{GOGC: 100, MemoryLimit: sample.NoMemoryLimit, HeapMarked: held, HeapLive: held, HeapInUse: held, TotalAlloc: sample.Bytes(i) * mib,
			MappedReady: held}
		cg := &sample.Cgroup{Usage: held, Stat: &sample.CgroupStat{Anon: held}}
		res := &sample.Resident{Total: held}
		put(w.Point(&sample.Point{At: at, Cgroup: cg, Processes: []sample.Process{{Key: subject, Resident: res, Go: g}}}))
		if i%collect == 0 {
			put(w.Cycle(sample.GCCycle{At: at, Process: subject, N: uint32(i / collect), Marked: held, Alloc: g.TotalAlloc}))
		}
		if i%keep == 0 {
			counts := make([]sample.BucketCounts, len(sites))
			for k := range counts {
				counts[k] = sample.BucketCounts{PubAllocs: uint64(i + k), PubFrees: uint64(i), NowAllocs: uint64(i + k)}
			}
			put(w.Moment(&sample.Moment{At: at, Kind: sample.MomentCalm, Cgroup: cg, Processes: []sample.ProcessMoment{{Key: subject, Go: g, Resident: res,
				Profile: &sample.HeapProfile{At: at, Rate: 512 << 10, Counts: counts}, Goroutines: groups}}}))
		}
	}
	put(w.Close())
	return path
}
