package explain

import (
	"cmp"
	"math"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// nearest is the capture nearest to the moment, nil where none is near.
func (e *Evidence) nearest() (best *Captured) {
	moment := e.seconds(e.Moment.At)
	for i := range e.Captures {
		if k := &e.Captures[i]; best == nil || best.Ended || !k.Ended && math.Abs(k.At-moment) < math.Abs(best.At-moment) {
			best = k
		}
	}
	if best == nil || math.Abs(best.At-moment) > max(nearCapture, moment/4) {
		return nil
	}
	if p := e.process(); p != nil && p.Go != nil && float64(best.InUse) < heldByRoot.v()*float64(p.Go.HeapMarked) {
		return nil // most of what was live then is not in it
	}
	return best
}

// capturedLines tells each line what the capture nearest to the moment found of it. Where no mark
// counted the lines, that is what they hold: a published profile is one or two collections old.
func (e *Evidence) capturedLines() {
	k := e.nearest()
	if k == nil || k.Lines == nil {
		e.holdersLines(k)
		return
	}
	instead := e.SiteView == "published" && e.Imported == "" && k.At >= e.publishedAt()
	for i := range e.Sites {
		s := &e.Sites[i]
		n, ok := k.of(s)
		if !ok {
			continue
		}
		s.Captured = sample.Some(n)
		if instead {
			s.Growth += int64(n) - int64(s.Bytes)
			s.Marked = true
			s.Bytes, s.Error = n, sample.Bytes(math.Sqrt(float64(n)*float64(e.Rate)))
		}
	}
	if instead {
		e.SiteView = "captured"
		sorting.Stable(e.Sites, func(a, b Site) int { return cmp.Compare(b.Bytes, a.Bytes) })
	}
}

// holdersLines tells each line what the holders of a capture have of it, where the capture does not
// know the lines of all: it is the least that is live.
func (e *Evidence) holdersLines(k *Captured) {
	if k == nil || e.Heap == nil {
		return
	}
	for i := range e.Sites {
		s := &e.Sites[i]
		if s.helps {
			continue
		}
		var sum sample.Bytes
		for p := range e.Heap.Paths {
			sum += allocatedBy(&e.Heap.Paths[p], s)
		}
		s.Captured = sample.Some(sum.Sub(s.others))
	}
}

// linesReadAt is the time that what the lines hold is of.
func (e *Evidence) linesReadAt() float64 {
	switch at := e.publishedAt(); {
	case e.SiteView == "captured":
		return e.nearest().At
	case e.SiteView == "published" && at > 0:
		return at
	}
	return e.seconds(e.Moment.At)
}

// publishedAt is the time that the profile published at the moment tells of: the last collection but
// one. The start where fewer were seen.
func (e *Evidence) publishedAt() (at float64) {
	before := 0.0
	for _, g := range e.Cycles {
		if t := e.seconds(g.At); t <= e.seconds(e.Moment.At) {
			before, at = t, before
		}
	}
	return at
}

// capturedPoints are what captures of the heap found live, as readings.
func capturedPoints(e *Evidence) (out []point) {
	for _, h := range e.Captures {
		if h.InUse > 0 && (e.At != "time" || h.At <= e.seconds(e.Moment.At)) {
			out = append(out, point{at: h.At, live: float64(h.InUse), alloc: e.Ticks.allocatedBy(h.At), least: h.Ended})
		}
	}
	return out
}

// capturedOf are what captures of the heap found of a line, as readings of it.
func (e *Evidence) capturedOf(s *Site) (out []point) {
	for i := range e.Captures {
		k := &e.Captures[i]
		if n, ok := k.of(s); ok && (e.At != "time" || k.At <= e.seconds(e.Moment.At)) {
			out = append(out, point{at: k.At, live: float64(n), least: k.Ended})
		}
	}
	return withoutLower(out)
}
