package explain

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// What a variable kept in the middle of a run of a line that frees nothing is still there at its end; where half is freed, or
// most came later, nobody knows.
func TestWhatAVariableKeptEarlierItStillKeeps(t *testing.T) {
	for name, k := range map[string]struct {
		then, freed, want float64 // MiB, part, part
	}{
		"most of it, and nothing was freed": {70, 0, 0.7},
		"most came later":                   {30, 0, math.NaN()},
		"half of all was freed":             {70, 0.5, math.NaN()},
	} {
		s := newScene()
		s.heap(100, 100, 110)
		s.charge()
		site := s.site("main.(*hub).add", "/build/hub.go", 9, k.then, k.freed)
		s.retained("")
		s.Heap.At = s.Start.Add(s.Moment.At.Sub(s.Start) / 2)
		site.Bytes = bytesOf(100)
		c := newCase(s.Evidence)
		if c.site == nil || c.seconds(c.Heap.At) > c.outcome.MomentElapsed-nearCapture {
			t.Fatal("the capture is not of an earlier time")
		}
		if got := c.kept.lasting; got != k.want && !(math.IsNaN(got) && math.IsNaN(k.want)) {
			t.Errorf("%s: %v, want %v", name, got, k.want)
		}
		if !math.IsNaN(c.kept.frames) {
			t.Errorf("%s: calls in flight then keep %v now", name, c.kept.frames)
		}
	}
}

// A capture of the start, when the line had hardly anything, does not name what retains its memory at the end.
func TestACaptureOfTheStartNamesNoHolder(t *testing.T) {
	for then, want := range map[float64]bool{4: false, 100: true} {
		s := leaking()
		s.Sites[0].Bytes = bytesOf(then)
		s.retained("")
		s.Sites[0].Bytes = bytesOf(200)
		s.Heap.At = s.Start.Add(2 * time.Second)
		a := answerOf(t, s)
		named := strings.Contains(a.Verdict.Sentence, "main.store.items, as of 2.0 s after start")
		if named != want || a.Verdict.Class != Leak || !want && !strings.Contains(a.Verdict.Sentence, "still reachable") {
			t.Errorf("%v MiB: %s", then, a.Verdict.Sentence)
		}
	}
}

// One compressor is what the program works with: its buffers came at the start and stayed. Hundreds of compressors are a leak.
func TestOneValueThatIsKeptByNatureIsNoLeak(t *testing.T) {
	for objects, many := range map[uint64]bool{1: false, 400: true} {
		s := newScene()
		s.Moment.Cgroup.Limit = sample.Opt[sample.Bytes]{}
		s.heap(43, 43, 90)
		s.charge()
		s.Events = s.Events[:1]
		s.cycles(20, 31, 31, 32, 43, 41, 42, 43, 42, 43, 42, 44, 43, 42, 43)
		site := s.site("main.(*archive).add", "/build/archive.go", 32, 12, 0)
		site.Objects, site.Largest, site.AsLarge = objects, site.Bytes/sample.Bytes(objects), objects
		site.Stack = []sample.Frame{{Func: "github.com/klauspost/compress/zstd.(*fastBase).ensureHist"}, {Func: site.Function, File: site.File, Line: site.Line}}
		s.retained("")
		s.work(0.3, 0.02, 20)
		if got := newCase(s.Evidence).keptByNature(); got != many {
			t.Errorf("%d are kept until they are closed: %v", objects, got)
		}
		if a := answerOf(t, s); (a.Verdict.Class == Healthy) == many {
			t.Errorf("%d: %s, %s", objects, a.Verdict.Class, a.Verdict.Sentence)
		}
		c := newCase(s.Evidence)
		if c.site.Bytes = 200 * mib; !c.keptByNature() {
			t.Errorf("%d of 200 MiB are what the program works with", objects)
		}
	}
}

// Half of the heap of a healthy program is free right after a GC, as GOGC leaves it. More is what an earlier rise left.
func TestFreeHeapThatGOGCLeavesIsNormal(t *testing.T) {
	for live, want := range map[float64]Class{110: Healthy, 20: IdleHeap} {
		s := newScene()
		s.Moment.Cgroup.Limit = sample.Opt[sample.Bytes]{}
		s.heap(live, live, live)
		s.p.Residency.GoIdle = 115 * mib
		s.charge()
		s.over(2*time.Minute, 20)
		s.Events = s.Events[:1]
		s.cycles(20, live, live, live, live, live, live)
		s.work(0.3, 0.02, 20)
		if a := answerOf(t, s); a.Verdict.Class != want {
			t.Errorf("%v MiB live: %s, %s", live, a.Verdict.Class, a.Verdict.Sentence)
		}
	}
}
