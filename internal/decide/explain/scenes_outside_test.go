package explain

import (
	"fmt"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// outsideScenes are of memory outside the Go heap, of none, and of what was not seen.
var outsideScenes = map[string]func() *scene{
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
	"a tool that a Go program starts": func() *scene {
		s := newScene()
		s.heap(4, 4, 6)
		s.killed()
		s.Moment.Cgroup.Stat.PageCache = mib
		s.charge()
		s.cycles(2, 3, 4, 4, 4, 4, 4)
		s.beside(4712, "sort", false, 225)
		s.Programs[1].Parent = subject.PID
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
	"tmpfs": func() *scene {
		s := newScene()
		s.Moment.Cgroup.Stat.Shmem = 230 * mib
		s.killed()
		s.cycles(10, 9, 10, 9.5, 10, 9, 10)
		return s
	},
	"a tmpfs full of files": func() *scene {
		s := newScene()
		s.Moment.Cgroup.Stat.Shmem = 230 * mib
		s.killed()
		s.cycles(10, 9, 10, 9.5, 10, 9, 10)
		var files []sample.FilePages
		for i := range 25 {
			files = append(files, sample.FilePages{Path: fmt.Sprintf("/dev/shm/frames/%02d.tmp", i), Kind: sample.FileTmpfs, Size: 9 * mib, Resident: 9 * mib,
				Charged: sample.Some[sample.Bytes](9 * mib)})
		}
		s.files(append(files, sample.FilePages{Path: "/memfd:ring", Kind: sample.FileMemfd, Deleted: true, Resident: 3 * mib, Process: subject, Descriptors: 1})...)
		return s
	},
	"a write-ahead log that is never checkpointed": func() *scene {
		s := newScene()
		s.Moment.Cgroup.Stat.PageCache = 237 * mib
		s.charge()
		s.Moment.Cgroup.Events = &sample.CgroupEvents{Max: 1298}
		s.cycles(10, 9, 10, 9, 10, 9, 10, 10, 9)
		s.files(sample.FilePages{Path: "/data/orders.db-wal", Kind: sample.FileCache, Size: 250 * mib, Resident: 180 * mib,
			Dirty: sample.Some[sample.Bytes](90 * mib), Process: subject, Descriptors: 2},
			sample.FilePages{Path: "/data/orders.db", Kind: sample.FileCache, Size: 90 * mib, Resident: 90 * mib, Dirty: sample.Some[sample.Bytes](0), Process: subject,
				Descriptors: 2})
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
	"a program that never collected": func() *scene {
		s := newScene()
		s.heap(0, 3, 3)
		s.noMark()
		s.charge()
		s.Cycles = nil
		s.over(30*time.Second, 60)
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
		s.over(30*time.Second, 60)
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
		s.Gaps = []sample.Gap{{What: "the state at the exit of shop", Why: "refused: ptrace_scope is 1"}}
		return s
	},
	"nothing could be read": func() *scene {
		s := newScene()
		s.Moment.Cgroup, s.Moment.Processes, s.Ticks = nil, nil, Ticks{}
		return s
	},
}
