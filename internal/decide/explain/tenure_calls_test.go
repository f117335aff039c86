package explain

import (
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// What a library's table keeps of each call in flight lasts as long as the call, though the table lasts for ever: a
// server of gRPC keeps what a stream has to send under the loop that writes.
func TestATableWithOneEntryForEachCallLastsAsTheCallsDo(t *testing.T) {
	for _, c := range []struct {
		name     string
		calls    int
		streams  uint64
		seconds  float64
		standing bool
		want     tenure
	}{
		{"as many as calls", 500, 500, 2, false, passing},
		{"a few that end meanwhile", 500, 530, 2, false, passing},
		{"many more than calls", 500, 5000, 2, false, lasts},
		{"fewer than calls", 500, 20, 2, false, lasts},
		{"few calls, by accident as many", 9, 9, 2, false, lasts},
		{"the same calls all along", 500, 500, 2, true, unknownTenure},
		{"calls of which none was seen to begin or end for a while", 500, 500, 60, false, unknownTenure},
	} {
		s := newScene()
		s.captured(100,
			sample.HeapPath{Parent: -1, Label: "shop.conns", Root: &sample.HeapRoot{Kind: sample.RootGlobal}, Objects: 1, Retained: 100 * mib},
			sample.HeapPath{Parent: 0, Label: ".streams[]", Type: "shop.stream", Objects: c.streams, Retained: 100 * mib},
			sample.HeapPath{Parent: 1, Label: ".queue.data", Type: "[]uint8", Objects: 6000, Retained: 99 * mib})
		k := &Case{Evidence: s.Evidence, outcome: Outcome{MomentElapsed: c.seconds}, inFlight: callCorrelation{calls: c.calls, standing: c.standing}}
		if got := k.tenureOf(2); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// The goroutine of a generic function is a loop where the looks at goroutines have its name with type arguments, and the heap
// without them.
func TestAGenericLoopStays(t *testing.T) {
	groups := []sample.GoroutineGroup{{Count: 1, State: "waiting", Stack: []uint64{1},
		CreatedAt: sample.Location{Frames: []sample.Frame{{Func: "example.org/cache.New[go.shape.string,go.shape.*uint8]"}}},
		Where:     []sample.Location{{Frames: []sample.Frame{{Func: "example.org/cache.(*Cache[go.shape.string,go.shape.*uint8]).process"}}}}}}
	s := newScene()
	site := s.site("main.(*engine).price", "/build/shop/engine.go", 9, 100, 0)
	for i := range 15 {
		site.Course = append(site.Course, SiteSnapshot{At: 2 * float64(i), Goroutines: true, Begun: begunOf(groups), Inside: insideOf(groups)})
	}
	k := &Case{Evidence: s.Evidence, site: site, outcome: Outcome{MomentElapsed: 30}}
	if !k.runsAlong("example.org/cache.New[...].gowrap1") || k.runsAlong("example.org/cache.Other[...].gowrap1") {
		t.Error("the loop of New runs along, and none of Other")
	}
	if got := k.callLasts("example.org/cache.(*Cache[...]).process"); got != lasts {
		t.Errorf("its function: %d, want %d", got, lasts)
	}
}

// A look at which the only goroutine ran does not say that the call it was in before had ended, and began again.
func TestAGoroutineThatRanNeitherCameNorWent(t *testing.T) {
	looks := func(list ...[2]int) (course []SiteSnapshot) {
		for i, l := range list {
			course = append(course, SiteSnapshot{At: float64(i), Goroutines: true, Calls: []int{0, l[0]}, Unseen: l[1]})
		}
		return course
	}
	for name, k := range map[string]struct {
		course []SiteSnapshot
		want   bool
	}{
		"one call all along":       {looks([2]int{1, 0}, [2]int{0, 1}, [2]int{1, 0}, [2]int{0, 1}, [2]int{1, 0}), false},
		"one call after the other": {looks([2]int{1, 0}, [2]int{0, 0}, [2]int{1, 0}), true},
		"more calls":               {looks([2]int{1, 0}, [2]int{0, 1}, [2]int{3, 0}, [2]int{1, 1}), true},
	} {
		if got := comesAndGoes(k.course, 1, 1); got != k.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
