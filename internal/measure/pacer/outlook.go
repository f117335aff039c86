package pacer

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// Chance is what is predicted of a change.
type Chance string

// The chances. Needless: it fits as it is. Vain: it is killed all the same. Later: it is
// killed, only later. Unknown: the evidence does not allow a prediction, or the interval
// lies on both sides of the limit.
const (
	Fits     Chance = "fits"
	Needless Chance = "needless"
	Vain     Chance = "vain"
	Later    Chance = "later"
	Unknown  Chance = "unknown"
)

// Outlook is a change for a limit and what is predicted of it. Everything that proposes
// a GOMEMLIMIT or a limit asks for one: explain, tune, fit and the page say the same.
type Outlook struct {
	Chance Chance
	// GOMEMLIMIT is the setting in bytes, 0 for none; Limit the limit it is for.
	GOMEMLIMIT, Limit sample.Bytes
	// Need is what a limit has to hold; zero where nothing is predicted.
	Need Range
	Why  string // in words, for a sentence
	Hard bool   // it would collect much more often
}

// Predictor answers for one recording.
type Predictor struct {
	t     *tuner
	grade Grade
	why   []string
	none  string // why nothing can be predicted, "" if something can
}

// NewPredictor makes a history ready. The limit is the one to predict for; 0: that of
// the recording.
func NewPredictor(h *History, limit sample.Bytes) *Predictor {
	t := newTuner(h, Options{Limit: limit})
	p := &Predictor{t: t}
	p.grade, p.why = gradeOf(h, t.m, t.now)
	if p.grade == Refused {
		p.none = p.why[0]
	}
	return p
}

// need is what a limit has to hold under a setting.
func (t *tuner) need(p prediction) Range {
	rest := sample.Bytes(t.h.rest)
	return Range{p.anon.P5 + rest, p.anon.P50 + rest, p.anon.P95 + rest}
}

// MemoryLimit is the GOMEMLIMIT for the limit, and what it would do.
func (p *Predictor) MemoryLimit() Outlook {
	t := p.t
	if t.limit == 0 {
		return Outlook{Chance: Unknown, Why: "there is no limit"}
	}
	set, at := t.forLimit(t.limit)
	o := Outlook{GOMEMLIMIT: sample.Bytes(set.Limit), Limit: sample.Bytes(t.limit)}
	if later, ok := p.delay(set); ok {
		o.Chance, o.Why = Later, later
		return o
	}
	if low := t.least(); low > t.limit {
		o.Chance, o.Why = Vain, fmt.Sprintf("the program would still be killed, because the live heap and other memory need %s", units.Size(int64(low)))
		return o
	}
	if p.none != "" {
		o.Chance, o.Why = Unknown, p.none
		return o
	}
	if s, _ := t.survives(t.now, t.limit); s == Survives {
		o.Chance, o.Why = Needless, "the program fits the limit as it is"
		return o
	}
	return p.judged(o, at)
}

// judged holds a prediction against the limit that an outlook is for.
func (p *Predictor) judged(o Outlook, at prediction) Outlook {
	t := p.t
	o.Need, o.Hard = t.need(at), !t.healthy(at)
	s, thrash := t.survives(at, float64(o.Limit))
	switch {
	case at.spiral:
		o.Chance, o.Why = Vain, "GC would run all the time, because the live heap leaves no room below it"
	case t.m.sparse() && o.GOMEMLIMIT > 0 && float64(at.peak.P95)+t.h.rest > float64(o.Limit):
		top := t.m.top()
		o.Chance, o.Why = Unknown, fmt.Sprintf("GOMEMLIMIT counts all %s that Go had mapped, but only %s of that was ever written", units.Size(int64(top.ready)),
			units.Size(int64(top.anon)))
	case s == Dies:
		o.Chance, o.Why = Vain, "the program would still be killed, because it would need "+o.Need.words()
	case s == Uncertain || thrash:
		o.Chance, o.Why = Unknown, fmt.Sprintf("the program would need %s, which a limit of %s may not hold", o.Need.words(), units.Limit(o.Limit))
	default:
		o.Chance, o.Why = Fits, "needs "+o.Need.words()
	}
	return o
}

// words are both ends in whole MiB: "190 to 230 MiB".
func (r Range) words() string {
	return fmt.Sprintf("%d to %d MiB", r.P5>>20, (r.P95+sample.MiB-1)>>20)
}

// least is the least that must be resident: what a mark at the kill found live, as far
// as it was ever written, and what is not heap.
func (t *tuner) least() float64 {
	if t.h.held == nil {
		return 0
	}
	live := t.h.held.live
	return t.m.anonAt(live+t.m.nonHeapAt(live)) + t.h.rest
}

// delay is by how much a setting puts off the end of a run whose live heap grows.
func (p *Predictor) delay(set Setting) (string, bool) {
	t := p.t
	if !t.h.killed || t.m.grows == 0 {
		return "", false
	}
	left := (t.limit - t.least()) / t.m.grows
	how := fmt.Sprintf("the live heap grows by %s", perSecond(t.m.grows))
	if left < 1 {
		return "this does not help, because " + how, true
	}
	return fmt.Sprintf("this delays the kill by about %s, because %s", after(left), how), true
}

// grain is what limits are rounded up to.
const grain = 16 * sample.MiB

// AsItIs is the limit under which the recorded setting fits. Of a run that was killed
// while its live heap rose, it is what the next collection's goal asks for: at least so
// much, and the chance is Unknown.
func (p *Predictor) AsItIs() Outlook {
	t := p.t
	if p.none == "" && t.m.grows == 0 {
		need := t.need(t.now)
		o := Outlook{Need: need, Limit: roundUp(float64(need.P95)*safetyMargin + t.m.shared/2)}
		return p.judged(o, t.now)
	}
	next := t.m.steady(t.h.Setting, t.m.live.most*(1+t.m.errors.kept.high*t.m.unsure))
	need := sample.Bytes(max(t.m.anonAt(next.ready), t.h.Recorded.Anon) + t.h.rest)
	o := Outlook{Chance: Unknown, Limit: roundUp(float64(need) * safetyMargin), Need: Range{need, need, 0}, Why: p.none}
	if o.Why == "" {
		o.Why = "the live heap was still growing"
	}
	return o
}

// Room is a GOMEMLIMIT, and the limit that it needs, under which the collector has room
// to work: for a run that collected without end.
func (p *Predictor) Room() Outlook {
	t := p.t
	if p.none != "" {
		return Outlook{Chance: Unknown, Why: p.none}
	}
	limit := t.limit
	if set, at := t.forLimit(limit); limit > 0 && t.fitsWell(at, limit) {
		return p.judged(Outlook{GOMEMLIMIT: sample.Bytes(set.Limit), Limit: sample.Bytes(limit)}, at)
	}
	least := t.smallest(t.fitsWell)
	if least == 0 {
		return Outlook{Chance: Unknown, Why: "no limit up to twice what the program needed gives GC enough room"}
	}
	limit = float64(roundUp(float64(least)))
	set, at := t.forLimit(limit)
	return p.judged(Outlook{GOMEMLIMIT: sample.Bytes(set.Limit), Limit: sample.Bytes(limit)}, at)
}

// fitsWell reports whether it survives the limit, and its collector is not short of room.
func (t *tuner) fitsWell(p prediction, limit float64) bool {
	s, _ := t.survives(p, limit)
	return s == Survives && !p.spiral && t.healthy(p)
}

func roundUp(bytes float64) sample.Bytes {
	return (sample.Bytes(bytes) + grain - 1) / grain * grain
}
