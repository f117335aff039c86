package explain

import (
	"math"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// catalogue is three lines that fill a table by 30 MiB each, until a time; then GC runs seldom.
func catalogue(until float64) *scene {
	s := newScene()
	s.heap(110, 110, 200)
	s.charge()
	s.cycles(0, 20, 30, 45, 60, 80, 95, 110)
	for i := range 3 {
		s.site("example.org/shop/catalogue.Load", "/build/shop/catalogue/load.go", 100+i, 30, 0)
	}
	for i := range s.Sites {
		for n := range 15 {
			at := 2 * float64(n)
			held := sample.Bytes(float64(30*mib) * min(1, at/until))
			s.Sites[i].Course = append(s.Sites[i].Course, SiteSnapshot{At: at, Cycle: uint32(n + 1), Bytes: held, Allocated: held, Goroutines: true})
		}
		s.Sites[i].Allocated, s.Sites[i].Cycle = sample.Bytes(float64(30*mib)*min(1, 30/until)), 20
	}
	return s
}

// None of the lines has half of what grew: what all of them allocated at the end tells whether it goes on.
func TestLinesThatGrewTogetherTellThatTheyStopped(t *testing.T) {
	for until, want := range map[float64]struct{ from, to float64 }{18: {0, 0.35}, 30: {0.8, 1.3}} {
		c := newCase(catalogue(until).Evidence)
		if got := c.lineLate(); math.IsNaN(got) || got < want.from || got > want.to {
			t.Errorf("until %v s: %v of even growth, want %v to %v; of %+v", until, got, want.from, want.to, c.rise)
		}
	}
	c := newCase(catalogue(18).Evidence)
	for i := range c.Sites[1:] {
		c.Sites[1+i].Course = nil
	}
	if c.site = &c.Sites[0]; !math.IsNaN(c.lineLate()) {
		t.Errorf("of one line alone: %v", c.lineLate())
	}
}

// Memory came near its limit after two thirds of the time, and no look of the quarter before tells of the lines: what they have at the kill does, where they
// went on, and nothing where they may have waited for memory.
func TestLinesWithoutALookBeforeTheLimitAreNotSaidToHaveStopped(t *testing.T) {
	for until, want := range map[float64]bool{30: true, 8: false} {
		s := catalogue(until)
		s.killed()
		for i, at := range s.Ticks.At {
			s.Ticks.Usage[i] = float64(150 * mib)
			if at > 20 {
				s.Ticks.Usage[i], s.Ticks.PageCache[i] = float64(256*mib), 0
			}
		}
		for i := range s.Sites {
			s.Sites[i].Course = s.Sites[i].Course[:6] // until 10 s
		}
		c := newCase(s.Evidence)
		if got := c.lineLate(); want != (got > 0.8 && got < 1.3) || !want && !math.IsNaN(got) {
			t.Errorf("until %v s: %v of even growth, full at %v", until, got, c.fullAt())
		}
	}
}
