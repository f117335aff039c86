package explain

import (
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// leakScenes are live heaps that grow.
var leakScenes = map[string]func() *scene{
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
		s.work(0.3, 0.02, 20)
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
		s.work(0.3, 0.02, 20)
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
		s.work(0.3, 0.02, 300)
		s.retained("")
		return s
	},
	"one of several processes leaks": oneOfSeveral,
	"one of several processes leaks, without a heap profile": func() *scene {
		s := oneOfSeveral()
		s.Sites, s.SiteView = nil, "none"
		s.Programs[0].HeapProfile = sample.HeapProfileOff
		s.Gaps = []sample.Gap{{What: "the heap profile of shop", Why: "its linker switched heap profiling off"}}
		s.work(0.3, 0.02, 20)
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
		for i := range s.Ticks.At { // the memory grows with it
			s.Ticks.Usage[i] *= float64(i+len(s.Ticks.At)/3) / float64(len(s.Ticks.At)*4/3)
			s.Ticks.Anon[i] *= float64(i+len(s.Ticks.At)/3) / float64(len(s.Ticks.At)*4/3)
		}
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
	"the reader of a connection that remembers": func() *scene {
		s := leaking()
		put := &s.Sites[0]
		put.Objects = 100_000
		put.Callers = []Caller{{put.Function, true, put.Bytes}, {"example.org/shop/wire.(*Conn).readLoop", true, put.Bytes}}
		s.p.Goroutines = nil
		s.inside("example.org/shop/wire.(*Conn).readLoop", 1)
		s.Sites[0].Course = []SiteSnapshot{{At: 1, Calls: []int{0, 0}, Goroutines: true}}
		for i := range 6 {
			s.Sites[0].Course = append(s.Sites[0].Course, SiteSnapshot{At: float64(5 + 4*i), Bytes: bytesOf(float64(30 + 30*i)), Calls: []int{i % 2, 1},
				Goroutines: true})
		}
		return s
	},
	"growth that came to rest where all is kept": func() *scene {
		s := newScene()
		s.Moment.Cgroup.Limit = sample.Some(600 * mib)
		s.heap(400, 410, 480)
		s.stopped()
		s.charge()
		s.early(80, 9, 12, 9, 14, 30, 62, 120, 240, 400)
		s.site("example.org/shop/wire.Assemble", "/build/shop/wire/wire.go", 99, 390, 0)
		s.Sites[0].Stack = []sample.Frame{{Func: "runtime.makeslice"}, {Func: "github.com/google/gopacket/tcpassembly.(*pageCache).grow"},
			{Func: "example.org/shop/wire.Assemble"}}
		s.stand(2, 200, 1, 0)
		s.stand(10, 200, 0, 0)
		return s
	},
	"a loop that remembers, in a function of its own": func() *scene {
		s := newScene()
		s.heap(150, 169, 247)
		s.killed()
		s.cycles(60, 8, 25, 42, 60, 75, 92, 110, 125, 140, 150)
		s.site("example.org/shop/words.Collect", "/build/shop/words/words.go", 97, 168, 0)
		s.Sites[0].Objects = 2700
		s.running(1)
		for i := range 12 {
			s.stand(float64(1+2*i), float64(14*i), 1-i%2, i%2)
		}
		s.work(0.3, 0.02, 20)
		return s
	},
}
