package pacer

import "testing"

// A program that allocates faster than GC marks has GC find live what was allocated meanwhile: of what another limit
// would do nothing is said.
func TestWhatFloatsIsNoLiveHeapToPredictFrom(t *testing.T) {
	for _, c := range []struct {
		marked float64
		held   *knot
		want   bool
	}{{129, &knot{live: 12 * mib}, true}, {129, &knot{live: 60 * mib}, false}, {129, nil, false}, {5, &knot{live: 1 * mib}, false}} {
		h := &History{killed: true, held: c.held, ticks: []tick{{marked: c.marked * mib}}}
		if got := h.floats(); got != c.want {
			t.Errorf("GC found %v MiB, %+v at the kill: %v", c.marked, c.held, got)
		}
	}
}
