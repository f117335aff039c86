// Package recorded writes recordings of programs that never ran, whose figures a test chooses.
package recorded

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

const mib = sample.MiB

// Began is when the programs Began, Subject the process that is looked at.
var (
	Began   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	Subject = sample.ProcessKey{PID: 4711, Start: 99}
)

// Step is one moment of a recorded program: objects of 1 MiB that are held on its
// lines, -1 where no profile was read.
type Step []int64

// Steps writes a recording with a moment a second.
func Steps(t *testing.T, name, build string, lines []sample.Frame, steps ...Step) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+"-1.hwm")
	put := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w, err := recording.Create(path, recording.Meta{At: Began})
	put(err)
	put(w.Program(sample.Program{Key: Subject, Name: name, HeapProfile: sample.HeapProfileOn,
		Go: &sample.GoProgram{Version: "go1.26.8", Module: "example.org/app", BuildID: build}}))
	put(w.Event(sample.Event{At: Began, Kind: sample.EventStart, Process: Subject}))
	var sites []sample.Site
	for i, f := range lines {
		sites = append(sites, sample.Site{Size: mib, Stack: []sample.Location{{Address: uint64(i + 1), Frames: []sample.Frame{f}}}})
	}
	put(w.Sites(Subject, 0, sites))
	for i, held := range steps {
		at := Began.Add(time.Duration(i+1) * time.Second)
		var total sample.Bytes
		h := &sample.HeapProfile{At: at, Rate: 512 << 10}
		for _, n := range held {
			total += sample.Bytes(n) * mib
			h.Counts = append(h.Counts, sample.BucketCounts{PubAllocs: uint64(n), NowAllocs: uint64(n)})
		}
		if slices.Contains(held, -1) {
			h, total = nil, 0
		}
		p := sample.ProcessMoment{Key: Subject, Profile: h, Resident: &sample.Resident{Total: total + 10*mib},
			Go:        &sample.Runtime{HeapMarked: total, HeapLive: total, HeapInUse: total, TotalAlloc: total},
			Residency: &sample.Residency{GoKnown: true, Anon: total + 10*mib, GoObjects: total, GoRuntime: 10 * mib}}
		cg := &sample.Cgroup{Usage: total + 30*mib, Stat: &sample.CgroupStat{Anon: total + 10*mib, PageCache: 20 * mib}}
		put(w.Point(&sample.Point{At: at, Cgroup: cg, Processes: []sample.Process{{Key: Subject, Resident: p.Resident, Go: p.Go}}}))
		put(w.Moment(&sample.Moment{At: at, Kind: sample.MomentMax, Cgroup: cg, Processes: []sample.ProcessMoment{p}}))
	}
	put(w.Close())
	return path
}

// Line is a line of the program's own code.
func Line(function string, number int) sample.Frame {
	return sample.Frame{Func: "example.org/app/" + function, File: "/src/" + function + ".go", Line: number}
}

// Leak writes a run of 10 s that leaks 20 MiB a second beside a shell, and is
// killed by the kernel. Its heap profile counts every allocation of 1 MiB.
func Leak(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "leak-1.hwm")
	w, err := recording.Create(path, recording.Meta{At: Began, Limit: sample.Some(256 * mib)})
	if err != nil {
		t.Fatal(err)
	}
	shell := sample.ProcessKey{PID: 4700, Start: 98}
	put := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	put(w.Program(sample.Program{Key: shell, Name: "sh", Exe: "/bin/sh"}))
	put(w.Program(sample.Program{Key: Subject, Name: "leaky", Go: &sample.GoProgram{Version: "go1.26.8", Module: "example.org/leaky",
		MainPackage: "example.org/leaky"}, HeapProfile: sample.HeapProfileOn}))
	put(w.Event(sample.Event{At: Began, Kind: sample.EventStart, Process: Subject}))
	put(w.Sites(Subject, 0, []sample.Site{{Size: mib, Stack: []sample.Location{
		{Address: 1, Frames: []sample.Frame{{Func: "runtime.mallocgc", File: "runtime/malloc.go", Line: 9}}},
		{Address: 2, Frames: []sample.Frame{{Func: "example.org/leaky/store.(*Map).Put", File: "/b/store/map.go", Line: 33}}},
		{Address: 3, Frames: []sample.Frame{{Func: "main.main", File: "/b/main.go", Line: 5}}}}}}))
	for i := 1; i <= 11; i++ {
		at := Began.Add(time.Duration(i) * time.Second)
		held := sample.Bytes(20*i) * mib
		cg := &sample.Cgroup{Usage: held + 36*mib, Peak: sample.Some(held + 36*mib), Limit: sample.Some(256 * mib),
			Stat: &sample.CgroupStat{Anon: held + 32*mib, Kernel: 4 * mib}}
		g := &sample.Runtime{GOGC: 100, MemoryLimit: sample.NoMemoryLimit, HeapMarked: held, HeapLive: held + 10*mib, HeapGoal: 2 * held, TotalAlloc: held + 20*mib,
			TotalFree: 10 * mib, HeapInUse: held + 12*mib, MappedReady: held + 20*mib, Goroutines: 5}
		g.GCAssist, g.GCDedicated, g.GCPause = time.Duration(i)*60*time.Millisecond, time.Duration(i)*30*time.Millisecond, time.Duration(i)*10*time.Millisecond
		resident := &sample.Resident{Total: held + 24*mib, Shared: 4 * mib, User: time.Duration(i) * 200 * time.Millisecond,
			System: time.Duration(i) * 100 * time.Millisecond}
		put(w.Point(&sample.Point{At: at, Cgroup: cg, Processes: []sample.Process{{Key: shell, Resident: &sample.Resident{Total: 2 * mib, Shared: mib}},
			{Key: Subject, Resident: resident, Go: g}}}))
		put(w.Cycle(sample.GCCycle{At: at, Process: Subject, N: uint32(i), Marked: held, Alloc: g.TotalAlloc}))
		n := uint64(20 * i)
		p := sample.ProcessMoment{Key: Subject, Go: g, Resident: resident,
			Residency: &sample.Residency{GoKnown: true, Anon: held + 20*mib, GoObjects: held + 12*mib, GoRuntime: 4 * mib, GoStacks: 4 * mib},
			Profile:   &sample.HeapProfile{At: at, Rate: 1, Cycle: uint32(i), Counts: []sample.BucketCounts{{PubAllocs: n, NowAllocs: n}}},
			Goroutines: []sample.GoroutineGroup{{State: "waiting", Count: 1, Stack: []uint64{9},
				Where: []sample.Location{{Frames: []sample.Frame{{Func: "main.main"}}}}}}}
		m := sample.Moment{At: at, Kind: sample.MomentCalm, Cgroup: cg, Processes: []sample.ProcessMoment{p}}
		if i == 11 {
			p.Signal, p.Live = 9, &sample.Liveness{Bytes: held, Objects: n, Sampled: []uint64{n}}
			m.Kind, m.Processes = sample.MomentDeath, []sample.ProcessMoment{p}
			put(w.Event(sample.Event{At: at, Kind: sample.EventOOMKill, Value: 1}))
			put(w.Event(sample.Event{At: at, Kind: sample.EventExit, Process: Subject, Value: 137, Text: "signal 9"}))
		}
		put(w.Moment(&m))
	}
	put(w.Close())
	return path
}

// Open opens a recording until the test ends.
func Open(t testing.TB, path string) *recording.Reader {
	t.Helper()
	r, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}
