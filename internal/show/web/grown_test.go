package web_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// faulting makes a recording of 20 s in which C code, called at decode.go:7, takes 10 MiB a
// second, a thread of C 1 MiB, and the Go heap 20 MiB at once; samples of page faults say so.
func faulting(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "long-1.hwm")
	w, err := recording.Create(path, recording.Meta{At: start, Command: []string{"/srv/decoder"}})
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	key := sample.ProcessKey{PID: 7, Start: 1}
	must(w.Program(sample.Program{Key: key, Name: "decoder", HeapProfile: sample.HeapProfileOn,
		Go: &sample.GoProgram{Version: "go1.26.8", Module: "example.com/decoder", MainPackage: "example.com/decoder", CGO: true}}))
	must(w.Event(sample.Event{At: start, Kind: sample.EventStart, Process: key, Text: "decoder"}))
	c := sample.Location{Address: 1, Frames: []sample.Frame{{Func: "malloc", File: "libc.so.6"}}}
	goes := sample.Location{Address: 2, Frames: []sample.Frame{{Func: "example.com/decoder.decode", File: "/src/decoder/decode.go", Line: 7}}}
	thread := sample.Location{Address: 3, Frames: []sample.Frame{{Func: "prefetch", File: "libdecode.so"}}}
	fill := sample.Location{Address: 4, Frames: []sample.Frame{{Func: "main.fill", File: "/src/decoder/main.go", Line: 9}}}
	grown := func(from, to time.Time, kind sample.ResidentKind, samples uint64, bytes sample.Bytes, where ...sample.Location) sample.ResidentGrowth {
		return sample.ResidentGrowth{From: from, At: to, Process: key, Kind: kind, Where: where, Samples: samples, Bytes: bytes}
	}
	for i := range 21 {
		at := start.Add(time.Duration(i) * time.Second)
		native := sample.Bytes(i) * 11 * sample.MiB
		heap := 20 * sample.MiB
		total := native + heap + sample.MiB
		runtime := &sample.Runtime{GOGC: 100, MemoryLimit: sample.NoMemoryLimit, HeapLive: heap, HeapInUse: heap, HeapMarked: heap, HeapGoal: 2 * heap, NumGC: 3,
			TotalAlloc: heap}
		cgroup := &sample.Cgroup{Usage: total, Limit: sample.Some(512 * sample.MiB), Stat: &sample.CgroupStat{Anon: total}}
		p := sample.Process{Key: key, Resident: &sample.Resident{Total: total}, Go: runtime}
		must(w.Point(&sample.Point{At: at, Cgroup: cgroup, Processes: []sample.Process{p}}))
		if i > 0 {
			must(w.Growth([]sample.ResidentGrowth{grown(at.Add(-time.Second), at, sample.ResidentNative, 40, 10*sample.MiB, c, goes),
				grown(at.Add(-time.Second), at, sample.ResidentNative, 4, sample.MiB, thread)}))
		}
		if i%10 == 0 && i > 0 { // calls of malloc and free were followed, too
			must(w.Native(sample.NativeReading{At: at, Process: key, Since: start, Interval: 64 * sample.KiB, Allocs: 9000},
				[]sample.NativeLive{{At: at, Process: key, Where: []sample.Location{c, goes}, Samples: uint64(16 * i), Objects: uint64(100 * i),
					Bytes: sample.Bytes(i) * sample.MiB,
					Error: 100 * sample.KiB, Allocated: sample.Bytes(i) * sample.MiB, Oldest: start, Median: start.Add(at.Sub(start) / 2)},
					{At: at, Process: key, Where: []sample.Location{thread}, Samples: 4, Objects: 4, Bytes: 256 * sample.KiB, Error: 128 * sample.KiB, Allocated: sample.MiB,
						Oldest: start, Median: start}}))
		}
		if i == 1 {
			must(w.Growth([]sample.ResidentGrowth{grown(start, at, sample.ResidentHeap, 80, heap, fill)}))
		}
		if i%10 == 0 {
			pages := &sample.Residency{GoKnown: true, GoObjects: heap, CMalloc: native, Anon: total}
			must(w.Moment(&sample.Moment{At: at, Kind: sample.MomentCalm, Cgroup: cgroup,
				Processes: []sample.ProcessMoment{{Key: key, Resident: p.Resident, Go: runtime, Residency: pages}}}))
		}
	}
	must(w.Close())
	return path
}

func TestTheLinesThatWroteFirstAreListedByKindWithTheirCourse(t *testing.T) {
	t.Parallel()
	i, err := book(faulting(t)).Instant("last", "")
	if err != nil {
		t.Fatal(err)
	}
	if len(i.Grown) != 2 || i.Grown[0].Kind != "native" || i.Grown[1].Kind != "heap" {
		t.Fatalf("kinds %+v", i.Grown)
	}
	g := i.Grown[0]
	sum := g.Others.Bytes
	for _, l := range g.Lines {
		sum += l.Bytes
	}
	if sum != g.Total || g.Samples != 880 || len(g.Lines) != 2 {
		t.Errorf("lines sum to %d of %d, of %d samples: %+v", sum, g.Total, g.Samples, g.Lines)
	}
	l := g.Lines[0]
	if l.Place != "decoder/decode.go:7" || l.Owner != "own" || strings.Join(l.Native, " ") != "malloc" || l.Samples != 800 {
		t.Errorf("%+v", l)
	}
	if c := g.Lines[1]; c.Place != "" || c.Short != "prefetch" || c.Owner != "C" {
		t.Errorf("a thread of C is %+v", c)
	}
	last, half := l.Course[len(l.Course)-1], int64(-1)
	for _, s := range l.Course {
		if s.At <= 10 {
			half = s.Bytes
		}
	}
	if last.Bytes != l.Bytes || last.At != 20 || half < last.Bytes*9/20 || half > last.Bytes/2 {
		t.Errorf("it reached %d half-way and %d at %v s, and has %d", half, last.Bytes, last.At, l.Bytes)
	}
	before, err := book(faulting(t)).Instant("10s", "")
	if err != nil {
		t.Fatal(err)
	}
	if got := before.Grown[0].Lines[0].Bytes; got < l.Bytes*9/20 || got > l.Bytes*11/20 {
		t.Errorf("after 10 of 20 s %d of %d bytes were written", got, l.Bytes)
	}
}

func TestTheLinesThatHoldLiveBlocksOfCAreListed(t *testing.T) {
	t.Parallel()
	i, err := book(faulting(t)).Instant("last", "")
	if err != nil {
		t.Fatal(err)
	}
	n := i.NativeLive
	if n == nil || len(n.Lines) != 2 || n.Total != int64(20*sample.MiB+256*sample.KiB) || n.Blocks != 2004 || n.Seen != 20 || n.Others.Bytes != 0 {
		t.Fatalf("%+v", n)
	}
	l := n.Lines[0]
	if l.Place != "decoder/decode.go:7" || l.Owner != "own" || strings.Join(l.Native, " ") != "malloc" || l.Oldest != 20 || l.Median != 10 ||
		l.Growth != int64(10*sample.MiB) {
		t.Errorf("%+v", l)
	}
	if c := n.Lines[1]; c.Place != "" || c.Short != "prefetch" || c.Owner != "C" {
		t.Errorf("a thread of C is %+v", c)
	}
	before, err := book(faulting(t)).Instant("10s", "")
	if err != nil {
		t.Fatal(err)
	}
	if l := before.NativeLive.Lines[0]; l.Bytes != int64(10*sample.MiB) {
		t.Errorf("%d bytes were live after 10 s", l.Bytes)
	}
}
