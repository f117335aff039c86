package explain

import "github.com/highwater-go/highwater/internal/words/sample"

// objects divides the resident pages of spans that hold heap objects.
type objects struct {
	live    sample.Bytes // reached by a mark at the moment, else found live by the last collection
	fresh   sample.Bytes // allocated since that collection, live or not: only where no mark was made
	garbage sample.Bytes // dead, not yet swept
	slack   sample.Bytes // free slots of spans in use
}

// divideObjects divides what the runtime counts, takes out what was never
// touched, and ends at res.GoObjects exactly: counters and pages are not read at
// the same instant, and what they differ by goes to the free slots.
func divideObjects(p sample.ProcessMoment, res sample.Residency) objects {
	o := countObjects(p.Go, p.Live)
	untouched := res.Untouched
	switch {
	case p.Live == nil:
		untouched -= take(&o.fresh, min(res.UntouchedNew, res.Untouched))
	case p.Live.Large.OK: // only an object larger than a page has pages of its own
		large := min(o.live, p.Live.Large.V)
		o.live -= large
		untouched -= take(&large, untouched)
		untouched -= take(&o.garbage, untouched)
		o.live += large
	}
	takeFrom(untouched, &o.live, &o.fresh, &o.garbage, &o.slack)
	if sum := o.live + o.fresh + o.garbage + o.slack; res.GoObjects >= sum {
		o.slack += res.GoObjects - sum
	} else {
		takeFrom(sum-res.GoObjects, &o.slack, &o.fresh, &o.garbage, &o.live)
	}
	return o
}

// countObjects divides HeapInUse by the counters. HeapLive counts the spans in
// the caches of the Ps as though they were full, so it can exceed HeapAlloc.
func countObjects(g *sample.Runtime, mark *sample.Liveness) objects {
	alloc := g.HeapAlloc()
	o := objects{slack: g.HeapInUse.Sub(alloc)}
	if mark != nil {
		o.live = min(mark.Bytes, alloc)
		o.garbage = alloc - o.live
		return o
	}
	o.live = min(g.HeapMarked, alloc)
	o.fresh = min(g.HeapLive, alloc).Sub(o.live)
	o.garbage = alloc - o.live - o.fresh
	return o
}

func (o objects) addTo(rows map[string]sample.Bytes) {
	rows[sample.RowLive] += o.live
	rows[sample.RowNew] += o.fresh
	rows[sample.RowGarbage] += o.garbage
	rows[sample.RowIdle] += o.slack
}

// take moves up to want out of part and returns how much it was.
func take(part *sample.Bytes, want sample.Bytes) sample.Bytes {
	got := min(*part, want)
	*part -= got
	return got
}

func takeFrom(want sample.Bytes, parts ...*sample.Bytes) {
	for _, part := range parts {
		want -= take(part, want)
	}
}
