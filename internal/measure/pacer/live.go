package pacer

import (
	"math"
	"slices"
)

// knot is a point at which it is known what was live.
type knot struct {
	clock, live float64
}

// liveness is what was live at every clock: straight lines between knots. Nothing
// is known between two, but bounds: no more than was live before and allocated
// since, no less than will be live after, less what is allocated until then.
type liveness struct {
	knots []knot
	most  float64
	work  int // first knot after the ramp of the start

	// Score is the median and 90th percentile of |left| after the ramp, of the bytes
	// allocated: a knot counts by the clock between its neighbours. Idle hours with many
	// collections say nothing of a burst between two.
	Median, P90 float64
}

func livenessOf(h *History) *liveness {
	l := &liveness{}
	l.knots = append(l.knots, knot{})
	if !h.begins {
		l.knots[0] = knot{h.ticks[0].alloc, min(h.ticks[0].heap, h.ticks[0].live)}
	}
	for _, m := range h.marks {
		if m.clock > l.knots[0].clock {
			l.knots = append(l.knots, knot{m.clock, m.live})
		}
	}
	if h.held != nil && h.held.clock > l.knots[len(l.knots)-1].clock {
		l.knots = append(l.knots, *h.held)
	}
	for _, k := range l.knots {
		l.most = max(l.most, k.live)
	}
	l.findWork()
	l.leaveOut()
	return l
}

// findWork takes as the ramp what comes before four fifths of the typical live
// heap are reached: there a line fits better than what is left by its neighbours.
func (l *liveness) findWork() {
	var lives []float64
	for _, k := range l.knots[len(l.knots)/2:] {
		lives = append(lives, k.live)
	}
	typical := percentile(lives, 0.5)
	l.work = slices.IndexFunc(l.knots, func(k knot) bool { return k.live >= typical*4/5 })
	l.work = max(0, l.work)
}

// leaveOut scores the lines by leaving out one knot after the other.
func (l *liveness) leaveOut() {
	var sizes []at
	for i := l.work + 1; i+1 < len(l.knots) && l.most > 0; i++ {
		left := (l.knots[i].live - between(l.knots[i-1], l.knots[i+1], l.knots[i].clock)) / l.most
		sizes = append(sizes, at{l.knots[i+1].clock - l.knots[i-1].clock, math.Abs(left)})
	}
	l.Median, l.P90 = weighted(sizes, 0.5), weighted(sizes, 0.9)
}

// between is the line through two knots at clock a.
func between(i, j knot, a float64) float64 {
	if j.clock <= i.clock {
		return j.live
	}
	return i.live + (j.live-i.live)*(a-i.clock)/(j.clock-i.clock)
}

// noisy is the score from which on lines are said not to do.
const noisy = 0.02

// path goes along the lines.
type path struct {
	l  *liveness
	at int
}

// live is what is live at clock a; calls go forward.
func (p *path) live(a float64) float64 {
	knots := p.l.knots
	for p.at+1 < len(knots) && knots[p.at+1].clock <= a {
		p.at++
	}
	i := knots[p.at]
	if p.at+1 == len(knots) {
		return i.live
	}
	j := knots[p.at+1]
	low := max(0, j.live-(j.clock-a))
	high := i.live + max(0, a-i.clock)
	v := between(i, j, a)
	if p.l.Median > noisy {
		v = max(i.live, j.live)
	}
	return min(max(v, low), high)
}
