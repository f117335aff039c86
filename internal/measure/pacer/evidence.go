package pacer

import (
	"fmt"
	"time"

	"github.com/highwater-go/highwater/internal/words/units"
)

// A run that was killed says how much its work needed up to then, and nothing of what it
// would have needed. What it was killed with bounds that only where the live heap had
// been as high before and had come back, or had stopped rising: then it is taken to go on
// so.

// room is how much of a live heap is more than unrest, as a share, at least leastRise.
const (
	room      = 0.10
	leastRise = 4 * mib
)

// flat is the part of newly allocated bytes that may stay where the live heap is said
// to rise no more; it is asked of as many bytes as half of what is live. Measured: 0 to
// 1 % of steady sets beside garbage, 9 % of a leak beside ten times as much of it.
const flat = 0.03

// firstRise reports whether the program was killed while its live heap rose to where it had never been.
func (h *History) firstRise(knots []knot) bool {
	last := len(knots) - 1
	if !h.killed || last < 1 {
		return h.killed
	}
	from, top := last, knots[last].live
	for from > 0 && knots[from-1].live <= knots[from].live*1.02 {
		from--
	}
	if top-knots[from].live <= max(leastRise, room*top) {
		return false // it does not rise
	}
	for _, k := range knots[:from] {
		if k.live >= (1-room)*top {
			return false // it had been there, and had come back
		}
	}
	return !flatAtEnd(knots)
}

// flatAtEnd reports whether of the last bytes allocated, half as many as are live at least, next to none stayed.
func flatAtEnd(knots []knot) bool {
	end := knots[len(knots)-1]
	for i := len(knots) - 2; i >= 0; i-- {
		if made := end.clock - knots[i].clock; made >= end.live/2 {
			return end.live-knots[i].live <= flat*made
		}
	}
	return false
}

// leastPart is how many readings each third needs.
const leastPart = 2

// floating is how many times as much as is live GC may have found live: with more, its figures are of what was
// allocated while it ran, which it keeps until the next cycle (runtime/mgcmark.go, "allocate black").
const floating = 4

// floats reports whether the last GC found far more live than a mark at the kill. How much that is follows from how fast
// GC was, which nothing here says for another limit.
func (h *History) floats() bool {
	return h.held != nil && h.ticks[len(h.ticks)-1].marked > floating*h.held.live+leastRise
}

// growth is how fast the live heap grows, in bytes a second; 0: it does not, as far as
// was seen. The least of each third of the readings counts, so that
// bursts do not. A heap that fills up slows down, and one that bursts leaps: then it is
// not said.
func (h *History) growth(l *liveness) float64 {
	knots := l.knots[1:]
	n := len(knots) / 3
	if n < leastPart {
		return 0
	}
	a, b, c := least(knots[:n]), least(knots[n:len(knots)-n]), least(knots[len(knots)-n:])
	enough := max(leastRise, room*c.live)
	if c.live-a.live < enough || b.live-a.live < enough/4 || c.live-b.live < (b.live-a.live)/4 || c.live-b.live > (b.live-a.live)*3 {
		return 0
	}
	took := h.seconds(c.clock) - h.seconds(a.clock)
	if took <= 0 {
		return 0
	}
	return (c.live - a.live) / took
}

func least(knots []knot) knot {
	low := knots[0]
	for _, k := range knots {
		if k.live < low.live {
			low = k
		}
	}
	return low
}

// refusesFuture is why a killed run says nothing of what it would have needed, "" if it
// does.
func (h *History) refusesFuture(m *model) string {
	if !h.killed {
		return ""
	}
	last := m.live.knots[len(m.live.knots)-1]
	switch {
	case h.held == nil && h.end()-last.clock > last.live/2:
		return fmt.Sprintf("the live heap of the last %s before the kill was not seen", units.Size(int64(h.end()-last.clock)))
	case h.floats():
		return fmt.Sprintf("GC found %s live shortly before the kill, but only %s was: what is allocated while GC runs counts as live, and GC could not keep up",
			units.Short(int64(h.ticks[len(h.ticks)-1].marked)), units.Short(int64(h.held.live)))
	case h.firstRise(m.live.knots):
		return fmt.Sprintf("the program was killed while its live heap, %s, was growing for the first time", units.Short(int64(last.live)))
	case m.grows > 0:
		return fmt.Sprintf("the live heap was growing by %s when the program was killed, and no setting stops that", perSecond(m.grows))
	}
	return ""
}

// perSecond is a rate in words.
func perSecond(rate float64) string { return units.Short(int64(rate)) + " a second" }

// after is a time in seconds in words.
func after(seconds float64) string {
	return units.Duration(time.Duration(seconds * float64(time.Second)))
}
