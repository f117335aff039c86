package gomem_test

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/gostats"
	"github.com/highwater-go/highwater/internal/words/sample"
)

func BenchmarkCounters(b *testing.B) {
	p := start(b, newest)
	var rt sample.Runtime
	b.ReportAllocs()
	for b.Loop() {
		if err := p.stats.Counters(&rt); err != nil {
			b.Fatal(err)
		}
	}
}

// withSites is a program with so many allocation sites.
func withSites(b *testing.B, n int) *target {
	p := start(b, newest)
	p.ask("nogc")
	p.ask("rate 1")
	p.ask("sites %d", n)
	p.ask("rate 0")
	p.ask("gc")
	return p
}

// BenchmarkProfile is a poll: no new buckets, every record read again.
func BenchmarkProfile(b *testing.B) {
	for _, n := range []int{1000, 10000, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := withSites(b, n)
			var prof sample.HeapProfile
			if err := p.stats.Profile(&prof); err != nil { // the first reads every stack
				b.Fatal(err)
			}
			b.ReportAllocs()
			start := ownCPU()
			for b.Loop() {
				if err := p.stats.Profile(&prof); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(ownCPU()-start)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(len(prof.Counts)), "buckets")
		})
	}
}

// ownCPU is the CPU time that this process has used.
func ownCPU() time.Duration {
	var u unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkFirstProfile reads every bucket's stack.
func BenchmarkFirstProfile(b *testing.B) {
	for _, n := range []int{10000, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := withSites(b, n)
			b.ReportAllocs()
			for b.Loop() {
				rt, err := gomem.Attach(p.mem, p.bin, p.bias)
				if err != nil {
					b.Fatal(err)
				}
				if err := gostats.New(rt).Profile(new(sample.HeapProfile)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOwnProfile is the same profile written by the program itself, which
// is what /debug/pprof/heap does to it, HTTP apart.
func BenchmarkOwnProfile(b *testing.B) {
	for _, n := range []int{10000, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := withSites(b, n)
			b.ResetTimer()
			p.ask("pprof %d", b.N)
		})
	}
}

func BenchmarkMetrics(b *testing.B) {
	p := start(b, newest)
	var m sample.RuntimeMetrics
	for b.Loop() {
		if err := p.stats.Metrics(&m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGoroutines(b *testing.B) {
	for _, n := range []int{1000, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := start(b, newest)
			p.ask("goroutines %d", n)
			start := ownCPU()
			for b.Loop() {
				if _, err := p.stats.Goroutines(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(ownCPU()-start)/float64(b.N), "cpu-ns/op")
		})
	}
}

func BenchmarkRanges(b *testing.B) {
	p := start(b, newest)
	p.ask("tree 2000000")
	var ranges []sample.PageRange
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if ranges, err = p.runtime.Ranges(ranges[:0]); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(ranges)), "ranges")
}

// BenchmarkLiveObjects marks a heap of some 250 MB in 2.4 million objects.
func BenchmarkLiveObjects(b *testing.B) {
	p := start(b, newest)
	p.ask("tree 1200000")
	if err := p.hold(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		live, err := p.heap.LiveObjects(b.Context(), p.stats)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(live.Bytes))
	}
}
