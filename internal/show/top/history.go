package top

import (
	"math"
	"time"

	"github.com/highwater-go/highwater/internal/measure/series"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// What is remembered of a figure: one value a second for five minutes.
const (
	remembered = 300
	stride     = time.Second
)

// history is a figure over the last minutes: the last value of each second.
type history struct {
	start time.Time
	at, v []float64 // at in seconds since start, ascending
}

func (h *history) add(now time.Time, v float64) {
	if h.start.IsZero() {
		h.start = now
	}
	at := now.Sub(h.start).Seconds()
	if n := len(h.at); n > 0 && math.Floor(h.at[n-1]) == math.Floor(at) {
		h.at[n-1], h.v[n-1] = at, v
		return
	}
	if len(h.at) == remembered {
		h.at = append(h.at[:0], h.at[1:]...)
		h.v = append(h.v[:0], h.v[1:]...)
	}
	h.at, h.v = append(h.at, at), append(h.v, v)
}

// since are the values of the last seconds.
func (h *history) since(d time.Duration) (at, v []float64) {
	first := len(h.at)
	for first > 0 && h.at[len(h.at)-1]-h.at[first-1] <= d.Seconds() {
		first--
	}
	return h.at[first:], h.v[first:]
}

// A growth is told from noise by both: zero lies outside of the line's confidence
// interval, and the change over the window is no trifle.
const (
	fastWindow = 10 * time.Second
	fastLeast  = 4 * time.Second // of it must have been seen
	slowLeast  = 30 * time.Second
	trifle     = float64(sample.MiB)
	trifling   = 0.01 // of the figure
	slowPoints = 60   // for the line: Theil and Sen look at every pair
)

// growth is how fast the figure grows now, in units a second: by its last ten
// seconds if they show a growth, else by its last minutes, else 0. It is absent
// while too little has been seen to say that it does not grow.
func (h *history) growth() sample.Opt[float64] {
	at, v := h.since(fastWindow)
	if slope, ok := slopeOf(at, v, fastLeast); ok {
		return sample.Some(slope)
	}
	at, v = every(h.at, h.v, (len(h.at)+slowPoints-1)/slowPoints)
	if slope, ok := slopeOf(at, v, slowLeast); ok {
		return sample.Some(slope)
	}
	if len(h.at) > 1 && h.at[len(h.at)-1]-h.at[0] >= fastWindow.Seconds()-stride.Seconds() {
		return sample.Some(0.0)
	}
	return sample.Opt[float64]{}
}

// slopeOf is the slope of a line where that is certainly not flat.
func slopeOf(at, v []float64, least time.Duration) (float64, bool) {
	n := len(at)
	if n < 4 || at[n-1]-at[0] < least.Seconds() {
		return 0, false
	}
	line := series.Line(at, v)
	change := math.Abs(line.Slope) * (at[n-1] - at[0])
	if line.Low <= 0 && line.High >= 0 || change < max(trifle, trifling*v[n-1]) {
		return 0, false
	}
	return line.Slope, true
}

// every takes each n-th value, the last one always.
func every(at, v []float64, n int) (someAt, some []float64) {
	if n < 2 {
		return at, v
	}
	for i := (len(at) - 1) % n; i < len(at); i += n {
		someAt, some = append(someAt, at[i]), append(some, v[i])
	}
	return someAt, some
}

// counters are two figures that only grow, of which one is a part of the other.
type counters struct {
	part, whole history
}

// shareWindow is how far back a share looks: the runtime books its collector's time
// at the end of a collection.
const shareWindow = time.Minute

// share is the part that one took of the other in the last minute, at most 1; absent
// where that is not known yet.
func (c *counters) share() sample.Opt[float64] {
	_, part := c.part.since(shareWindow)
	_, whole := c.whole.since(shareWindow)
	if len(part) < 2 || len(whole) < 2 {
		return sample.Opt[float64]{}
	}
	did, all := part[len(part)-1]-part[0], whole[len(whole)-1]-whole[0]
	if did <= 0 {
		return sample.Some(0.0)
	}
	return sample.Some(min(1, did/max(all, did)))
}
