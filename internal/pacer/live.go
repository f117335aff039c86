package pacer

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// knot is a point at which it is known what was live.
type knot struct {
	clock, live float64
	gcs         int     // collections that had ended by then
	during      float64 // allocated during its mark, and found by it
}

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
	// steps[i] are the large objects that make the rise after knot i.
	steps map[int][]large
	// widest[i] is what a collection after knot i would find if all buffers that grow
	// stood at their widest there; 0: none grows.
	widest []float64
	grows  bool // one does

	// Score is the median and 90th percentile of |left| after the ramp, of the bytes
	// allocated: a knot counts by the clock between its neighbours. Idle hours with many
	// collections say nothing of a burst between two.
	Median, P90 float64
}

func livenessOf(h *History) *liveness {
	l := &liveness{}
	l.knots = append(l.knots, knot{})
	if !h.begins {
		l.knots[0] = knot{h.ticks[0].alloc, min(h.ticks[0].heap, h.ticks[0].live), h.ticks[0].gcs, 0}
	}
	for _, m := range h.marks {
		if m.clock > l.knots[0].clock {
			l.knots = append(l.knots, knot{m.clock, m.live, m.n, m.known()})
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
	l.steps = stepsOf(l.knots, h.large)
	l.widestOf(h)
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
	var sizes []at
	for i := range l.knots {
		l.left[i] = math.NaN()
		if i <= l.work || i+1 >= len(l.knots) || l.most == 0 {
			continue
		}
		l.left[i] = (l.knots[i].live - between(l.knots[i-1], l.knots[i+1], l.knots[i].clock)) / l.most
		sizes = append(sizes, at{l.knots[i+1].clock - l.knots[i-1].clock, math.Abs(l.left[i])})
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

// noisy is the score from which on lines do not do: then a stretch between two knots
// gets a bulge, drawn from what is left of the knots around. It is asked of each
// stretch: a program has phases.
const noisy = 0.02

// path is one draw of the liveness.
type path struct {
	knots []knot
	bulge []float64 // of the stretch after knot i, bytes at its middle
	atoms []knot    // large objects that stay: live grows by knot.live at clock
	wide  []float64 // least that is live in the stretch after knot i
	most  float64   // no bulge goes beyond
	at    int
}

// draw makes a path. The more marks there were, the less can be live beyond the most
// that one of them found: that is let to grow by 1/sqrt(n) of it. Without a
// generator it is the lines alone. A wide one has all buffers that grow at their widest.
func (l *liveness) draw(rng *rand.Rand, wide bool) *path {
	p := &path{knots: make([]knot, 0, len(l.knots)+2*len(l.steps)), bulge: make([]float64, 0, cap(l.knots))}
	p.most = l.most * (1 + 1/math.Sqrt(float64(len(l.knots))))
	for i, k := range l.knots {
		p.knots, p.bulge, p.wide = append(p.knots, k), append(p.bulge, 0), append(p.wide, 0)
		if wide {
			p.wide[len(p.wide)-1] = l.widest[i]
		}
		if rng == nil || i+1 == len(l.knots) {
			continue
		}
		if steps := l.steps[i]; steps != nil {
			p.climb(k, l.knots[i+1], steps, rng)
		} else if left := l.near(i); len(left) > 0 {
			// What is left was measured over two stretches, a bulge is of one: variance
			// grows with the distance.
			p.bulge[len(p.bulge)-1] = left[rng.IntN(len(left))] * l.most * math.Sqrt2 / 2
		}
	}
	return p
}

// around is how many knots to either side are drawn from.
const around = 5

// near is what is left of the knots around i, where that is noise.
func (l *liveness) near(i int) (left []float64) {
	if i < l.work {
		return nil
	}
	var sizes []at
	for j := max(l.work, i-around); j <= min(len(l.left)-1, i+around); j++ {
		if !math.IsNaN(l.left[j]) {
			left = append(left, l.left[j])
			sizes = append(sizes, at{l.knots[j+1].clock - l.knots[j-1].clock, math.Abs(l.left[j])})
		}
	}
	if !(weighted(sizes, 0.5) > noisy) {
		return nil
	}
	return left
}

// climb puts the large objects between two knots, each where it may have been; what
// else the live heap rises by, it rises in between.
func (p *path) climb(i, j knot, steps []large, rng *rand.Rand) {
	var sizes, starts []float64
	sum := 0.0
	for _, s := range steps {
		for range int(math.Round(s.bytes / s.size)) {
			sizes, sum = append(sizes, s.size), sum+s.size
			// A clock without the large objects themselves.
			starts = append(starts, rng.Float64())
		}
	}
	rng.Shuffle(len(sizes), func(a, b int) { sizes[a], sizes[b] = sizes[b], sizes[a] })
	slices.Sort(starts)
	done := i.during // none of them was among what the mark found
	if i.clock+done+sum > j.clock || i.live+done+sum > j.live*1.02 {
		done = 0
	}
	between := max(0, j.clock-i.clock-sum-done)
	rise := max(0, j.live-i.live-sum-done)
	for n, share := range starts {
		at := knot{clock: i.clock + share*between + done, live: i.live + share*rise + done}
		p.atoms = append(p.atoms, knot{clock: at.clock, live: sizes[n]})
		p.knots = append(p.knots, at, knot{clock: at.clock + sizes[n], live: at.live + sizes[n]})
		p.bulge, p.wide = append(p.bulge, 0, 0), append(p.wide, 0, 0)
		done += sizes[n]
	}
}

// whole moves a clock that lies within a large object's allocation behind it: no
// collection begins in there.
func (p *path) whole(a float64) float64 {
	i := sort.Search(len(p.atoms), func(i int) bool { return p.atoms[i].clock >= a })
	if i > 0 && a < p.atoms[i-1].clock+p.atoms[i-1].live {
		return p.atoms[i-1].clock + p.atoms[i-1].live
	}
	return a
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
	v := between(i, j, a)
	if bulge := p.bulge[p.at] * 4 * t * (1 - t); bulge != 0 {
		v = min(v+bulge, max(v, p.most))
	}
	v = max(v, p.wide[p.at])
	low := max(0, j.live-(j.clock-a))
	high := i.live + max(0, a-i.clock)
	return min(max(v, low), high)
}
