package explain

import (
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// quietHeap are live heaps and collectors that a hasty rule would accuse.
var quietHeap = map[string]quietRun{
	"a collector that has no room and little to do": {func() *scene {
		s := scenes["a collector that runs all the time"]()
		s.work(2, 0.07, 30)
		return s
	}, []Class{Healthy}, Healthy},
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
		s.work(0.9, 0.02, 0)
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
		s.work(0.3, 0.02, 20)
		return s
	}, []Class{Leak}, Leak},
	"little that came to rest where all is kept": {func() *scene {
		s := scenes["growth that came to rest where all is kept"]()
		s.Moment.Cgroup.Limit = sample.Some(16 * 1024 * mib)
		return s
	}, []Class{Healthy}, Healthy},
	"a cache that fills up and stays": {func() *scene {
		s := newScene()
		s.heap(100, 101, 150)
		s.charge()
		s.cycles(60, 10, 40, 70, 90, 98, 99, 100, 99, 100, 101, 100, 99, 100, 100)
		s.site("example.org/shop/cache.(*Cache).Put", "cache.go", 57, 90, 0.5)
		return s
	}, []Class{Healthy}, Healthy},
	"a job whose caches fill up until it ends": {func() *scene {
		s := newScene()
		s.heap(26, 26, 44)
		s.charge()
		s.ended(0)
		s.cycles(40, 4, 9, 14, 17, 18, 18.5, 19, 19.5, 20.3, 21.2, 22.5, 24, 26)
		s.Events[1].At = s.Moment.At.Add(time.Second)
		s.End = s.Events[1].At
		s.site("example.org/shop/streams.Open", "streams.go", 99, 12, 0.1)
		for at := range 9 {
			s.stand(float64(at), 1.3*float64(at), 0, 0)
		}
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
	"a limit that the collector knows": {func() *scene {
		s := newScene()
		s.heap(150, 150, 210)
		s.p.Go.MemoryLimit = int64(225 * mib)
		s.charge()
		s.cycles(60, 150, 150, 151, 150, 149, 150, 150)
		return s
	}, []Class{Healthy}, Healthy},
	"a limit for the collector that forgets C": {func() *scene {
		s := newScene()
		s.heap(90, 90, 180)
		s.native(60)
		s.p.Go.MemoryLimit = int64(230 * mib)
		s.killed()
		s.cycles(60, 90, 90, 91, 90, 89, 90, 90)
		return s
	}, []Class{GCUnaware}, GCUnaware},
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
	}, nil, Baseline},
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
	"a leak with no limit": {func() *scene {
		s := leaking()
		s.Moment.Cgroup, s.Ticks.Usage, s.Ticks.PageCache = nil, nil, nil
		s.Events = s.Events[:1]
		s.At, s.Moment.Kind, s.p.Signal = "peak", sample.MomentMax, 0
		return s
	}, []Class{Leak}, Leak},
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
	"a leak whose stacks are not known": {func() *scene {
		s := leaking()
		s.Sites[0].Function, s.Sites[0].File, s.Sites[0].Line, s.Sites[0].Stack = "", "", 0, nil
		return s
	}, []Class{Leak}, Leak},
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
	"data that was loaded early": {func() *scene {
		s := newScene()
		s.Moment.Cgroup.Limit = sample.Some(sample.GiB)
		s.heap(400, 410, 480)
		s.stopped()
		s.charge()
		s.early(80, 9, 12, 9, 14, 30, 62, 120, 240, 400)
		s.site("example.org/shop/index.Load", "index.go", 31, 390, 0)
		return s
	}, []Class{Healthy}, Healthy},
	"data that was loaded early, and as much again would not fit": {func() *scene {
		s := newScene()
		s.Moment.Cgroup.Limit = sample.Some(600 * mib)
		s.heap(400, 410, 480)
		s.stopped()
		s.charge()
		s.early(80, 9, 12, 9, 14, 30, 62, 120, 240, 400)
		s.site("example.org/shop/index.Load", "index.go", 31, 390, 0)
		s.stand(10, 200, 0, 0)
		return s
	}, []Class{Healthy}, Healthy},
	"growth to half the limit that nobody watched to its end": {func() *scene {
		s := newScene()
		s.Moment.Cgroup.Limit = sample.Some(600 * mib)
		s.heap(400, 410, 480)
		s.noMark()
		s.stopped()
		s.charge()
		s.early(80, 9, 12, 9, 14, 30, 62, 120, 240, 400)
		s.site("example.org/shop/index.Load", "index.go", 31, 390, 0)
		return s
	}, nil, Inconclusive},
	"a job that ends while rows are written, at a quarter of its limit": {func() *scene {
		s := newScene()
		s.Moment.Cgroup.Limit = sample.Some(sample.GiB)
		s.heap(120, 130, 240)
		s.noMark()
		s.charge()
		s.ended(0)
		s.cycles(200, 5, 15, 30, 40, 52, 65, 78, 90, 105, 120)
		s.site("example.org/shop/rows.Write", "rows.go", 60, 95, 0.4)
		return s
	}, []Class{Healthy}, Healthy},
	"a job that fills up and comes to its own end": {func() *scene {
		s := newScene()
		s.Moment.Cgroup.Limit = sample.Some(sample.GiB)
		s.heap(190, 212, 240)
		s.charge()
		s.Events[1].At = s.Moment.At
		s.ended(0)
		s.cycles(25, 10, 30, 50, 70, 90, 110, 130, 150, 170, 190)
		s.site("example.org/shop/rows.Read", "rows.go", 57, 200, 0.01)
		s.stand(10, 60, 1, 0)
		s.stand(20, 120, 0, 0)
		return s
	}, []Class{Healthy}, Healthy},
	"a job of minutes that keeps all it loads until it ends": {longJob, []Class{Healthy}, Healthy},
	"a tree that is loaded by calls that come and go": {func() *scene {
		return loading([]float64{12, 6, 18, 9, 39, 30, 26, 24, 17}, []float64{5, 10, 20, 44, 77, 125, 144, 175, 200})
	}, []Class{Burst}, Burst},
	"requests, some of which end and free what they held": {func() *scene {
		return loading([]float64{12, 6, 18, 9, 39, 30, 26, 24, 17}, []float64{5, 10, 60, 44, 77, 125, 144, 120, 200})
	}, []Class{Burst}, Burst},
	"uploads that grow while others end": {func() *scene {
		return loading([]float64{2, 8, 16, 24, 32, 39, 39, 36, 24}, []float64{5, 10, 20, 44, 77, 125, 144, 175, 200})
	}, []Class{Burst}, Burst},
	"a job that makes much garbage and keeps a little of it until it ends": {func() *scene {
		s := longJob()
		s.cycles(2000, 3, 60, 130, 210, 290, 370, 450, 530, 610, 700, 800, 900, 1000, 1100, 1200)
		s.retained("")
		return s
	}, []Class{Healthy}, Healthy},
	"a server of minutes that comes to its own end": {func() *scene {
		s := longJob()
		s.inside(accepts, 1)
		return s
	}, []Class{Leak}, Leak},
	"a program that was running when its watch began, until its own end": {func() *scene {
		s := longJob()
		s.Watched = true
		return s
	}, []Class{Leak, Healthy}, Leak},
	"buffers of a library's own goroutine":  {func() *scene { return readFor(0) }, []Class{Leak}, Leak},
	"buffers read for many calls in flight": {func() *scene { return readFor(500) }, []Class{Burst}, Burst},
	"buffers read for few calls":            {func() *scene { return readFor(5) }, []Class{Burst}, Burst},
	"buffers read for calls that always stood there": {func() *scene {
		s := readFor(500)
		s.Start = s.Start.Add(-2 * time.Minute)
		return s
	}, []Class{Burst}, Burst},
	"heavy garbage at one line of JSON": {func() *scene {
		s := newScene()
		s.heap(12, 12, 22)
		s.charge()
		s.collections(300, 12, 26, 12)
		s.work(2, 0.22, 420)
		s.allocator("example.org/shop/api.Decode", "api.go", 20, 9000, 0.72, "runtime.mallocgc", "encoding/json.Unmarshal")
		return s
	}, []Class{Healthy}, Healthy},
	"patterns compiled again at little cost": {func() *scene {
		s := newScene()
		s.heap(12, 12, 22)
		s.charge()
		s.collections(300, 12, 26, 12)
		s.work(2, 0.1, 420)
		s.allocator("example.org/shop/formats.Match", "formats.go", 48, 9000, 0.72, "runtime.mallocgc", "regexp.compile", "regexp.MustCompile")
		return s
	}, []Class{Churn, Healthy}, Churn},
	"a last collection that was not read as it ended": {func() *scene {
		s := leaking()
		s.Events = s.Events[:1]
		s.At, s.Moment.Kind, s.p.Signal = "peak", sample.MomentMax, 0
		s.Moment.Cgroup.Limit = sample.Some(sample.GiB)
		s.noMark()
		s.p.Go.NumGC, s.p.Go.HeapMarked, s.p.Go.LastGC = 11, 30*mib, s.Moment.At.Add(-time.Second)
		return s
	}, []Class{Healthy}, Healthy},
	"much idle heap at the end of a short job": {func() *scene {
		s := newScene()
		s.heap(30, 30, 50)
		s.p.Residency.GoIdle = 150 * mib
		s.charge()
		s.cycles(60, 30, 180, 30, 30, 30, 31, 30)
		return s
	}, []Class{Healthy}, Healthy},
	"garbage beside a live heap that only ever rose": {func() *scene {
		s := leakScenes["a loop that remembers, in a function of its own"]()
		s.Sites[0].Course = s.Sites[0].Course[:4]
		s.stand(29, 150, 1, 0)
		return s
	}, []Class{Leak}, Leak},
	"garbage over a live heap that was loaded early": {func() *scene {
		s := newScene()
		s.heap(160, 161, 244)
		s.killed()
		s.early(80, 9, 12, 20, 30, 62, 120, 159, 160)
		s.site("example.org/shop/arena.New", "arena.go", 40, 158, 0)
		return s
	}, []Class{GCUnaware}, GCUnaware},
	"garbage over a live heap of which there are few readings": {func() *scene {
		s := newScene()
		s.heap(160, 161, 244)
		s.killed()
		s.cycles(80, 9, 159, 160)
		s.site("example.org/shop/arena.New", "arena.go", 40, 158, 0)
		return s
	}, []Class{GCUnaware}, GCUnaware},
	"garbage over a live heap that a mark counted, after a jump": {func() *scene {
		s := newScene()
		s.heap(130, 150, 244)
		s.killed()
		s.cycles(200, 63)
		s.site("example.org/shop/arena.New", "arena.go", 40, 158, 0)
		return s
	}, []Class{GCUnaware}, GCUnaware},
}

// readFor is a heap of what gRPC read from a connection for so many calls.
func readFor(calls int) *scene {
	const readFrame = "google.golang.org/grpc/internal/transport.(*framer).readFrame"
	s := newScene()
	s.heap(190, 212, 240)
	s.killed()
	s.cycles(25, 10, 30, 50, 70, 90, 110, 130, 150, 170, 190)
	get := s.site("google.golang.org/grpc/internal/mem.(*sizedBufferPool).Get", "mem/buffer_pool.go", 243, 200, 0)
	get.Own = false
	get.Callers = []Caller{{get.Function, false, get.Bytes}, {readFrame, false, get.Bytes}}
	s.inside(readFrame, 2)
	if calls > 0 {
		get.Awaited = &Awaited{sample.Place{Function: "example.org/shop/sync.All", File: "sync.go", Line: 46}}
		get.Callers = append(get.Callers, Caller{"example.org/shop/sync.table", true, get.Bytes}, Caller{get.Awaited.Function, true, get.Bytes})
		s.inside("example.org/shop/sync.table", calls)
		s.inside(get.Awaited.Function, calls)
	}
	for at := range 6 {
		s.Sites[0].Course = append(s.Sites[0].Course, SiteSnapshot{At: float64(at), Bytes: bytesOf(float64(at * at * at)), Calls: []int{0, 2, calls, calls},
			Goroutines: true})
	}
	return s
}

// longJob is a program that reads a large tree for two minutes, keeps a quarter of
// all that it allocates, and ends.
func longJob() *scene {
	s := newScene()
	s.Moment.Cgroup.Limit = sample.Opt[sample.Bytes]{}
	s.heap(1200, 1300, 2100)
	s.charge()
	s.over(2*time.Minute, 100)
	for i := range s.Ticks.At { // the memory grows with what it loads
		s.Ticks.Usage[i] *= float64(i+5) / 105
		s.Ticks.Anon[i] *= float64(i+5) / 105
	}
	s.ended(0)
	s.cycles(300, 3, 60, 130, 210, 290, 370, 450, 530, 610, 700, 800, 900, 1000, 1100, 1200)
	s.site("example.org/shop/tree.(*Loader).load", "tree.go", 1273, 465, 0.2)
	s.inside("example.org/shop/tree.(*Loader).wait", 1)
	s.stand(60, 200, 8, 0)
	s.stand(90, 300, 0, 0)
	return s
}

// loading is a program killed in its first rise, while 20 calls were in flight: so many
// calls were at moments before it, and so much was published as held. More than half
// of what the line allocated was freed.
func loading(calls, held []float64) *scene {
	s := newScene()
	s.heap(205, 220, 236)
	s.killed()
	s.cycles(40, 4, 11, 19, 31, 50, 79, 125, 160, 185, 205)
	s.site("example.org/shop/tree.(*Loader).load", "tree.go", 1273, 200, 0.6).Cycle = 14
	for i := range calls {
		s.stand(1+3*float64(i), held[i], int(calls[i]), 1)
		s.Sites[0].Course[i].Cycle = uint32(i + 4)
	}
	s.inside("example.org/shop/tree.(*Loader).load", 20)
	s.running(1)
	return s
}
