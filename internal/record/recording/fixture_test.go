package recording

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

var (
	start  = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)
	server = sample.ProcessKey{PID: 4242, Start: 991}
	shell  = sample.ProcessKey{PID: 4241, Start: 990}
)

var meta = Meta{Tool: "0.1", Command: []string{"server", "--token=***"}, Host: "h1", BootID: "b-1", Kernel: "6.18", CPUs: 2,
	PageSize: 4096, Limit: sample.Some(256 * sample.MiB), At: start, More: map[string]string{"cgroup": "v2"}}

// create makes a recording that is verified when the test ends.
func create(t testing.TB, meta Meta) (*Writer, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test recording?#%41.hwm")
	w, err := Create(path, meta)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		closed := w.db == nil
		w.Close()
		if err := Verify(path); err != nil && !(closed && errors.Is(err, ErrUnfinished)) {
			t.Errorf("Verify: %v", err)
		}
	})
	return w, path
}

func open(t testing.TB, path string) *Reader {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// told is everything that a writer was given, for comparison with what a reader
// says.
type told struct {
	programs []sample.Program
	sites    []sample.Site
	points   []*sample.Point
	cycles   []sample.GCCycle
	events   []sample.Event
	gaps     []sample.Gap
	moments  []*sample.Moment
	profiles []*sample.HeapProfile // those of moments too
}

// story makes up a watch of n ticks, in which everything occurs, and writes it.
func story(t testing.TB, w *Writer, n int) *told {
	t.Helper()
	s := &told{programs: programs, sites: makeSites(n)}
	for _, p := range s.programs {
		must(t, w.Program(p))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var counts []sample.BucketCounts
	for i := range n {
		p := makePoint(i)
		s.points = append(s.points, p)
		must(t, w.Point(p))
		if i < len(s.sites) {
			must(t, w.Sites(server, i, s.sites[i:i+1]))
			counts = append(counts, sample.BucketCounts{})
		}
		c := &counts[rng.IntN(len(counts))]
		c.NowAllocs += rng.Uint64N(50)
		c.PubAllocs += rng.Uint64N(c.NowAllocs - c.PubAllocs + 1)
		switch i % 5 {
		case 0:
			h := profile(i, counts)
			s.profiles = append(s.profiles, h)
			must(t, w.Heap(server, h))
		case 1:
			c := sample.GCCycle{At: p.At, Process: server, N: uint32(i), Missed: 1, Trigger: 2, Marked: 3, Goal: 4, Pause: 5, GOGC: 100, Limit: sample.NoMemoryLimit,
				Alloc: 9}
			s.cycles = append(s.cycles, c)
			must(t, w.Cycle(c))
		case 2:
			e := sample.Event{At: p.At, Kind: sample.EventNote, Value: int64(i), Text: fmt.Sprint("note ", i)}
			if i%2 == 0 {
				e.Process = server
			}
			s.events = append(s.events, e)
			must(t, w.Event(e))
		case 3:
			g := sample.Gap{From: p.At, Process: server, What: "heap profile", Why: fmt.Sprint("because ", i)}
			s.gaps = append(s.gaps, g)
			must(t, w.Gap(g))
		case 4:
			m := makeMoment(i, profile(i, counts), s.sites)
			s.profiles = append(s.profiles, m.Processes[0].Profile)
			s.moments = append(s.moments, m)
			must(t, w.Moment(m))
		}
	}
	return s
}

var programs = []sample.Program{
	{Key: shell, Parent: 1, Name: "sh", Exe: "/bin/sh", Args: []string{"sh", "-c", "server"}, HeapProfile: sample.HeapProfileUnknown, WhyNot: "no Go program"},
	{Key: server, Parent: 4241, Name: "server", Exe: "/srv/server", Args: []string{"server"}, HeapProfile: sample.HeapProfileOn,
		Go: &sample.GoProgram{Version: "go1.26.8", Experiments: []string{"nogreenteagc"}, Module: "example.org/server", ModuleVersion: "v1.2.3",
			MainPackage: "example.org/server/cmd/server", Revision: "abc", BuildID: "xyz/123", Arch: "amd64", PIE: true, Stripped: true,
			FoundBy: "signatures of go1.26.8, 0 of 2913 votes against",
			Deps:    []sample.Module{{Path: "example.org/dep", Version: "v0.1.0"}}}},
}

func profile(i int, counts []sample.BucketCounts) *sample.HeapProfile {
	return &sample.HeapProfile{At: start.Add(time.Duration(i) * 100 * time.Millisecond), Rate: 524288, Cycle: uint32(i),
		Counts: append([]sample.BucketCounts(nil), counts...)}
}

func makeSites(n int) []sample.Site {
	sites := make([]sample.Site, n)
	for i := range sites {
		frame := sample.Frame{Func: fmt.Sprint("example.org/server.f", i/2), File: "server.go", Line: i, StartLine: 1}
		sites[i] = sample.Site{Size: sample.Bytes(16 * (i%40 + 1)), Stack: []sample.Location{
			{Address: uint64(0x401000 + i), Frames: []sample.Frame{{Func: "inlined", File: "in.go", Line: 3, StartLine: 2}, frame}},
			{Address: 0x400000 + uint64(i%7)}, // nothing is known of it
			{Address: 0x400100, Frames: []sample.Frame{{Func: "main.main", File: "main.go", Line: 9, StartLine: 7}}},
		}}
	}
	return sites
}

// makePoint is a tick in which everything is seen, or, now and then, nothing.
func makePoint(i int) *sample.Point {
	p := &sample.Point{At: start.Add(time.Duration(i) * 100 * time.Millisecond)}
	resident := &sample.Resident{Total: sample.Bytes(1<<20 + i), Shared: 7, Threads: 3, User: 4, System: 5, Majflt: 6}
	if i%7 == 6 {
		p.Processes = []sample.Process{{Key: server}}
		return p
	}
	p.Cgroup = makeCgroup(i)
	p.Pressure = &sample.Pressure{Some10: 0.25, Full10: 1.5, SomeTotal: 3, FullTotal: 4}
	p.Host = &sample.Host{Total: 1 << 33, Available: 1 << 32}
	p.Processes = []sample.Process{{Key: shell, Resident: resident}, {Key: server, Resident: resident, Go: makeRuntime(i)}}
	return p
}

func makeCgroup(i int) *sample.Cgroup {
	g := &sample.Cgroup{Usage: sample.Bytes(100<<20 + i), Limit: sample.Some(256 * sample.MiB)}
	if i%3 > 0 {
		g.Peak = sample.Some(sample.Bytes(1 << 30))
		g.Stat = &sample.CgroupStat{Anon: 1, PageCache: 2, Shmem: 3, Kernel: 4, Sock: sample.Some(sample.Bytes(0)), ActiveFile: 5, InactiveFile: 6,
			Dirty: 7, Writeback: 8, Slab: sample.Some(sample.Bytes(11)), MajorFaults: 12, Refaults: sample.Some(uint64(13))}
		g.Events = &sample.CgroupEvents{High: 1, Max: 2, OOM: sample.Some(uint64(3)), OOMKill: 4}
	}
	return g
}

func makeRuntime(i int) *sample.Runtime {
	return &sample.Runtime{GOGC: -1, MemoryLimit: sample.NoMemoryLimit, HeapLive: sample.Bytes(i) << 20, HeapMarked: 2, HeapGoal: 3, Trigger: 4,
		TotalAlloc: 5, TotalFree: 6, HeapInUse: 7, HeapFree: 8, HeapReleased: 9, MappedReady: 10, StackInUse: 11, StackSys: 12, MSpanSys: 13,
		MCacheSys: 14, BuckHash: 15, GCSys: 16, OtherSys: 17, NumGC: 18, NumForcedGC: 19, GCPhase: sample.GCMark, LastGC: start,
		PauseTotal: 20, GCAssist: 21, GCDedicated: 22, GCIdle: 23, GCPause: 24, CPUTotal: 25, GCCPUFraction: 0.125, Goroutines: 26, ProfileRate: 27}
}

func makeMoment(i int, h *sample.HeapProfile, sites []sample.Site) *sample.Moment {
	m := &sample.Moment{At: h.At, Kind: sample.MomentDeath, Cgroup: makeCgroup(1), Took: 7, Stopped: 8}
	if i%2 == 0 {
		m.Kind, m.CgroupAfter = sample.MomentMax, makeCgroup(2)
	}
	full := sample.ProcessMoment{Key: server, Signal: 9, ExitCode: sample.Some(0), Profile: h, Go: makeRuntime(i),
		Resident: &sample.Resident{Total: 1, Shared: 2, Threads: 3}, Live: &sample.Liveness{Objects: 5, Bytes: 6, Large: sample.Some(sample.Bytes(4)), Took: 7,
			Sampled: []uint64{0, 3, uint64(i)}},
		Metrics: makeMetrics(i),
		Residency: &sample.Residency{Anon: 1, File: 2, Shmem: 3, Swap: 4, GoKnown: true, GoObjects: 5, GoIdle: 6, GoStacks: 7, GoRuntime: 8,
			CMalloc: 9, Mmap: 10, Image: 11, Untouched: 12, UntouchedNew: 13, PageTables: 14, CStacks: sample.Some(sample.Bytes(15)),
			CStackCount: sample.Some(uint64(16))}}
	full.Malloc = &sample.Malloc{Allocator: "glibc", Blocks: 1, InUse: 2, Free: 3, FreeResident: 4, Top: 5, Whole: 6, MappedBlocks: 7, Mapped: 8, System: 9,
		Unread:    10,
		WhyUnread: "no time was left", Arenas: []sample.MallocArena{{System: 1, InUse: 2, Free: 3, FreeResident: 4}}, Others: 11,
		Sizes: []sample.MallocSize{{Size: 4112, Count: 5}, {Size: 1 << 20, Count: 2, Mapped: true}}, OtherBlocks: 12, OtherBytes: 13, Took: 14}
	for k := range 3 {
		full.Goroutines = append(full.Goroutines, sample.GoroutineGroup{State: "waiting", Reason: "chan receive", Stack: []uint64{uint64(i), 2, 1 << 47},
			Creator: 77, Where: sites[k].Stack, CreatedAt: sites[k].Stack[2], Count: i + k, StackBytes: 8192, Oldest: time.Minute,
			Frames: []sample.Bytes{64, 0, 128}, Labels: []sample.LabelCount{{Key: "route", Value: "/a \"b\"", Count: k + 1}}, Locked: sample.Some(k),
			IDs: []uint64{uint64(k), 1 << 40}})
	}
	m.Processes = []sample.ProcessMoment{full, {Key: shell, Incomplete: "the kernel let it go"}}
	return m
}

// makeMetrics has the last histogram in every other moment only.
func makeMetrics(i int) *sample.RuntimeMetrics {
	bounds := []float64{-1, 0, 1e-9, 0.25, 1e300}
	m := &sample.RuntimeMetrics{At: start.Add(time.Duration(i)), Values: []sample.Metric{
		{Name: "/cpu/classes/total:cpu-seconds", Value: 1.0 / 3}, {Name: "/gc/gomemlimit:bytes", Value: math.MaxInt64},
		{Name: "/gc/heap/live:bytes", Value: float64(i)}},
		Histograms: []sample.Histogram{{Name: "/gc/pauses:seconds", Bounds: bounds, Counts: []uint64{0, 1 << 40, 0, uint64(i)}}}}
	if i%2 == 0 {
		m.Histograms = append(m.Histograms, sample.Histogram{Name: "/sched/latencies:seconds", Bounds: bounds[1:], Counts: make([]uint64, 3)})
	}
	return m
}
