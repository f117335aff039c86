package explain

import "math"

// isHolderFull reports whether what retains most had the same number of entries, to the last one, at captures that are seconds
// apart, while the line went on to allocate: so stands a cache that has come to its bound. A program at rest allocates nothing,
// a table of shards has as many from the start, and a map of tenants may be complete while what lies behind each grows.
func (c *Case) isHolderFull() bool {
	var last, first *Captured
	filled := false // there were fewer entries before
	for i := range c.Captures {
		switch k := &c.Captures[i]; {
		case k.Ended:
		case last == nil || k.Entries != last.Entries:
			filled = last != nil && last.Entries > 0 && last.Entries < k.Entries
			first, last = k, k
		default:
			last = k
		}
	}
	if !filled || last.Entries < manyPlaces || last.At-first.At < shortestRise.v() ||
		float64(last.Retained.Sub(first.Retained)) > blamedPart.v()*float64(first.Retained) {
		return false
	}
	a, b := c.site.nearestTo(first.At), c.site.nearestTo(last.At)
	if a == nil || a.At <= 0 || b.At <= a.At || a.Allocated == 0 {
		return false
	}
	return float64(b.Allocated.Sub(a.Allocated))/(b.At-a.At) >= heldByRoot.v()*float64(a.Allocated)/a.At
}

// nearestTo is how the line stood nearest to a time, in seconds; nil where that was not read.
func (s *Site) nearestTo(at float64) (best *SiteSnapshot) {
	for i := range s.Course {
		if k := &s.Course[i]; best == nil || math.Abs(k.At-at) < math.Abs(best.At-at) {
			best = k
		}
	}
	return best
}
