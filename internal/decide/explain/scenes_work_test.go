package explain

import (
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// workScenes are work in flight, and what piles up with it.
var workScenes = map[string]func() *scene{
	"a queue that fills faster than it is emptied": func() *scene {
		s := leaking()
		s.site("example.org/shop/jobs.Read", "/build/shop/jobs/jobs.go", 31, 190, 0.5)
		s.Sites = s.Sites[len(s.Sites)-1:]
		s.stand(10, 60, 0, 0)
		s.stand(20, 120, 0, 0)
		s.retained("")
		s.Heap.Collections = []sample.HeapCollection{{Path: "main.store.items", Kind: "channel", Type: "chan *jobs.Job", Count: 1, Entries: 9000, Room: 10000,
			Bytes: 180 * mib}}
		s.waiting("example.org/shop/jobs.Read", "/build/shop/jobs/jobs.go", 31, 4, "chan send", 3)
		return s
	},
	"burst of uploads": func() *scene {
		s := newScene()
		s.heap(150, 203, 228)
		s.native(10)
		s.killed()
		s.cycles(60, 9, 70, 9, 75, 10, 9, 80, 150)
		up := s.site("example.org/shop/handlers.(*Server).Upload", "/build/shop/handlers/upload.go", 172, 192, 0.7)
		up.Stack = []sample.Frame{{Func: "bytes.growSlice", File: "bytes/buffer.go", Line: 249},
			{Func: "mime/multipart.(*Reader).readForm", File: "mime/multipart/formdata.go", Line: 150},
			{Func: "net/http.(*Request).ParseMultipartForm", File: "net/http/request.go", Line: 1390}, {Func: up.Function, File: up.File, Line: 172}}
		s.inside(up.Function, 3)
		s.stand(5, 60, 1, 0)
		s.stand(15, 64, 1, 0)
		return s
	},
	"an upload killed in its first rise": func() *scene {
		s := newScene()
		s.heap(120, 200, 236)
		s.killed()
		s.ramp(5, 20, 60, 100, 140, 160, 180)
		up := s.site("example.org/shop/handlers.(*Server).Upload", "/build/shop/handlers/upload.go", 172, 190, 0)
		up.Stack = append(up.Stack, sample.Frame{Func: "net/http.serverHandler.ServeHTTP", File: "net/http/server.go", Line: 3200},
			sample.Frame{Func: "net/http.(*conn).serve", File: "net/http/server.go", Line: 2100})
		s.inside(up.Function, 1)
		s.stand(10, 100, 1, 0)
		s.stand(20, 150, 1, 0)
		return s
	},
	"requests that held it all before the first look": func() *scene {
		s := newScene()
		s.heap(190, 215, 236)
		s.killed()
		s.cycles(300, 188)
		s.Cycles[0].N = 5
		up := s.site("example.org/shop/handlers.(*Server).Upload", "/build/shop/handlers/upload.go", 172, 180, 0)
		up.Stack = append(up.Stack, sample.Frame{Func: "net/http.serverHandler.ServeHTTP", File: "net/http/server.go", Line: 3200},
			sample.Frame{Func: "net/http.(*conn).serve", File: "net/http/server.go", Line: 2100})
		s.inside(up.Function, 36)
		s.stand(10, 100, 36, 0)
		s.stand(20, 180, 36, 0)
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
			s.p.Goroutines = append(s.p.Goroutines, sample.GoroutineGroup{State: "waiting", Reason: "select", Count: 9990, Stack: []uint64{1}, StackBytes: 40 * mib,
				Oldest:    29 * time.Second,
				CreatedAt: sample.Location{Frames: []sample.Frame{{Func: "net/http.(*Transport).dialConn", File: "net/http/transport.go", Line: 1945 + i}}},
				Where: []sample.Location{{Frames: []sample.Frame{{Func: "runtime.gopark"}}},
					{Frames: []sample.Frame{{Func: function, File: "net/http/transport.go", Line: 2200}}}}})
		}
		s.p.Goroutines = append(s.p.Goroutines, sample.GoroutineGroup{State: "waiting", Reason: "select", Count: 3, Stack: []uint64{1}, Where: []sample.Location{
			{Frames: []sample.Frame{{Func: "net/http.(*Client).Do"}}}, {Frames: []sample.Frame{{Func: "example.org/shop/price.fetch", File: "/build/shop/price/price.go",
				Line: 20}}}}})
		return s
	},
	"rows that outlive the function that read them": func() *scene {
		s := newScene()
		s.heap(60, 200, 230)
		s.killed()
		s.cycles(60, 20, 45, 45, 46, 50, 60)
		read := s.site("example.org/shop/store.(*Table).read", "/build/shop/store/table.go", 142, 120, 0.8)
		read.Callers = []Caller{{read.Function, true, 120 * mib}, {"example.org/shop/list.(*Server).List", true, 180 * mib},
			{"google.golang.org/grpc.(*Server).processUnaryRPC", false, 182 * mib}}
		s.inside("example.org/shop/list.(*Server).List", 38)
		s.inside("google.golang.org/grpc.(*Server).processUnaryRPC", 40)
		s.Sites[0].Course = []SiteSnapshot{{At: 5, Bytes: 2 * mib, Calls: []int{0, 0, 0}, Goroutines: true},
			{At: 20, Bytes: 50 * mib, Calls: []int{0, 12, 12}, Goroutines: true}, {At: 25, Bytes: 100 * mib, Calls: []int{1, 34, 36}, Goroutines: true}}
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
	"a value that is read whole": func() *scene {
		s := newScene()
		s.heap(90, 161, 236)
		s.p.Go.HeapGoal = 180 * mib
		s.killed()
		s.cycles(60, 16, 66, 66, 87)
		read := s.site("example.org/shop/bodies.Read", "/build/shop/bodies/bodies.go", 57, 160, 0.7)
		read.Stack = []sample.Frame{{Func: "runtime.growslice"}, {Func: "io.ReadAll", File: "io/io.go", Line: 734}, {Func: read.Function, File: read.File, Line: 57}}
		read.Largest, read.AsLarge = 64*mib, 1
		s.running(1)
		s.allocator(read.Function, read.File, 57, 474, 0.98, "runtime.growslice", "io.ReadAll")
		s.Allocators[0].Since = 150 * mib
		return s
	},
	"a value that is being filled": func() *scene { // nobody was seen at it, and it only ever rose
		s := newScene()
		s.heap(211, 374, 375)
		s.p.Residency.GoKnown, s.p.Residency.Untouched, s.p.Residency.UntouchedNew = true, 129*mib, 126*mib
		s.p.Residency.GoObjects = 246 * mib
		s.charge()
		s.killed()
		s.cycles(95, 16, 45, 94, 211)
		read := s.site("example.org/shop/bodies.Read", "/build/shop/bodies/bodies.go", 57, 371, 0)
		read.Stack = []sample.Frame{{Func: "io.ReadAll", File: "io/io.go", Line: 734}, {Func: read.Function, File: read.File, Line: 57}}
		read.Largest, read.AsLarge = 160*mib, 1
		s.running(1)
		s.stand(20, 94, 0, 0)
		return s
	},
	"work in flight in one of several processes": func() *scene {
		s := newScene()
		s.heap(60, 78, 90)
		s.killed()
		s.Moment.Cgroup.Stat.PageCache = mib
		s.charge()
		s.cycles(30, 30, 42, 31, 45, 32, 48, 31, 60)
		s.beside(4712, "shop", true, 148)
		rows := s.site("example.org/shop/rows.Send", "/build/shop/rows/rows.go", 73, 66, 0.6)
		rows.Stack = append(rows.Stack, sample.Frame{Func: "google.golang.org/grpc.(*Server).handleStream", File: "grpc/server.go", Line: 1595})
		s.inside(rows.Function, 93)
		s.stand(10, 4, 1, 0)
		s.stand(20, 35, 44, 0)
		return s
	},
	"values that are read whole, three at once": func() *scene {
		s := newScene()
		s.heap(130, 240, 243)
		s.killed()
		s.ramp(20, 130)
		s.cycles(60, 16, 17, 16, 66, 130)
		read := s.site("example.org/shop/bodies.Read", "/build/shop/bodies/bodies.go", 57, 217, 0)
		read.Stack = []sample.Frame{{Func: "runtime.growslice"}, {Func: "io.ReadAll", File: "io/io.go", Line: 746}, {Func: read.Function, File: read.File, Line: 57}}
		read.Largest, read.AsLarge = 31*mib, 2
		s.inside(read.Function, 1)
		s.running(2)
		return s
	},
	"buffers in flight that are hardly touched": func() *scene {
		s := newScene()
		s.heap(600, 626, 826)
		s.p.Residency.GoObjects, s.p.Residency.Untouched = 216*mib, 610*mib
		s.killed()
		s.cycles(300, 9, 40, 120, 330, 600)
		s.site("example.org/shop/uploads.stream", "/build/shop/uploads/uploads.go", 71, 620, 0)
		s.inside("example.org/shop/uploads.stream", 124)
		s.stand(5, 60, 12, 0)
		s.stand(20, 200, 60, 0)
		return s
	},
}
