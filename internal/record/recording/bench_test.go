package recording

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// A service's heap, made up: 1,850 sites with stacks of 20 to 40 frames over 3,000
// functions, a third of which change each second.
const (
	hourSites  = 1850
	hourPoints = 36000
	hourEvery  = 10 // points a profile
)

func serviceSites() []sample.Site {
	rng := rand.New(rand.NewPCG(11, 12))
	sites := make([]sample.Site, hourSites)
	for i := range sites {
		s := &sites[i]
		s.Size = sample.Bytes(16 << rng.IntN(12))
		for range 20 + rng.IntN(20) {
			f := rng.IntN(3000)
			s.Stack = append(s.Stack, sample.Location{Address: uint64(0x400000 + 64*f), Frames: []sample.Frame{{
				Func: fmt.Sprintf("github.com/example/service/internal/part%d.(*Thing%d).Method", f%60, f),
				File: fmt.Sprintf("/go/src/github.com/example/service/internal/part%d/file.go", f%60), Line: f, StartLine: f - 3}}})
		}
	}
	return sites
}

// churn is a second of a service: a third of its sites allocate and free, and one
// collection publishes what was there.
func churn(rng *rand.Rand, counts []sample.BucketCounts) {
	for i := range counts {
		c := &counts[i]
		c.PubAllocs, c.PubFrees = c.NowAllocs, c.NowFrees
		if rng.IntN(3) == 0 {
			c.NowAllocs += 1 + rng.Uint64N(30)
			c.NowFrees += min(rng.Uint64N(30), c.NowAllocs-c.NowFrees)
		}
	}
}

// busyPoint is a tick as a busy program gives it: large figures that move.
func busyPoint(rng *rand.Rand, i int) *sample.Point {
	b := func() sample.Bytes { return sample.Bytes(rng.Uint64N(200 << 20)) }
	d := func() time.Duration { return time.Duration(i)*time.Millisecond + time.Duration(rng.IntN(1e6)) }
	g := &sample.Cgroup{Usage: b(), Peak: sample.Some(b()), Limit: sample.Some(256 * sample.MiB),
		Stat: &sample.CgroupStat{Anon: b(), PageCache: b(), Kernel: b(), Sock: sample.Some(b()), ActiveFile: b(), InactiveFile: b(),
			KernelStack: sample.Some(b()), PageTables: sample.Some(b()), Slab: sample.Some(b()), MajorFaults: 12, Refaults: sample.Some(uint64(9)),
			Scanned: sample.Some(uint64(8))},
		Events: &sample.CgroupEvents{OOM: sample.Some(uint64(0))}}
	r := &sample.Runtime{GOGC: 100, MemoryLimit: sample.NoMemoryLimit, HeapLive: b(), HeapMarked: b(), HeapGoal: b(), Trigger: b(),
		TotalAlloc: b() * 100, TotalFree: b() * 100, HeapInUse: b(), HeapFree: b(), HeapReleased: b(), MappedReady: b(), StackInUse: b(),
		StackSys: b(), MSpanSys: 1 << 20, MCacheSys: 1 << 14, BuckHash: 1 << 21, GCSys: b(), OtherSys: 1 << 20, NumGC: uint32(i), LastGC: start.Add(d()),
		PauseTotal: d(), GCAssist: d(), GCDedicated: d(), GCIdle: d(), GCPause: d(), CPUTotal: d(), GCCPUFraction: rng.Float64(), Goroutines: rng.IntN(5000),
		ProfileRate: 524288}
	return &sample.Point{At: start.Add(time.Duration(i) * 100 * time.Millisecond), Cgroup: g, Host: &sample.Host{Total: 1 << 34, Available: 50 * b()},
		Pressure:  &sample.Pressure{Some10: rng.Float64(), SomeTotal: d(), FullTotal: d()},
		Processes: []sample.Process{{Key: server, Resident: &sample.Resident{Total: b(), Shared: b(), Threads: 12, User: d(), System: d()}, Go: r}}}
}

// hour writes n ticks, with a profile each second unless every is 0.
func hour(t testing.TB, path string, n, every int) {
	t.Helper()
	w, err := Create(path, meta)
	must(t, err)
	must(t, w.Program(programs[1]))
	must(t, w.Sites(server, 0, serviceSites()))
	rng := rand.New(rand.NewPCG(1, 1))
	counts := make([]sample.BucketCounts, hourSites)
	for i := range n {
		must(t, w.Point(busyPoint(rng, i)))
		if every > 0 && i%every == 0 {
			churn(rng, counts)
			must(t, w.Heap(server, &sample.HeapProfile{At: start.Add(time.Duration(i) * 100 * time.Millisecond), Rate: 524288, Counts: counts}))
		}
		if i%10 == 9 {
			must(t, w.Flush())
		}
	}
	must(t, w.Close())
}

func length(t testing.TB, path string) int64 {
	info, err := os.Stat(path)
	must(t, err)
	return info.Size()
}

func TestAProfileTakesLessThanTenKilobytes(t *testing.T) {
	dir := t.TempDir()
	hour(t, filepath.Join(dir, "without.hwm"), 3000, 0)
	hour(t, filepath.Join(dir, "with.hwm"), 3000, hourEvery)
	each := (length(t, filepath.Join(dir, "with.hwm")) - length(t, filepath.Join(dir, "without.hwm"))) / (3000 / hourEvery)
	t.Logf("%d bytes a profile of %d sites, a third of which change", each, hourSites)
	if each > 10_000 {
		t.Errorf("%d bytes a profile", each)
	}
	must(t, Verify(filepath.Join(dir, "with.hwm")))
}

func BenchmarkWriteAnHour(b *testing.B) {
	for b.Loop() {
		dir := b.TempDir()
		hour(b, filepath.Join(dir, "a.hwm"), hourPoints, hourEvery)
		b.ReportMetric(float64(length(b, filepath.Join(dir, "a.hwm")))/1e6, "MB/hour")
	}
}

func BenchmarkWriteAnHourWithoutProfiles(b *testing.B) {
	for b.Loop() {
		dir := b.TempDir()
		hour(b, filepath.Join(dir, "a.hwm"), hourPoints, 0)
		b.ReportMetric(float64(length(b, filepath.Join(dir, "a.hwm")))/1e6, "MB/hour")
	}
}

// BenchmarkPoint is a tick with one process; every tenth is a commit.
func BenchmarkPoint(b *testing.B) {
	w, err := Create(filepath.Join(b.TempDir(), "a.hwm"), meta)
	must(b, err)
	defer w.Close()
	p := busyPoint(rand.New(rand.NewPCG(1, 1)), 1)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p.At = p.At.Add(100 * time.Millisecond)
		must(b, w.Point(p))
		if i%10 == 9 {
			must(b, w.Flush())
		}
	}
}

// BenchmarkLoadAnHour reads what an explanation needs of an hour.
func BenchmarkLoadAnHour(b *testing.B) {
	path := filepath.Join(b.TempDir(), "a.hwm")
	hour(b, path, hourPoints, hourEvery)
	for b.Loop() {
		r, err := Open(path)
		must(b, err)
		_, err = r.Programs()
		must(b, err)
		_, err = r.Samples(ColUsage, ColUsageLimit, ColAnon, ColPageCache, ColKernel, ColEventsOOMKill, ColHostAvailable)
		must(b, err)
		_, err = r.ProcessSamples(server, ColResident, ColShared, ColHeapLive, ColHeapMarked, ColHeapGoal, ColTotalAlloc, ColTotalFree, ColMappedReady, ColGoroutines)
		must(b, err)
		_, err = r.Sites(server)
		must(b, err)
		list, err := r.Profiles(server)
		must(b, err)
		for i := range 32 {
			_, err = r.Profile(list[i*len(list)/32].ID)
			must(b, err)
		}
		must(b, r.Close())
	}
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "a.hwm")
	must(b, os.WriteFile(path, finished(b, 100), 0o600))
	for b.Loop() {
		r, err := Open(path)
		must(b, err)
		must(b, r.Close())
	}
}

func BenchmarkSeal(b *testing.B) {
	path := filepath.Join(b.TempDir(), "a.hwm")
	must(b, os.WriteFile(path, finished(b, 4000), 0o600))
	size, err := fileSize(path)
	must(b, err)
	b.SetBytes(size)
	for b.Loop() {
		must(b, Seal(path))
	}
}
