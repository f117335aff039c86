package explain

import (
	"math"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// isHolderFull reports whether what retains the line's memory had the same number of entries, to the last one, at captures that
// are seconds apart, while the line went on to allocate: so stands a cache that has come to its bound. A program at rest allocates
// nothing, a table of shards has as many from the start, and a map of tenants may be complete while what lies behind each grows.
// Whatever else grows meanwhile is in the live heap.
func (c *Case) isHolderFull() bool {
	var first, last heldThen
	filled := false // there were fewer entries before
	for i := range c.Captures {
		k := &c.Captures[i]
		if k.Ended {
			continue
		}
		now := heldThen{k.At, k.InUse, k.holderOf(c.site)}
		if now.Entries != last.Entries {
			filled = last.Entries > 0 && last.Entries < now.Entries
			first = now
		}
		last = now
	}
	if !filled || last.Entries < manyPlaces || last.at-first.at < shortestRise.v() || rose(first.Retained, last.Retained) || rose(first.live, last.live) {
		return false
	}
	a, b := c.site.nearestTo(first.at), c.site.nearestTo(last.at)
	if a == nil || a.At <= 0 || b.At <= a.At || a.Allocated == 0 {
		return false
	}
	return float64(b.Allocated.Sub(a.Allocated))/(b.At-a.At) >= heldByRoot.v()*float64(a.Allocated)/a.At
}

// heldThen is the holder of a line's memory at a time, and all that was live then.
type heldThen struct {
	at   float64
	live sample.Bytes
	CapturedHolder
}

// holderOf is the one that has most of what a line allocated; without entries where none is known to have any.
func (k *Captured) holderOf(s *Site) (best CapturedHolder) {
	most := sample.Bytes(0)
	for _, h := range k.Holders {
		n := sample.Bytes(0)
		for _, at := range h.Sites {
			if s.isAt(at.At) {
				n += at.Bytes
			}
		}
		if n > most {
			most, best = n, h
		}
	}
	return best
}

// rose reports whether something is larger by more than sampling and what is in flight may be.
func rose(before, after sample.Bytes) bool {
	return float64(after.Sub(before)) > blamedPart.v()*float64(before)
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
