package explain

import (
	"math"
	"testing"
)

// A job starts a call for each of its items, one after the other until its peak, and all of them end: they do not gather.
func TestCallsThatEndAfterThePeakDoNotGather(t *testing.T) {
	for later, want := range map[float64]bool{6: true, 115: false, math.NaN(): false} {
		s := newScene()
		s.Ticks.At, s.Ticks.Goroutines = append(s.Ticks.At, 34, 36, 38), append(s.Ticks.Goroutines, later, later, later)
		s.p.Go.Goroutines = 120
		c := newCase(s.Evidence)
		c.inFlight = callCorrelation{calls: 118, gather: 20}
		if got := c.endLater(); got != want {
			t.Errorf("%.0f goroutines later: %v", later, got)
		}
	}
}
