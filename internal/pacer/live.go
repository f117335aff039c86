package pacer

import (
	"math"
	"math/rand/v2"
	"slices"
)

// knot is a point at which it is known what was live.
type knot struct{ clock, live float64 }

// liveness is what was live at every clock: straight lines between knots. Nothing
// is known between two, but bounds: no more than was live before and allocated
// since, no less than will be live after, less what is allocated until then.
type liveness struct {
	knots []knot
	// left[i] is how far knot i lies from the line between its neighbours, as a
	// share of the most that was live; NaN at the ends.
	left []float64
	most float64
	work int // first knot after the ramp of the start

	// Score is the median and 90th percentile of |left| after the ramp.
	Median, P90 float64
}

func livenessOf(h *History) *liveness {
	l := &liveness{}
	first := h.ticks[0]
	l.knots = append(l.knots, knot{first.alloc, min(first.heap, first.live)})
	for _, m := range h.marks {
		if m.clock > first.alloc {
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
	l.left = make([]float64, len(l.knots))
	var sizes []float64
	for i := range l.knots {
		l.left[i] = math.NaN()
		if i <= l.work || i+1 >= len(l.knots) || l.most == 0 {
			continue
		}
		l.left[i] = (l.knots[i].live - between(l.knots[i-1], l.knots[i+1], l.knots[i].clock)) / l.most
		sizes = append(sizes, math.Abs(l.left[i]))
	}
	l.Median, l.P90 = percentile(sizes, 0.5), percentile(sizes, 0.9)
}

// between is the line through two knots at clock a.
func between(i, j knot, a float64) float64 {
	if j.clock <= i.clock {
		return j.live
	}
	return i.live + (j.live-i.live)*(a-i.clock)/(j.clock-i.clock)
}

// noisy is the score from which on lines do not do: then each stretch between two
// knots gets a bulge, drawn from what is left of the knots around.
const noisy = 0.02

// path is one draw of the liveness.
type path struct {
	*liveness
	bulge []float64 // of the stretch after knot i, bytes at its middle
	at    int
}

// draw makes a path; without a generator it is the lines alone.
func (l *liveness) draw(rng *rand.Rand) *path {
	p := &path{liveness: l, bulge: make([]float64, len(l.knots))}
	if rng == nil {
		return p
	}
	for i := range p.bulge {
		left := l.near(i)
		if len(left) == 0 {
			continue
		}
		// What is left was measured over two stretches, a bulge is of one: variance
		// grows with the distance.
		p.bulge[i] = left[rng.IntN(len(left))] * l.most * math.Sqrt2 / 2
	}
	return p
}

// around is how many knots to either side are drawn from.
const around = 5

// near is what is left of the knots around i, where that is noise.
func (l *liveness) near(i int) (left []float64) {
	if i < l.work || !(l.Median > noisy) {
		return nil
	}
	for j := max(l.work, i-around); j <= min(len(l.left)-1, i+around); j++ {
		if !math.IsNaN(l.left[j]) {
			left = append(left, l.left[j])
		}
	}
	return left
}

// live is what is live at clock a; calls go forward.
func (p *path) live(a float64) float64 {
	for p.at+1 < len(p.knots) && p.knots[p.at+1].clock <= a {
		p.at++
	}
	i := p.knots[p.at]
	if p.at+1 == len(p.knots) {
		return i.live
	}
	j := p.knots[p.at+1]
	t := (a - i.clock) / (j.clock - i.clock)
	v := between(i, j, a) + p.bulge[p.at]*4*t*(1-t)
	low := max(0, j.live-(j.clock-a))
	high := i.live + max(0, a-i.clock)
	return min(max(v, low), high)
}
