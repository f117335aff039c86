package explain

import (
	"math"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// quietWork are work in flight, and all the rest.
var quietWork = map[string]quietRun{
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
	"C grows beside a collector that knows the limit": {func() *scene {
		s := newScene()
		s.heap(8, 8, 10)
		s.native(230)
		s.p.Go.MemoryLimit = int64(230 * mib)
		s.killed()
		s.cycles(6, 8, 8, 8, 8, 8, 8)
		return s
	}, []Class{Native}, Native},
	"a published profile that remembers the burst before": {func() *scene {
		s := newScene()
		s.heap(120, 220, 240)
		s.killed()
		s.cycles(90, 4, 60, 70, 100, 120)
		up := s.site("example.org/shop/up.Load", "up.go", 7, 200, 0.7)
		up.Cycle, up.Since = 5, 100*mib
		s.inside("example.org/shop/up.Load", 4)
		s.Sites[0].Course = []SiteSnapshot{{At: 10, Bytes: 60 * mib, Cycle: 1, Goroutines: true},
			{At: 25, Bytes: 90 * mib, Cycle: 4, Calls: []int{2}, Goroutines: true}}
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
	"calls that stand still, and all that they hold came at the end": {func() *scene {
		s := newScene()
		s.over(5*time.Minute, 300)
		s.heap(120, 200, 236)
		s.killed()
		s.ramp(5, 10, 20, 40, 60, 80, 100, 120, 140, 160)
		s.site("example.org/shop/encode.Write", "encode.go", 30, 190, 0)
		s.inside("example.org/shop/encode.Write", 30)
		s.stand(5, 0, 0, 1)
		s.stand(20, 40, 30, 0)
		s.stand(200, 40, 30, 0)
		return s
	}, []Class{Burst}, Burst},
	"a report that was made once, and hardly anything since": {func() *scene {
		s := newScene()
		s.Moment.Cgroup.Limit = sample.Some(sample.GiB)
		s.heap(64, 72, 95)
		s.charge()
		s.early(20, 6, 18, 26, 46, 64)
		s.work(0.1, 0.1, 0)
		for i, at := range s.Ticks.At {
			s.Ticks.Alloc[i] = min(at, 3) * 40 * float64(mib)
		}
		s.stopped()
		s.site("example.org/shop/report.Rows", "report.go", 17, 66, 0.2)
		s.stand(10, 42, 0, 1)
		return s
	}, []Class{Healthy}, Healthy},
	"a leak that stands at its limit before it is killed": {func() *scene {
		s := newScene()
		s.heap(150, 180, 236)
		s.killed()
		s.cycles(40, 5, 20, 40, 60, 80, 100, 120, 150)
		s.work(0.5, 0.1, 0)
		for i, at := range s.Ticks.At {
			s.Ticks.Alloc[i] = min(at, 15) * 24 * float64(mib)
		}
		s.site("example.org/shop/store.Keep", "store.go", 9, 170, 0)
		s.stand(10, 60, 0, 0)
		s.stand(14, 120, 0, 0)
		s.work(0.3, 0.02, 20)
		return s
	}, []Class{Leak}, Leak},
	"patterns compiled for every value, by a program that hardly gets to run": {func() *scene {
		s := scenes["patterns compiled for every value"]()
		s.work(0.1, 0.3, 20)
		return s
	}, []Class{Churn, Healthy}, Churn},
	"objects of requests that have ended":        {func() *scene { return stored(2, 1, 2, 1) }, []Class{Leak}, Leak},
	"objects of requests that are all in flight": {func() *scene { return stored(1, 2, 2, 2) }, []Class{Burst}, Burst},
	"goroutines of which few could be read before their memory went": {func() *scene {
		s := newScene()
		s.heap(100, 140, 160)
		s.p.Residency.GoStacks = 85 * mib
		s.killed()
		s.goroutines(12, 20000, 40000)
		s.site("example.org/shop/push.wait", "push.go", 12, 130, 0)
		s.waiting("example.org/shop/push.wait", "push.go", 14, 1000, "chan receive", 29)
		s.retained("")
		return s
	}, []Class{Goroutines}, Goroutines},
	"goroutines of which hardly any could be read": {func() *scene {
		s := newScene()
		s.heap(100, 140, 160)
		s.p.Residency.GoStacks = 85 * mib
		s.killed()
		s.goroutines(12, 20000, 40000)
		s.site("example.org/shop/push.wait", "push.go", 12, 130, 0)
		s.waiting("example.org/shop/push.wait", "push.go", 14, 40, "chan receive", 29)
		return s
	}, []Class{Burst}, Burst},
	"a collector that is off, and no mark": {func() *scene {
		s := newScene()
		s.heap(4, 240, 244)
		s.p.Go.GOGC, s.p.Go.HeapGoal = -1, 1<<62
		s.noMark()
		s.killed()
		s.site("example.org/shop/parse.File", "parse.go", 12, 40, 0)
		return s
	}, nil, Inconclusive},
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
	"values that were read whole and are kept": {func() *scene {
		s := workScenes["a value that is read whole"]()
		s.Sites[0].Largest, s.Sites[0].AsLarge = 39*mib, 4
		return s
	}, nil, Inconclusive},
	"a leak in a loop that began just after the program": {func() *scene { return inOneCall("example.org/shop/main.run") }, []Class{Leak}, Leak},
	"requests that began together and have ended": {func() *scene {
		s := newScene()
		s.Moment.Cgroup.Limit = sample.Some(sample.GiB)
		s.heap(190, 212, 240)
		s.noMark()
		s.stopped()
		s.charge()
		s.cycles(25, 10, 30, 50, 70, 90, 110, 130, 150, 170, 190)
		s.site("example.org/shop/rows.Read", "rows.go", 57, 200, 0.3)
		s.stand(1, 0, 125, 0)
		s.stand(2, 1, 125, 0)
		s.stand(12, 100, 125, 0)
		s.stand(20, 150, 125, 0)
		return s
	}, nil, Inconclusive},
	"calls that were many at the peak and ended later": {func() *scene {
		s := newScene()
		s.heap(100, 140, 160)
		s.charge()
		s.cycles(15, 10, 20, 40, 60, 80, 100)
		s.goroutines(12, 100, 200)
		s.waiting("example.org/shop/rows.Read", "rows.go", 14, 180, "chan receive", 29)
		s.Ticks.At = append(s.Ticks.At, 33, 36)
		s.Ticks.Goroutines = append(s.Ticks.Goroutines, 90, 14)
		for _, column := range []*[]float64{&s.Ticks.Usage, &s.Ticks.PageCache, &s.Ticks.Anon, &s.Ticks.Native, &s.Ticks.HeapLive, &s.Ticks.HeapAlloc,
			&s.Ticks.Available} {
			*column = append(*column, math.NaN(), math.NaN())
		}
		return s
	}, []Class{Healthy}, Healthy},
	"a value that is read whole, over a goal past the limit": {func() *scene {
		s := workScenes["a value that is read whole"]()
		s.p.Go.HeapGoal = 320 * mib
		s.Sites[0].Allocated, s.Sites[0].Freed, s.Sites[0].Since = 42*mib, 0, 210*mib
		s.Allocators[0].Garbage = 95 * mib
		return s
	}, []Class{Burst}, Burst},
	"calls of a burst that had just ended": {func() *scene {
		s := newScene()
		s.heap(400, 186, 400)
		s.p.Residency.GoObjects, s.p.Residency.Untouched = 240*mib, 160*mib
		s.p.Go.HeapGoal = 800 * mib
		s.killed()
		s.cycles(300, 20, 21, 20, 22, 20, 400)
		s.site("example.org/shop/pictures.Resize", "pictures.go", 203, 186, 0.6)
		s.inside("example.org/shop/pictures.Resize", 93)
		return s
	}, []Class{Burst}, Burst},
	"hundreds of requests that all began at the start": {func() *scene {
		s := newScene()
		s.heap(120, 210, 236)
		s.killed()
		s.cycles(40, 4, 9, 20, 40, 80, 120)
		s.goroutines(400, 507, 507, 507, 507, 507, 507, 507, 507)
		rows := s.site("example.org/shop/rows.Write", "rows.go", 60, 200, 0.4)
		rows.Stack = append(rows.Stack, sample.Frame{Func: "google.golang.org/grpc.(*Server).handleStream"})
		s.inside(rows.Function, 498)
		return s
	}, []Class{Burst}, Burst},
}

// stored is a server killed in its first rise: equal objects of 1 MiB were allocated
// for requests, of which so many were in flight at early moments and two at the kill.
func stored(inFlight ...int) *scene {
	s := newScene()
	s.heap(120, 200, 236)
	s.killed()
	s.ramp(5, 20, 60, 100, 140, 160, 180)
	at := s.site("example.org/shop/store.Read", "store.go", 39, 190, 0)
	at.Largest, at.AsLarge = mib, 190
	at.Stack = append(at.Stack, sample.Frame{Func: "net/http.serverHandler.ServeHTTP"}, sample.Frame{Func: "net/http.(*conn).serve"})
	s.inside(at.Function, 2)
	for i, n := range inFlight {
		s.stand(float64(5+i), 20, n, 0)
	}
	return s
}

// inOneCall is a heap that only rose, in a call that was not there yet when the program
// had hardly begun, and that never ended; the line's own function ended each time.
func inOneCall(outermost string) *scene {
	s := newScene()
	s.heap(190, 212, 220)
	s.killed()
	s.cycles(25, 4, 13, 30, 50, 70, 90, 110, 130, 150, 170, 190)
	site := s.site("example.org/shop/index.(*Index).Add", "index.go", 27, 200, 0)
	site.Objects = 800
	site.Callers = []Caller{{site.Function, true, site.Bytes}, {"example.org/shop/index.Fill", true, site.Bytes}}
	site.Stack = append(site.Stack, sample.Frame{Func: "example.org/shop/index.Fill"}, sample.Frame{Func: outermost})
	s.inside("example.org/shop/index.Fill", 1)
	for at := range 24 {
		s.Sites[0].Course = append(s.Sites[0].Course, SiteSnapshot{At: float64(at), Bytes: bytesOf(8 * float64(at+1)), Calls: []int{0, min(at, 1)}, Goroutines: true})
	}
	return s
}
