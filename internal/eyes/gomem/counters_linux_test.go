package gomem_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// said is the program's own runtime.MemStats.
func (p *target) said() map[string]uint64 {
	stats := make(map[string]uint64)
	for _, line := range p.ask("stats") {
		var name string
		var v uint64
		fmt.Sscan(line, &name, &v)
		stats[name] = v
	}
	return stats
}

// seen is what was read of it, under the same names.
func seen(rt *sample.Runtime) map[string]uint64 {
	return map[string]uint64{
		"HeapInuse": uint64(rt.HeapInUse), "HeapIdle": uint64(rt.HeapIdle()), "HeapReleased": uint64(rt.HeapReleased),
		"HeapSys": uint64(rt.HeapInUse + rt.HeapIdle()), "NextGC": uint64(rt.HeapGoal),
		"HeapAlloc": uint64(rt.HeapAlloc()), "TotalAlloc": uint64(rt.TotalAlloc),
		"StackInuse": uint64(rt.StackInUse), "StackSys": uint64(rt.StackSys),
		"MSpanSys": uint64(rt.MSpanSys), "MCacheSys": uint64(rt.MCacheSys), "BuckHashSys": uint64(rt.BuckHash),
		"GCSys": uint64(rt.GCSys), "OtherSys": uint64(rt.OtherSys),
		"LastGC": uint64(rt.LastGC.UnixNano()), "PauseTotalNs": uint64(rt.PauseTotal),
		"NumGC": uint64(rt.NumGC), "NumForcedGC": uint64(rt.NumForcedGC), "NumGoroutine": uint64(rt.Goroutines),
	}
}

// different lists what was read otherwise than the program says.
func different(said, seen map[string]uint64) []string {
	var diff []string
	for name, v := range said {
		if seen[name] != v {
			diff = append(diff, fmt.Sprintf("%s is %d, read as %d", name, v, seen[name]))
		}
	}
	return diff
}

func TestCountersAreWhatTheProgramSaysOfItself(t *testing.T) {
	for _, b := range matrix() {
		t.Run(b.String(), func(t *testing.T) {
			p := start(t, b)
			p.ask("allocate 200000")
			p.ask("goroutines 20")
			p.agrees("after allocating")
			p.ask("gc")
			p.agrees("after a collection")
			p.ask("gogc 150")
			p.ask("limit %d", 40<<20)
			p.agrees("with a limit that binds")
			p.ask("limit %d", 12<<20)
			p.agrees("with a limit below what is in use")
			p.ask("gogc -1")
			p.agrees("with GOGC off")
		})
	}
}

func TestHeapAllocHasWhatThePsHaveNotReportedYet(t *testing.T) {
	for _, b := range builds() {
		t.Run(b.String(), func(t *testing.T) {
			p := start(t, b)
			p.ask("nogc")
			p.ask("stats") // makes the Ps report
			p.ask("allocate 50")
			var rt sample.Runtime
			if err := p.stats.Counters(&rt); err != nil {
				t.Fatal(err)
			}
			reported, _ := p.seenMetrics()
			want := p.said()["HeapAlloc"] // and obeying takes a few small objects
			got := uint64(rt.HeapAlloc())
			if got > want || want-got > 1<<10 {
				t.Errorf("HeapAlloc is %d, read as %d", want, got)
			}
			if n := uint64(reported["/memory/classes/heap/objects:bytes"]); n+4<<10 > got {
				t.Errorf("%d of %d bytes had been reported: nothing is shown", n, got)
			}
		})
	}
}

// agrees compares every figure. The program may still be at work on the last
// command (the scavenger, a goroutine that ends), so it gets some tries.
func (p *target) agrees(when string) {
	p.t.Helper()
	var diff []string
	for range 20 {
		said := p.said()
		var rt sample.Runtime
		if err := p.stats.Counters(&rt); err != nil {
			p.t.Fatal(err)
		}
		if diff = different(said, seen(&rt)); len(diff) == 0 {
			return
		}
	}
	p.t.Errorf("%s: %s", when, strings.Join(diff, "; "))
}

func TestFiguresAreReadWithoutAnAllocation(t *testing.T) {
	p := start(t, newest)
	var rt sample.Runtime
	if n := testing.AllocsPerRun(100, func() {
		if err := p.stats.Counters(&rt); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
