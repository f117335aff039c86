package pacer

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/highwater-go/highwater/internal/sample"
)

// Range is the middle and the upper end of what a figure may be; P5 is its lower.
type Range struct {
	P5  sample.Bytes `json:"p5"`
	P50 sample.Bytes `json:"p50"`
	P95 sample.Bytes `json:"p95"`
}

// prediction is what the model says of one setting.
type prediction struct {
	set              Setting
	peak, anon       Range
	gcs              int
	work             float64 // as a share of the recorded setting's
	close            float64 // share of collections that ran back to back
	spiral           bool
	live             sample.Bytes
	peakLow, peakTop float64 // greatest and least of all draws
}

// draws is how many runs of the model an interval is made of, seed what they begin
// with: the same recording gives the same figures.
const (
	draws = 100
	rough = 20 // while a limit is searched for
	seed  = 20
)

// predict draws many runs under a setting; when are clocks at which a collection is
// asked for. The same draws serve every setting, so that two differ by the setting.
func (m *model) predict(set Setting, when []float64) prediction {
	d := m.drawn(set, when, false)
	p := prediction{set: set, peak: rangeOf(d.plain, d.peaks), anon: rangeOf(d.plainAnon, d.anons)}
	p.peakLow, p.peakTop = slices.Min(d.peaks), slices.Max(d.peaks)
	if m.live.grows {
		// How likely it is that a collection finds them all at their widest is not known:
		// as likely as not.
		w := m.drawn(set, when, true)
		p.peak.P95 = max(p.peak.P95, sample.Bytes(percentile(w.peaks, 0.9)))
		p.anon.P95 = max(p.anon.P95, sample.Bytes(percentile(w.anons, 0.9)))
	}
	all, near := percentile(d.gcs, 0.5), percentile(d.close, 0.5)
	p.gcs, p.work = int(math.Round(all)), percentile(d.work, 0.5)
	p.live = sample.Bytes(percentile(d.live, 0.5))
	p.spiral = near >= 3+all/5
	if all > 0 {
		p.close = near / all
	}
	return p.widened(m)
}

// runs are the outcomes of many runs of the model, plain before they are spread.
type runs struct{ peaks, anons, gcs, work, close, live, plain, plainAnon []float64 }

func (m *model) drawn(set Setting, when []float64, wide bool) (d runs) {
	n := m.draws
	for i := 0; i < n; i++ {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		o := m.run(set, when, rng, wide)
		d.plain, d.plainAnon = append(d.plain, o.peak), append(d.plainAnon, m.anonAt(o.ready))
		o.spread(1 + spread*rng.NormFloat64())
		if o.gcs > 1000 { // a spiral, or near it: its draws differ little
			n = min(n, 8)
		}
		d.peaks, d.anons = append(d.peaks, o.peak), append(d.anons, m.anonAt(o.ready))
		d.gcs, d.work = append(d.gcs, float64(o.gcs)), append(d.work, o.work)
		d.close, d.live = append(d.close, float64(o.close)), append(d.live, o.live)
	}
	return d
}

// widened adds to the intervals what the draws do not contain.
func (p prediction) widened(m *model) prediction {
	p.peak, p.anon = p.peak.stretched(m.missed.peak), p.anon.stretched(m.missed.anon)
	if m.sparse() {
		p.anon.P95 = max(p.anon.P95, min(p.peak.P95, sample.Bytes(m.top().anon)))
	}
	return p
}

// spread is the standard deviation between two runs with the same setting, as a
// share of their peaks: measured, 1 to 4 % (docs/tune.md).
const spread = 0.025

func (o *outcome) spread(by float64) { o.peak, o.ready = o.peak*by, o.ready*by }

// rangeOf takes the middle of the draws as they are, and the ends of those that are
// spread.
func rangeOf(plain, spread []float64) Range {
	middle := percentile(plain, 0.5)
	return Range{sample.Bytes(min(middle, percentile(spread, 0.05))), sample.Bytes(middle), sample.Bytes(max(middle, percentile(spread, 0.95)))}
}

// missed is by what the replay of the recorded setting would have to be multiplied to
// give what was recorded. Why it is off is not known, so it is a measure of what the
// draws do not contain: other settings may be as far off. The zero missed is none.
type missed struct{ peak, anon float64 }

// stretched moves the end of an interval by what the replay missed, on that side.
func (r Range) stretched(by float64) Range {
	switch {
	case by > 1:
		r.P95 = sample.Bytes(float64(r.P95) * by)
	case by > 0:
		r.P5 = sample.Bytes(float64(r.P5) * by)
	}
	return r
}

// missedBy compares a run with its replay.
func missedBy(rec recorded, replay prediction) (m missed) {
	if replay.peak.P50 > 0 {
		m.peak = rec.Peak / float64(replay.peak.P50)
	}
	if replay.anon.P50 > 0 {
		m.anon = rec.Anon / float64(replay.anon.P50)
	}
	return m
}
