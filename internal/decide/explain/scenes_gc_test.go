package explain

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// gcScenes are those of the collector, and of what it need not collect.
var gcScenes = map[string]func() *scene{
	"garbage over the limit": func() *scene {
		s := newScene()
		s.heap(148, 150, 243)
		s.killed()
		s.cycles(70, 40, 90, 148, 149, 148, 150, 148)
		s.site("example.org/shop/index.Load", "/build/shop/index/index.go", 31, 148, 0)
		s.running(1)
		s.stand(20, 148, 0, 0)
		return s
	},
	"garbage, killed before the second full collection": func() *scene {
		s := newScene()
		s.heap(128, 150, 243)
		s.killed()
		s.ramp(4, 8, 16, 32, 64, 128)
		s.site("example.org/shop/index.Load", "/build/shop/index/index.go", 31, 148, 0)
		s.running(1)
		return s
	},
	"garbage that was collected, but not given back": func() *scene {
		s := newScene()
		s.heap(148, 150, 170)
		s.p.Residency.GoIdle = bytesOf(70)
		s.killed()
		s.cycles(70, 40, 90, 148, 149, 148, 150, 148)
		s.site("example.org/shop/index.Load", "/build/shop/index/index.go", 31, 148, 0)
		s.running(1)
		s.stand(20, 148, 0, 0)
		return s
	},
	"garbage without a mark": func() *scene {
		s := newScene()
		s.heap(128, 150, 243)
		s.killed()
		s.noMark()
		s.ramp(4, 8, 16, 32, 64, 128)
		s.site("example.org/shop/index.Load", "/build/shop/index/index.go", 31, 128, 0)
		s.running(1)
		s.stand(29, 128, 0, 1)
		return s
	},
	"connections that nobody asked for": func() *scene {
		s := newScene()
		s.heap(110, 112, 243)
		s.killed()
		s.cycles(90, 108, 109, 110, 109, 110, 110, 110)
		s.site("example.org/shop/arena.New", "/build/shop/arena/arena.go", 40, 100, 0)
		s.allocator("net/http.(*Transport).dialConn", "net/http/transport.go", 1944, 600, 0.6, "runtime.mallocgc", "bufio.NewReaderSize")
		s.Allocators[0].Own, s.Allocators[0].Since = false, 70*mib
		s.allocator("example.org/shop/mirror.(*Mirror).fetch", "/build/shop/mirror/mirror.go", 99, 200, 0.2)
		s.Allocators[1].Since = 20 * mib
		s.Allocators[0].Garbage, s.Allocators[1].Garbage = 64*mib, 12*mib
		s.p.Goroutines = append(s.p.Goroutines, sample.GoroutineGroup{State: "waiting", Reason: "select", Count: 62, Stack: []uint64{1}, Where: []sample.Location{
			{Frames: []sample.Frame{{Func: "runtime.gopark"}}}, {Frames: []sample.Frame{{Func: "net/http.(*Transport).getConn"}}},
			{Frames: []sample.Frame{{Func: "net/http.(*Client).Do"}}},
			{Frames: []sample.Frame{{Func: "example.org/shop/mirror.(*Mirror).fetch", File: "/build/shop/mirror/mirror.go", Line: 99}}}}})
		return s
	},
	"patterns compiled for every value": func() *scene {
		s := newScene()
		s.heap(12, 12, 22)
		s.charge()
		s.collections(300, 12, 26, 12)
		s.work(1.5, 0.34, 420)
		s.site("example.org/shop/index.Load", "/build/shop/index/index.go", 31, 9, 0.1)
		s.allocator("example.org/shop/formats.(*Set).Match", "/build/shop/formats/formats.go", 48, 11900, 0.94, "runtime.mallocgc", "regexp/syntax.parse",
			"regexp.compile", "regexp.Compile", "regexp.MustCompile")
		s.allocator("example.org/shop/index.Load", "/build/shop/index/index.go", 31, 300, 0.02)
		return s
	},
	"allocation that outran the collector": func() *scene {
		s := newScene()
		s.heap(30, 34, 230)
		s.killed()
		s.collections(30, 30, 60, 900)
		s.work(2, 0.2, 1200)
		s.site("example.org/shop/index.Load", "/build/shop/index/index.go", 31, 28, 0.1)
		s.allocator("example.org/shop/page.Render", "/build/shop/page/render.go", 91, 22000, 0.7, "runtime.mallocgc", "runtime.growslice", "strings.(*Builder).grow")
		s.Allocators[0].Since = 160 * mib
		return s
	},
	"allocation that GC counted as live": func() *scene {
		s := newScene()
		s.heap(150, 14, 230)
		s.killed()
		s.cycles(2200, 14, 14, 20, 14, 90, 14, 14, 30, 14, 110, 14, 150)
		s.work(2, 0.5, 2300)
		s.site("example.org/shop/index.Load", "/build/shop/index/index.go", 31, 12, 0.1)
		s.allocator("example.org/shop/page.Render", "/build/shop/page/render.go", 91, 26000, 0.9,
			"runtime.mallocgc", "compress/flate.NewWriter", "compress/gzip.(*Writer).Write")
		s.Allocators[0].Since = 200 * mib
		return s
	},
	"a collector that runs all the time": func() *scene {
		s := newScene()
		s.heap(212, 212, 222)
		s.p.Go.MemoryLimit, s.p.Go.HeapGoal = int64(225*mib), 214*mib
		s.charge()
		s.collections(400, 212, 214, 2)
		s.work(2, 0.61, 30)
		s.site("example.org/shop/index.Load", "/build/shop/index/index.go", 31, 205, 0.01)
		return s
	},
	"freed memory that Go keeps": func() *scene {
		s := newScene()
		s.heap(30, 30, 50)
		s.p.Residency.GoIdle = 180 * mib
		s.killed()
		s.cycles(60, 30, 180, 30, 30, 30, 31, 30)
		return s
	},
	"buffers that were reserved and never used": func() *scene {
		s := newScene()
		s.Moment.Cgroup.Limit = sample.Some(sample.GiB)
		s.heap(350, 350, 360)
		s.p.Residency.GoObjects, s.p.Residency.Untouched = 80*mib, 280*mib
		s.charge()
		s.cycles(100, 345, 350, 350, 350, 350, 350, 350, 350)
		s.site("example.org/shop/arena.New", "/build/shop/arena/arena.go", 40, 340, 0)
		return s
	},
	"steady need above the limit": func() *scene {
		s := newScene()
		s.heap(215, 216, 243)
		s.killed()
		s.cycles(70, 50, 120, 180, 214, 215, 214, 215, 214, 215, 214, 215)
		s.site("example.org/shop/index.Load", "/build/shop/index/index.go", 31, 210, 0.01)
		return s
	},
	"a program that stands still at its limit": func() *scene {
		s := newScene()
		s.heap(215, 216, 243)
		s.Moment.Cgroup.Stat.PageCache = 6 * mib
		s.charge()
		s.cycles(70, 50, 120, 180, 214, 215, 214, 215, 214, 215, 214, 215)
		s.site("example.org/shop/index.Load", "/build/shop/index/index.go", 31, 210, 0.01)
		for i, at := range s.Ticks.At {
			if at > 6 {
				s.Ticks.Usage[i], s.Ticks.PageCache[i] = 255.5*float64(mib), 5*float64(mib)
			}
			s.Ticks.Faults = append(s.Ticks.Faults, 900*at)
			s.Ticks.Refaults = append(s.Ticks.Refaults, 4000*at)
			s.Ticks.Stalled = append(s.Ticks.Stalled, 0.7*at)
		}
		return s
	},
}

// What the other process would have needed was not seen, so that no GOMEMLIMIT is said to suffice.
func TestFreedMemoryIsGivenBackForAnotherProcess(t *testing.T) {
	for low, want := range map[float64]string{
		20: "call debug.FreeOSMemory() when such work is over; ",
		70: "GOMEMLIMIT; call debug.FreeOSMemory() when such work is over; ", // 30 MiB live all along
	} {
		s := newScene()
		s.heap(30, 30, 50)
		s.p.Residency.GoIdle = 110 * mib
		s.charge()
		s.killed()
		s.Moment.Cgroup.Stat.PageCache = mib
		s.charge()
		s.cycles(60, 30, 31, 30, 30, 30, 31, 30)
		s.beside(4712, "convert", true, 70)
		s.Spans[sample.ProcessKey{PID: 4712, Start: 98}] = Span{Low: bytesOf(low), High: 70 * mib, Seconds: 5}
		a, err := Explain(s.Evidence, nil)
		if err != nil || a.Verdict.Class != IdleHeap {
			t.Fatalf("%+v, %v", a.Verdict, err)
		}
		got := ""
		for _, f := range a.Fixes {
			text, _, _ := strings.Cut(f.Text, "=")
			got += text + "; "
		}
		if unsaid := a.NotPredicted == "the other processes were still growing"; got != want || unsaid != (low == 20) {
			t.Errorf("%s\nwant %s; not predicted: %q, in vain: %v", got, want, a.NotPredicted, a.WontHelp)
		}
	}
}
