package gostats

import (
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// A glance sees what changes the runtime's sums at once, and all else at the tenth.
func TestAGlanceSeesWhatMoves(t *testing.T) {
	p := start(t)
	var rt, exact sample.Runtime
	glance := func() {
		t.Helper()
		if err := p.stats.Glance(&rt); err != nil {
			t.Fatal(err)
		}
	}
	inFull := func() {
		t.Helper()
		if err := p.stats.Counters(&exact); err != nil {
			t.Fatal(err)
		}
	}
	glance()
	cycles := rt.NumGC
	p.ask("gc")
	glance()
	if inFull(); rt.NumGC != exact.NumGC || rt.NumGC == cycles {
		t.Errorf("%d collections, want %d, more than %d", rt.NumGC, exact.NumGC, cycles)
	}
	goroutines := rt.Goroutines
	p.ask("goroutines 20")
	for range glances {
		glance()
	}
	if inFull(); rt.Goroutines != exact.Goroutines || rt.Goroutines < goroutines+20 {
		t.Errorf("%d goroutines after ten glances, want %d, 20 more than %d", rt.Goroutines, exact.Goroutines, goroutines)
	}
	p.ask("allocate 50")
	for range glances {
		glance()
	}
	if inFull(); exact != rt {
		t.Errorf("after ten glances\n%+v\nread in full\n%+v", rt, exact)
	}
	if n := testing.AllocsPerRun(100, glance); n != 0 {
		t.Errorf("%v allocations", n)
	}
	most := 0
	for range glances {
		glance()
		most = max(most, p.stats.glance.times)
	}
	if most < 2 {
		t.Error("a program at rest is read in full at each glance")
	}
}
