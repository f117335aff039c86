package pacer

import "github.com/highwater-go/highwater/internal/words/sample"

// Range is the middle and the ends of what a figure may be: one run in twenty lies
// below P5, one in twenty above P95.
type Range struct {
	P5  sample.Bytes `json:"p5"`
	P50 sample.Bytes `json:"p50"`
	P95 sample.Bytes `json:"p95"`
}

// prediction is what the model says of one setting.
type prediction struct {
	set        Setting
	peak, anon Range
	gcs        int
	work       float64 // bytes marked, with a fixed part for each collection
	close      float64 // share of collections that ran back to back
	spiral     bool
}

// predict runs the recorded work under a setting; when are clocks at which a
// collection is asked for. How far it may be off is how far such replays were.
func (m *model) predict(set Setting, when []float64) prediction {
	o := m.run(set, when)
	p := prediction{set: set, gcs: o.gcs, work: o.work, spiral: float64(o.close) >= 3+float64(o.gcs)/5}
	if o.gcs > 0 {
		p.close = float64(o.close) / float64(o.gcs)
	}
	if m.h.killed { // it would have gone on
		o.atLeast(m.steady(set, m.live.most))
	}
	p.peak, p.anon = m.errors.heap.around(o.peak, m.unsure), m.errors.resident.around(m.anonAt(o.ready), m.unsure)
	if m.h.killed {
		most := m.steady(set, m.live.most*(1+m.errors.kept.high*m.unsure))
		p.peak.P95, p.anon.P95 = max(p.peak.P95, sample.Bytes(most.peak)), max(p.anon.P95, sample.Bytes(m.anonAt(most.ready)))
	}
	if m.sparse() {
		p.anon.P95 = max(p.anon.P95, min(p.peak.P95, sample.Bytes(m.top().anon)))
	}
	return p
}

// steady is where the heap stands that goes on with so much live, under a setting.
func (m *model) steady(set Setting, live float64) outcome {
	during := nearest(m.shares, m.h.end()) * (live + m.scanned + leastMark)
	s := State{Marked: live + during, Scanned: m.scanned}
	s.NonHeap = m.nonHeapAt(s.Marked)
	heap := max(s.Goal(set), s.Marked)
	return outcome{peak: heap, ready: m.readyAt(heap, set)}
}

// atLeast raises the peaks to those of another.
func (o *outcome) atLeast(other outcome) {
	o.peak, o.ready = max(o.peak, other.peak), max(o.ready, other.ready)
}
