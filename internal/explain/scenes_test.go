package explain

import (
	"math"
	"time"

	"github.com/highwater-go/highwater/internal/sample"
)

func leaking() *scene {
	s := newScene()
	s.heap(190, 212, 240)
	s.killed()
	s.cycles(25, 10, 30, 50, 70, 90, 110, 130, 150, 170, 190)
	s.site("example.org/shop/cache.(*Cache).Put", "/build/shop/cache/cache.go", 57, 200, 0.01)
	s.site("example.org/shop/cmd/shop.main", "/build/shop/main.go", 20, 6, 0)
	s.stand(10, 60, 1, 0)
	s.stand(20, 120, 0, 0)
	s.inside("net/http.(*conn).serve", 8)
	return s
}

func oneOfSeveral() *scene {
	s := leaking()
	s.heap(110, 120, 140)
	s.killed()
	s.cycles(25, 10, 20, 32, 44, 55, 66, 78, 90, 100, 110)
	s.Sites[0].Bytes, s.Sites[0].Growth, s.Sites[0].Allocated, s.Sites[0].Freed = 110*mib, int64(100*mib), 111*mib, 0
	s.Course[1].Bytes = 80 * mib
	s.Moment.Cgroup.Stat.PageCache = mib
	s.charge()
	s.beside(4712, "shop", true, 70)
	s.beside(4713, "shop", true, 25)
	s.beside(4700, "sh", false, 1)
	return s
}

// noise is a live heap of v MiB that goes up and down by a MiB over n collections
// and grows by so many MiB from the first to the last.
func noise(n int, v, growth float64) (live []float64) {
	for i := range n {
		live = append(live, v+1.5*math.Abs(math.Sin(float64(i*i)))+growth*float64(i)/float64(n-1))
	}
	return live
}

// filling is a live heap that comes near v MiB, fast at first.
func filling(n int, v float64) (live []float64) {
	for i := range n {
		live = append(live, v*(1-math.Exp(-1.6*float64(i+1)/float64(n))))
	}
	return live
}

// scenes are runs whose cause is known, by name.
var scenes = map[string]func() *scene{
	"leak": leaking,
	"slow leak, still running": func() *scene {
		s := newScene()
		s.heap(60, 62, 90)
		s.charge()
		s.Events = s.Events[:1]
		s.cycles(40, 10, 12, 15, 18, 20, 24, 27, 30, 34, 37, 41, 45, 48, 52, 55, 58)
		s.site("example.org/shop/cache.(*Cache).Put", "/build/shop/cache/cache.go", 57, 50, 0.02)
		s.stand(10, 20, 0, 0)
		s.stand(20, 40, 0, 0)
		return s
	},
	"leak in an endless loop of main": func() *scene {
		s := newScene()
		s.heap(200, 230, 240)
		s.killed()
		s.ramp(4, 8, 16, 32, 64, 128, 200)
		s.site("main.main", "/build/leak/main.go", 12, 225, 0)
		s.running(1)
		s.stand(10, 100, 1, 0)
		return s
	},
	"burst of uploads": func() *scene {
		s := newScene()
		s.heap(150, 203, 228)
		s.native(10)
		s.killed()
		s.cycles(60, 9, 70, 9, 75, 10, 9, 80, 150)
		up := s.site("example.org/shop/handlers.(*Server).Upload", "/build/shop/handlers/upload.go", 172, 192, 0.7)
		up.Stack = []sample.Frame{{Func: "bytes.growSlice", File: "bytes/buffer.go", Line: 249}, {Func: "mime/multipart.(*Reader).readForm", File: "mime/multipart/formdata.go", Line: 150},
			{Func: "net/http.(*Request).ParseMultipartForm", File: "net/http/request.go", Line: 1390}, {Func: up.Function, File: up.File, Line: 172}}
		s.inside(up.Function, 3)
		s.stand(5, 60, 1, 0)
		s.stand(15, 64, 1, 0)
		return s
	},
	"a leak under work in flight": func() *scene {
		s := newScene()
		s.heap(70, 130, 240)
		s.killed()
		s.cycles(300, 10, 30, 18, 42, 28, 55, 40, 66, 48, 80, 60, 92, 70, 104, 80, 118, 92, 130)
		s.site("example.org/shop/apply.(*Loop).run", "/build/shop/apply/apply.go", 94, 80, 0)
		s.inside("example.org/shop/apply.(*Loop).run", 1)
		s.stand(0.5, 0.1, 1, 0)
		s.stand(1, 0.5, 1, 0)
		s.stand(10, 40, 1, 0)
		s.stand(20, 60, 1, 0)
		return s
	},
	"an upload killed in its first rise": func() *scene {
		s := newScene()
		s.heap(120, 200, 236)
		s.killed()
		s.ramp(5, 20, 60, 100, 140, 160, 180)
		up := s.site("example.org/shop/handlers.(*Server).Upload", "/build/shop/handlers/upload.go", 172, 190, 0)
		up.Stack = append(up.Stack, sample.Frame{Func: "net/http.serverHandler.ServeHTTP", File: "net/http/server.go", Line: 3200}, sample.Frame{Func: "net/http.(*conn).serve", File: "net/http/server.go", Line: 2100})
		s.inside(up.Function, 1)
		s.stand(10, 100, 1, 0)
		s.stand(20, 150, 1, 0)
		return s
	},
	"burst in the first rise": func() *scene {
		s := newScene()
		s.heap(120, 210, 236)
		s.killed()
		s.cycles(40, 4, 5, 5, 40, 120)
		s.site("example.org/shop/export.CSV", "/build/shop/export/csv.go", 88, 200, 0.4)
		s.inside("example.org/shop/export.CSV", 41)
		s.stand(10, 1, 0, 0)
		s.stand(20, 60, 12, 0)
		s.stand(25, 110, 22, 0)
		return s
	},
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
	"cgo leak": func() *scene {
		s := newScene()
		s.heap(4, 4, 6)
		s.native(235)
		s.killed()
		s.cycles(2, 3, 4, 4, 4, 4, 4)
		s.site("example.org/shop/db.Query", "/build/shop/db/db.go", 9, 2, 0.5)
		s.p.Goroutines = append(s.p.Goroutines, sample.GoroutineGroup{State: "syscall", Count: 2, Stack: []uint64{1, 2, 3}, Where: []sample.Location{
			{Frames: []sample.Frame{{Func: "runtime.cgocall", File: "runtime/cgocall.go", Line: 167}}},
			{Frames: []sample.Frame{{Func: "example.org/shop/db._Cfunc_sqlite3_step", File: "_cgo_gotypes.go", Line: 99}}},
			{Frames: []sample.Frame{{Func: "example.org/shop/db.Query", File: "/build/shop/db/db.go", Line: 44}}}}})
		return s
	},
	"a file of 1 GiB written": func() *scene {
		s := newScene()
		s.Moment.Cgroup.Stat.PageCache = 237 * mib
		s.charge()
		s.Moment.Cgroup.Events = &sample.CgroupEvents{Max: 1298}
		s.cycles(10, 9, 10, 9, 10, 9, 10, 10, 9)
		return s
	},
	"steady and small": func() *scene {
		s := newScene()
		s.cycles(10, 9, 10, 9.5, 10, 9, 10, 10, 9, 9.7, 10)
		s.site("example.org/shop/cache.(*Cache).Put", "/build/shop/cache/cache.go", 57, 6, 0.9)
		return s
	},
	"no limit at all": func() *scene {
		s := newScene()
		s.Moment.Cgroup = nil
		s.Ticks.Usage = nil
		s.Ticks.PageCache = nil
		s.cycles(10, 9, 10, 9.5, 10, 9, 10)
		return s
	},
	"killed by somebody's SIGKILL": func() *scene {
		s := newScene()
		s.Events[1].Text = "signal 9"
		s.cycles(10, 9, 10, 9.5, 10, 9, 10)
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
	"tmpfs": func() *scene {
		s := newScene()
		s.Moment.Cgroup.Stat.Shmem = 230 * mib
		s.killed()
		s.cycles(10, 9, 10, 9.5, 10, 9, 10)
		return s
	},
	"workers that were busy all along": func() *scene {
		s := newScene()
		s.heap(190, 225, 240)
		s.killed()
		s.cycles(25, 10, 30, 50, 70, 90, 110, 130, 150, 170, 190)
		s.site("example.org/shop/jobs.Do", "/build/shop/jobs/jobs.go", 12, 215, 0.02)
		s.inside("example.org/shop/jobs.Do", 8)
		s.stand(5, 60, 8, 0)
		s.stand(20, 120, 8, 0)
		return s
	},
	"thousands of goroutines that never end": func() *scene {
		s := newScene()
		s.heap(100, 140, 160)
		s.p.Residency.GoStacks = 85 * mib
		s.killed()
		s.cycles(15, 10, 20, 40, 60, 80, 100)
		s.goroutines(12, 20000, 40000)
		s.site("example.org/shop/push.wait", "/build/shop/push/push.go", 12, 130, 0)
		s.waiting("example.org/shop/push.wait", "/build/shop/push/push.go", 14, 39990, "chan receive", 29)
		s.stand(5, 40, 10000, 0)
		s.stand(20, 90, 25000, 0)
		return s
	},
	"one of several processes leaks": oneOfSeveral,
	"one of several processes leaks, without a heap profile": func() *scene {
		s := oneOfSeveral()
		s.Sites, s.SiteView, s.Course = nil, "none", nil
		s.Programs[0].HeapProfile = sample.HeapProfileOff
		s.Gaps = []sample.Gap{{What: "the heap profile of shop", Why: "its linker switched heap profiling off"}}
		return s
	},
	"several processes that are too many": func() *scene {
		s := newScene()
		s.heap(55, 60, 70)
		s.killed()
		s.Moment.Cgroup.Stat.PageCache = mib
		s.charge()
		s.cycles(60, 55, 56, 55, 56, 55, 55, 56)
		s.site("example.org/shop/index.Load", "/build/shop/index/index.go", 31, 54, 0.1)
		s.steady()
		s.beside(4712, "shop", true, 86)
		s.beside(4713, "shop", true, 88)
		return s
	},
	"several processes, one of which still grew": func() *scene {
		s := newScene()
		s.heap(55, 60, 70)
		s.killed()
		s.Moment.Cgroup.Stat.PageCache = mib
		s.charge()
		s.cycles(60, 55, 56, 55, 56, 55, 55, 56)
		s.steady()
		s.beside(4712, "shop", true, 86)
		s.beside(4713, "shop", true, 88)
		s.Spans[sample.ProcessKey{PID: 4713, Start: 98}] = Span{Low: 20 * mib, High: 88 * mib, Seconds: 15}
		return s
	},
	"a service that ran for a night": func() *scene {
		s := newScene()
		s.heap(40, 40, 60)
		s.charge()
		s.over(8*time.Hour, 2000)
		s.cycles(300, noise(240, 40, 0)...)
		s.work(0.4, 0.03, 2.5)
		s.site("example.org/shop/cache.(*Cache).Put", "/build/shop/cache/cache.go", 57, 22, 0.9)
		return s
	},
	"a service that was watched for too short a time": func() *scene {
		s := newScene()
		s.heap(40, 40, 60)
		s.charge()
		s.over(12*time.Minute, 2000)
		s.cycles(300, noise(24, 40, 4)...)
		s.work(0.4, 0.03, 100)
		return s
	},
	"a slow leak in a night": func() *scene {
		s := newScene()
		s.heap(74, 74, 110)
		s.charge()
		s.over(8*time.Hour, 2000)
		s.cycles(300, noise(240, 40, 34)...)
		s.work(0.4, 0.03, 2.5)
		s.site("example.org/shop/metrics.Count", "/build/shop/metrics/count.go", 19, 33, 0.01)
		s.stand(3600, 5, 0, 0)
		s.stand(20000, 22, 0, 0)
		return s
	},
	"a cache that was filling up": func() *scene {
		s := newScene()
		s.heap(130, 130, 180)
		s.charge()
		s.over(2*time.Hour, 500)
		s.cycles(60, filling(60, 163)...)
		s.site("example.org/shop/cache.(*Cache).Put", "/build/shop/cache/cache.go", 57, 118, 0.05)
		s.Sites[0].Stack = append([]sample.Frame{{Func: "internal/runtime/maps.(*table).grow"}, {Func: "runtime.mapassign_faststr"}}, s.Sites[0].Stack[1:]...)
		s.stand(600, 40, 0, 0)
		s.stand(3600, 90, 0, 0)
		return s
	},
	"a leak that was killed at once": func() *scene {
		s := newScene()
		s.Moment.At = began.Add(180 * time.Millisecond)
		s.heap(200, 209, 218)
		s.killed()
		s.ramp(60, 200)
		s.site("main.(*index).remember", "/build/leak/main.go", 27, 190, 0)
		s.site("main.(*index).name", "/build/leak/main.go", 40, 13, 0)
		s.running(1)
		return s
	},
	"a program that never collected": func() *scene {
		s := newScene()
		s.heap(0, 3, 3)
		s.noMark()
		s.charge()
		s.Cycles = nil
		return s
	},
	"a stripped program that is well": func() *scene {
		s := newScene()
		s.p.Go, s.p.Live, s.p.Residency.GoKnown, s.SiteView = nil, nil, false, "none"
		s.p.Residency.Mmap, s.p.Residency.GoObjects = s.p.Residency.Anon, 0
		s.over(time.Hour, 1000)
		s.Cycles = nil
		s.Programs[0].Go.Stripped, s.Programs[0].HeapProfile = true, sample.HeapProfileUnknown
		s.Gaps = []sample.Gap{{What: "the Go runtime of shop", Why: "stripped: the symbol table is missing", Process: subject}}
		return s
	},
	"a night in which the machine slept": func() *scene {
		s := newScene()
		s.heap(40, 40, 60)
		s.charge()
		s.over(8*time.Hour, 2000)
		s.cycles(300, noise(240, 40, 0)...)
		for i := range s.Ticks.At {
			if i > 700 {
				s.Ticks.At[i] = s.Ticks.At[i]/2 + 4*3600
			} else {
				s.Ticks.At[i] /= 2
			}
		}
		s.site("example.org/shop/cache.(*Cache).Put", "/build/shop/cache/cache.go", 57, 22, 0.9)
		return s
	},
	"bodies that are not closed": func() *scene {
		s := newScene()
		s.heap(100, 140, 160)
		s.p.Residency.GoStacks = 60 * mib
		s.killed()
		s.cycles(25, 10, 20, 40, 60, 80, 100)
		s.goroutines(12, 10000, 20000)
		site := s.site("net/http.(*Transport).dialConn", "net/http/transport.go", 1944, 80, 0)
		site.Own, site.Stack = false, []sample.Frame{{Func: "runtime.mallocgc"}, {Func: "bufio.NewReaderSize", File: "bufio/bufio.go", Line: 57},
			{Func: "net/http.(*Transport).dialConn", File: "net/http/transport.go", Line: 1944}, {Func: "net/http.(*Transport).dialConnFor"}}
		for i, function := range []string{"net/http.(*persistConn).readLoop", "net/http.(*persistConn).writeLoop"} {
			s.p.Goroutines = append(s.p.Goroutines, sample.GoroutineGroup{State: "waiting", Reason: "select", Count: 9990, Stack: []uint64{1}, StackBytes: 40 * mib, Oldest: 29 * time.Second,
				CreatedAt: sample.Location{Frames: []sample.Frame{{Func: "net/http.(*Transport).dialConn", File: "net/http/transport.go", Line: 1945 + i}}},
				Where:     []sample.Location{{Frames: []sample.Frame{{Func: "runtime.gopark"}}}, {Frames: []sample.Frame{{Func: function, File: "net/http/transport.go", Line: 2200}}}}})
		}
		s.p.Goroutines = append(s.p.Goroutines, sample.GoroutineGroup{State: "waiting", Reason: "select", Count: 3, Stack: []uint64{1}, Where: []sample.Location{
			{Frames: []sample.Frame{{Func: "net/http.(*Client).Do"}}}, {Frames: []sample.Frame{{Func: "example.org/shop/price.fetch", File: "/build/shop/price/price.go", Line: 20}}}}})
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
			{Frames: []sample.Frame{{Func: "runtime.gopark"}}}, {Frames: []sample.Frame{{Func: "net/http.(*Transport).getConn"}}}, {Frames: []sample.Frame{{Func: "net/http.(*Client).Do"}}},
			{Frames: []sample.Frame{{Func: "example.org/shop/mirror.(*Mirror).fetch", File: "/build/shop/mirror/mirror.go", Line: 99}}}}})
		return s
	},
	"native memory that comes and goes": func() *scene {
		s := newScene()
		s.heap(4, 4, 6)
		s.native(175)
		s.charge()
		s.cycles(2, 3, 4, 4, 4, 4, 4)
		for i := range s.Ticks.Native {
			s.Ticks.Native[i] = float64(5+170*(i%5)/4) * float64(mib)
		}
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
	"patterns compiled for every value": func() *scene {
		s := newScene()
		s.heap(12, 12, 22)
		s.charge()
		s.collections(300, 12, 26, 12)
		s.work(1.5, 0.34, 420)
		s.site("example.org/shop/index.Load", "/build/shop/index/index.go", 31, 9, 0.1)
		s.allocator("example.org/shop/formats.(*Set).Match", "/build/shop/formats/formats.go", 48, 11900, 0.94, "runtime.mallocgc", "regexp/syntax.parse", "regexp.compile", "regexp.Compile", "regexp.MustCompile")
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
	"rows that outlive the function that read them": func() *scene {
		s := newScene()
		s.heap(60, 200, 230)
		s.killed()
		s.cycles(60, 20, 45, 45, 46, 50, 60)
		read := s.site("example.org/shop/store.(*Table).read", "/build/shop/store/table.go", 142, 120, 0.8)
		read.Callers = []Caller{{read.Function, true, 120 * mib}, {"example.org/shop/list.(*Server).List", true, 180 * mib}, {"google.golang.org/grpc.(*Server).processUnaryRPC", false, 182 * mib}}
		s.inside("example.org/shop/list.(*Server).List", 38)
		s.inside("google.golang.org/grpc.(*Server).processUnaryRPC", 40)
		s.Course = []Stand{{At: 5, Bytes: 2 * mib, Calls: []int{0, 0, 0}, Goroutines: true}, {At: 20, Bytes: 50 * mib, Calls: []int{0, 12, 12}, Goroutines: true}, {At: 25, Bytes: 100 * mib, Calls: []int{1, 34, 36}, Goroutines: true}}
		return s
	},
	"the reader of a connection that remembers": func() *scene {
		s := leaking()
		put := &s.Sites[0]
		put.Objects = 100_000
		put.Callers = []Caller{{put.Function, true, put.Bytes}, {"example.org/shop/wire.(*Conn).readLoop", true, put.Bytes}}
		s.p.Goroutines = nil
		s.inside("example.org/shop/wire.(*Conn).readLoop", 1)
		s.Course = []Stand{{At: 1, Calls: []int{0, 0}, Goroutines: true}}
		for i := range 6 {
			s.Course = append(s.Course, Stand{At: float64(5 + 4*i), Bytes: bytesOf(float64(30 + 30*i)), Calls: []int{i % 2, 1}, Goroutines: true})
		}
		return s
	},
	"a stripped program": func() *scene {
		s := newScene()
		s.heap(200, 200, 240)
		s.killed()
		s.p.Go, s.p.Live, s.p.Residency.GoKnown, s.SiteView = nil, nil, false, "none"
		s.p.Residency.Mmap, s.p.Residency.GoObjects = s.p.Residency.Anon, 0
		s.Programs[0].Go.Stripped, s.Programs[0].HeapProfile = true, sample.HeapProfileUnknown
		s.Programs[0].WhyNot = "stripped: the symbol table is missing"
		s.Gaps = []sample.Gap{{What: "the Go runtime of shop", Why: "stripped: the symbol table is missing", Process: subject}}
		return s
	},
	"a program in another language": func() *scene {
		s := newScene()
		s.heap(0, 0, 0)
		s.native(240)
		s.killed()
		s.p.Go, s.p.Live, s.p.Residency.GoKnown, s.SiteView = nil, nil, false, "none"
		s.Programs[0].Go, s.Programs[0].Name = nil, "sort"
		return s
	},
	"killed without a last breath": func() *scene {
		s := newScene()
		s.heap(20, 20, 40)
		s.charge()
		s.noMark()
		s.End = s.Moment.At.Add(1900e6)
		s.cycles(10, 9, 10)
		s.Events = append(s.Events[:1], sample.Event{At: s.End, Kind: sample.EventOOMKill, Value: 1}, sample.Event{At: s.End, Kind: sample.EventOOM, Value: 1})
		s.Gaps = []sample.Gap{{What: "last breath", Why: "refused: ptrace_scope is 1"}}
		return s
	},
	"nothing could be read": func() *scene {
		s := newScene()
		s.Moment.Cgroup, s.Moment.Processes, s.Ticks = nil, nil, Ticks{}
		return s
	},
}

// quiet are runs in which a hasty rule would speak, with the rules that may.
var quiet = map[string]struct {
	run    func() *scene
	speaks []Class
	class  Class
}{
	"a job that loads its data and then works on it": {func() *scene {
		s := newScene()
		s.Moment.Cgroup.Limit = sample.Some(512 * mib)
		s.heap(200, 200, 290)
		s.noMark()
		s.charge()
		s.cycles(30, 4, 10, 20, 40, 70, 100, 150, 200)
		for i := range s.Cycles {
			s.Cycles[i].At = s.Start.Add(time.Duration(i) * time.Second)
		}
		for i, at := range s.Ticks.At {
			s.Ticks.HeapAlloc[i] = min(290, 30*at) * float64(mib)
		}
		s.site("example.org/shop/index.Load", "index.go", 31, 200, 0)
		return s
	}, []Class{Healthy}, Healthy},
	"a leak of one that frees nothing, and so collects seldom": {func() *scene {
		s := newScene()
		s.heap(130, 240, 243)
		s.killed()
		s.ramp(30, 60, 130)
		for i := range s.Ticks.HeapAlloc {
			s.Ticks.HeapAlloc[i] = 12 * float64(i+1) * float64(mib)
		}
		s.site("main.(*index).remember", "leak/main.go", 27, 238, 0)
		s.stand(10, 80, 1, 0)
		s.stand(20, 160, 0, 0)
		return s
	}, []Class{Leak}, Leak},
	"a cache that fills up and stays": {func() *scene {
		s := newScene()
		s.heap(100, 101, 150)
		s.charge()
		s.cycles(60, 10, 40, 70, 90, 98, 99, 100, 99, 100, 101, 100, 99, 100, 100)
		s.site("example.org/shop/cache.(*Cache).Put", "cache.go", 57, 90, 0.5)
		return s
	}, []Class{Healthy}, Healthy},
	"garbage with room for it": {func() *scene {
		s := newScene()
		s.Moment.Cgroup.Limit = sample.Some(sample.GiB)
		s.heap(150, 150, 290)
		s.charge()
		s.cycles(150, 150, 150, 151, 150, 149, 150, 150)
		return s
	}, []Class{Healthy}, Healthy},
	"a burst with room for it": {func() *scene {
		s := newScene()
		s.Moment.Cgroup.Limit = sample.Some(sample.GiB)
		s.heap(190, 200, 220)
		s.charge()
		s.cycles(100, 9, 150, 10, 160, 9, 190)
		s.site("example.org/shop/up.Load", "up.go", 7, 180, 0.8)
		s.inside("example.org/shop/up.Load", 3)
		return s
	}, []Class{Healthy}, Healthy},
	"a limit that the collector knows": {func() *scene {
		s := newScene()
		s.heap(150, 150, 210)
		s.p.Go.MemoryLimit = int64(225 * mib)
		s.charge()
		s.cycles(60, 150, 150, 151, 150, 149, 150, 150)
		return s
	}, nil, Inconclusive},
	"a limit for the collector that forgets C": {func() *scene {
		s := newScene()
		s.heap(90, 90, 180)
		s.native(60)
		s.p.Go.MemoryLimit = int64(230 * mib)
		s.killed()
		s.cycles(60, 90, 90, 91, 90, 89, 90, 90)
		return s
	}, []Class{GCUnaware}, GCUnaware},
	"C grows beside a collector that knows the limit": {func() *scene {
		s := newScene()
		s.heap(8, 8, 10)
		s.native(230)
		s.p.Go.MemoryLimit = int64(230 * mib)
		s.killed()
		s.cycles(6, 8, 8, 8, 8, 8, 8)
		return s
	}, []Class{Native}, Native},
	"a data set that is being loaded": {func() *scene {
		s := newScene()
		s.heap(160, 235, 243)
		s.killed()
		s.cycles(40, 4, 8, 16, 32, 64, 128, 160)
		s.site("example.org/shop/index.Load", "index.go", 31, 230, 0)
		s.inside("example.org/shop/index.Load", 1)
		s.stand(10, 60, 1, 0)
		s.stand(20, 110, 1, 0)
		return s
	}, nil, Inconclusive},
	"a published profile that remembers the burst before": {func() *scene {
		s := newScene()
		s.heap(120, 220, 240)
		s.killed()
		s.cycles(90, 4, 60, 70, 100, 120)
		up := s.site("example.org/shop/up.Load", "up.go", 7, 200, 0.7)
		up.Cycle, up.Since = 5, 100*mib
		s.inside("example.org/shop/up.Load", 4)
		s.Course = []Stand{{At: 10, Bytes: 60 * mib, Cycle: 1, Goroutines: true}, {At: 25, Bytes: 90 * mib, Cycle: 4, Calls: []int{2}, Goroutines: true}}
		return s
	}, []Class{Burst}, Burst},
	"many requests in flight at once": {func() *scene {
		s := newScene()
		s.heap(120, 210, 236)
		s.killed()
		s.cycles(40, 4, 60, 5, 70, 5, 40, 120)
		s.goroutines(12, 12, 12, 12, 12, 12, 12, 900, 2000)
		s.site("example.org/shop/export.CSV", "export.go", 88, 200, 0.4)
		s.waiting("example.org/shop/export.CSV", "export.go", 90, 1990, "IO wait", 6)
		return s
	}, []Class{Burst}, Burst},
	"requests in flight that came within a second": {func() *scene {
		s := newScene()
		s.Ticks.At = nil
		s.heap(120, 210, 236)
		s.killed()
		s.cycles(40, 4, 60, 5, 70, 5, 40, 120)
		for i := range s.Ticks.At {
			s.Ticks.At[i] = 30 - 0.05*float64(20-i)
		}
		s.goroutines(12, 2000)
		s.site("example.org/shop/export.CSV", "export.go", 88, 200, 0.4)
		s.waiting("example.org/shop/export.CSV", "export.go", 90, 1990, "chan receive", 1)
		return s
	}, []Class{Burst}, Burst},
	"a queue that grows, and whose goroutines end": {func() *scene {
		s := newScene()
		s.heap(120, 210, 236)
		s.killed()
		s.cycles(40, 4, 60, 5, 70, 5, 40, 120)
		s.goroutines(12, 1000, 2000)
		s.site("example.org/shop/export.CSV", "export.go", 88, 200, 0.4)
		s.waiting("example.org/shop/export.CSV", "export.go", 90, 1990, "semacquire", 4)
		return s
	}, []Class{Burst}, Burst},
	"a pool of many goroutines": {func() *scene {
		s := newScene()
		s.p.Residency.GoStacks = 60 * mib
		s.charge()
		s.cycles(10, 9, 10, 9.5, 10, 9, 10, 10, 9)
		s.goroutines(12, 20000, 20000, 20000, 20000, 20000, 20000)
		s.waiting("example.org/shop/pool.worker", "pool.go", 8, 20000, "chan receive", 29)
		return s
	}, []Class{Healthy}, Healthy},
	"a collector that does not know what the others take": {func() *scene {
		s := newScene()
		s.heap(60, 60, 118)
		s.killed()
		s.Moment.Cgroup.Stat.PageCache = mib
		s.charge()
		s.cycles(60, 60, 60, 61, 60, 59, 60, 60)
		s.beside(4712, "shop", true, 128)
		return s
	}, []Class{GCUnaware}, GCUnaware},
	"goroutines that pile up with no limit": {func() *scene {
		s := newScene()
		s.Moment.Cgroup, s.Ticks.Usage, s.Ticks.PageCache = nil, nil, nil
		s.heap(200, 210, 230)
		s.cycles(40, 10, 40, 80, 120, 160, 200)
		s.goroutines(12, 20000)
		s.site("example.org/shop/push.wait", "push.go", 12, 200, 0)
		s.waiting("example.org/shop/push.wait", "push.go", 14, 20000, "select", 28)
		s.stand(5, 60, 5000, 0)
		s.stand(20, 120, 12000, 0)
		return s
	}, []Class{Goroutines, Healthy}, Goroutines},
	"a leak with no limit": {func() *scene {
		s := leaking()
		s.Moment.Cgroup, s.Ticks.Usage, s.Ticks.PageCache = nil, nil, nil
		s.Events = s.Events[:1]
		s.At, s.Moment.Kind, s.p.Signal = "peak", sample.MomentMax, 0
		return s
	}, []Class{Leak, Healthy}, Leak},
	"growth in the first seconds only": {func() *scene {
		s := newScene()
		s.cycles(5, 4, 8)
		return s
	}, []Class{Healthy}, Healthy},
	"a leak too fast for the collector, with much of its heap free": {func() *scene {
		s := newScene()
		s.Moment.At = began.Add(300 * time.Millisecond)
		s.heap(200, 209, 218)
		s.p.Residency.GoIdle = 32 * mib
		s.killed()
		s.ramp(60, 200)
		s.site("main.(*index).remember", "leak/main.go", 27, 203, 0)
		s.running(1)
		return s
	}, nil, Inconclusive},
	"a program that was stopped for most of the time": {func() *scene {
		s := newScene()
		s.over(10*time.Minute, 600)
		s.cycles(10, noise(20, 9, 0)...)
		for i := range s.Cycles {
			if i < 18 {
				s.Cycles[i].At = s.Start.Add(time.Duration(i) * 3 * time.Second)
			}
		}
		for i := range s.Ticks.At {
			s.Ticks.CPU = append(s.Ticks.CPU, float64(min(i, 60)))
		}
		return s
	}, []Class{Healthy}, Healthy},
	"a run of one second": {func() *scene {
		s := newScene()
		s.over(time.Second, 10)
		s.cycles(3, 4, 5)
		return s
	}, []Class{Healthy}, Healthy},
	"a leak whose stacks are not known": {func() *scene {
		s := leaking()
		s.Sites[0].Function, s.Sites[0].File, s.Sites[0].Line, s.Sites[0].Stack = "", "", 0, nil
		return s
	}, []Class{Leak}, Leak},
	"a file that is read again and again at the limit": {func() *scene {
		s := newScene()
		s.Moment.Cgroup.Stat.PageCache = 230 * mib
		s.charge()
		s.cycles(10, 9, 10, 9, 10, 9, 10, 10, 9)
		for i, at := range s.Ticks.At {
			s.Ticks.Usage[i], s.Ticks.PageCache[i] = 255.5*float64(mib), 228*float64(mib)
			s.Ticks.Refaults = append(s.Ticks.Refaults, 4000*at)
			s.Ticks.Faults = append(s.Ticks.Faults, 100*at)
		}
		return s
	}, []Class{PageCache, Healthy}, PageCache},
	"a full limit of memory that is at rest": {func() *scene {
		s := newScene()
		s.heap(215, 216, 243)
		s.Moment.Cgroup.Stat.PageCache = 6 * mib
		s.charge()
		s.cycles(70, 50, 120, 180, 214, 215, 214, 215, 214, 215, 214, 215)
		for i, at := range s.Ticks.At {
			s.Ticks.Usage[i], s.Ticks.PageCache[i] = 255.5*float64(mib), 5*float64(mib)
			s.Ticks.Faults = append(s.Ticks.Faults, at)
		}
		return s
	}, []Class{Baseline}, Baseline},
	"much garbage from many lines": {func() *scene {
		s := newScene()
		s.heap(12, 12, 22)
		s.charge()
		s.collections(300, 12, 26, 12)
		s.work(1.5, 0.34, 420)
		s.allocator("example.org/shop/a.F", "a.go", 1, 1200, 0.1)
		s.allocator("example.org/shop/b.F", "b.go", 1, 1100, 0.09)
		return s
	}, []Class{Healthy}, Healthy},
	"much garbage that costs little": {func() *scene {
		s := newScene()
		s.heap(12, 12, 22)
		s.charge()
		s.collections(300, 12, 26, 12)
		s.work(4, 0.12, 420)
		s.allocator("example.org/shop/a.F", "a.go", 1, 11000, 0.9)
		return s
	}, []Class{Healthy}, Healthy},
	"a memory limit with room below it": {func() *scene {
		s := newScene()
		s.heap(150, 150, 190)
		s.p.Go.MemoryLimit, s.p.Go.HeapGoal = int64(225*mib), 210*mib
		s.charge()
		s.collections(400, 150, 210, 40)
		s.work(2, 0.2, 600)
		return s
	}, []Class{Healthy}, Healthy},
	"idle heap after a burst, with room for it": {func() *scene {
		s := newScene()
		s.Moment.Cgroup.Limit = sample.Some(sample.GiB)
		s.heap(30, 30, 50)
		s.p.Residency.GoIdle = 50 * mib
		s.charge()
		s.cycles(60, 30, 90, 30, 30, 30, 31, 30)
		return s
	}, []Class{Healthy}, Healthy},
	"buffers that are touched under a limit": {func() *scene {
		s := newScene()
		s.heap(350, 350, 360)
		s.p.Residency.GoObjects, s.p.Residency.Untouched = 240*mib, 120*mib
		s.killed()
		s.cycles(100, 345, 350, 350, 350, 350, 350, 350, 350)
		return s
	}, []Class{Baseline}, Baseline},
}
