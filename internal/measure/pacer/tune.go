package pacer

import (
	"math"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Options say what to predict. The zero Options are a few settings around the
// recorded one, for the recording's own limit.
type Options struct {
	Recording   string
	Limit       sample.Bytes // 0: the recording's
	GOGC        []int32      // -1: off
	MemoryLimit []int64      // sample.NoMemoryLimit: none
	GCAt        *ForcedGCs
}

// tuner is Tune at work.
type tuner struct {
	h     *History
	m     *model
	o     Options
	limit float64
	now   prediction // of the recorded setting
	// The collector's share of the CPU time that the program used, and of all that
	// there was; NaN: not known.
	used, idle float64
}

func newTuner(h *History, o Options) *tuner {
	t := &tuner{h: h, o: o, limit: float64(o.Limit), m: newModel(h)}
	if t.limit == 0 {
		t.limit = h.limit
	}
	t.used, t.idle = h.gcShares()
	t.now = t.m.predict(h.Setting, h.forced)
	return t
}

// Tune grades the history and, unless it refuses, predicts.
func Tune(h *History, o Options) *Answer {
	a := &Answer{Schema: Schema, Recording: o.Recording, Program: h.Program.Name, GoVersion: h.Program.Go.Version,
		Why: []string{}, Settings: []Predicted{}}
	t := newTuner(h, o)
	t.describe(a)
	a.Grade, a.Why = gradeOf(h, t.m, t.now)
	if a.Grade == Refused {
		return a
	}
	for _, s := range t.settings() {
		a.Settings = append(a.Settings, t.predicted(t.m.predict(s, h.forced), ""))
	}
	if o.GCAt != nil {
		p := t.m.predict(h.Setting, merged(h.forced, o.GCAt.clocks(h)))
		a.Settings = append(a.Settings, t.predicted(p, o.GCAt.Text))
	}
	t.advise(a)
	return a
}

// describe says what was recorded and what cannot be changed by a setting.
func (t *tuner) describe(a *Answer) {
	rec := t.h.Recorded
	a.Recorded = Seen{sample.Bytes(rec.Peak), sample.Bytes(rec.Anon + t.m.shared), rec.GCs}
	a.Replay = Seen{t.now.peak.P50, t.resident(t.now.anon.P50), t.now.gcs}
	live := t.m.live.most
	a.Live = sample.Bytes(live)
	a.Floor = sample.Bytes(t.m.anonAt(live+t.m.nonHeapAt(live)) + t.m.shared)
	a.NonGo = sample.Bytes(t.nonGo())
}

// nonGo is what a limit counts and GOMEMLIMIT does not.
func (t *tuner) nonGo() float64 { return t.m.beyond + t.h.rest }

func (t *tuner) resident(anon sample.Bytes) sample.Bytes { return anon + sample.Bytes(t.m.shared) }

// settings are the recorded one and those asked for, or a usual few.
func (t *tuner) settings() []Setting {
	own := t.h.Setting
	gogc, limits := t.o.GOGC, t.o.MemoryLimit
	list := []Setting{own}
	switch {
	case len(gogc) == 0 && len(limits) == 0:
		for _, g := range []int32{20, 50, 100, 200} {
			list = append(list, Setting{g, own.Limit})
		}
		if t.limit > 0 {
			list = append(list, Setting{own.GOGC, int64(t.limit * 9 / 10)})
		}
	case len(limits) == 0:
		for _, g := range gogc {
			list = append(list, Setting{g, own.Limit})
		}
	case len(gogc) == 0:
		for _, l := range limits {
			list = append(list, Setting{own.GOGC, l})
		}
	default:
		for _, g := range gogc {
			for _, l := range limits {
				list = append(list, Setting{g, l})
			}
		}
	}
	return unique(list)
}

func unique(list []Setting) (out []Setting) {
	seen := map[Setting]bool{}
	for _, s := range list {
		if !seen[s] {
			out, seen[s] = append(out, s), true
		}
	}
	return out
}

// predicted is a prediction as people are told it.
func (t *tuner) predicted(p prediction, gcAt string) Predicted {
	out := Predicted{GCAt: gcAt, PeakHeap: p.peak, GCs: p.gcs, Recorded: p.set == t.h.Setting && gcAt == ""}
	out.GOGC, out.GOMEMLIMIT = gogcOf(p.set), limitOf(p.set)
	out.Resident = Range{t.resident(p.anon.P5), t.resident(p.anon.P50), t.resident(p.anon.P95)}
	out.Times = math.Round(10*t.times(p)) / 10
	out.Cost = t.cost(p)
	out.Survives = Survives
	if t.limit > 0 {
		limit := sample.Bytes(t.limit)
		out.Limit = &limit
		out.Survives, out.Thrash = t.survives(p, t.limit)
	}
	return out
}

func gogcOf(s Setting) *int32 {
	if s.GOGC < 0 {
		return nil
	}
	return &s.GOGC
}

func limitOf(s Setting) *sample.Bytes {
	if !s.limited() {
		return nil
	}
	l := sample.Bytes(s.Limit)
	return &l
}

// times is a setting's work of marking, as a multiple of the recorded one's.
func (t *tuner) times(p prediction) float64 {
	if t.now.work == 0 {
		return 1
	}
	return p.work / t.now.work
}

// cost classes the work by its share of the CPU time, of what the program used or,
// where it was idle most of the time, of what there was.
func (t *tuner) cost(p prediction) Cost {
	times := t.times(p)
	switch {
	case p.spiral:
		return CostSpiral
	case math.IsNaN(t.used) && times <= 2, t.used*times < 0.05, t.idle*times < 0.02:
		return CostLow
	case math.IsNaN(t.used) && times <= 5, t.used*times < 0.25, t.idle*times < 0.10:
		return CostMedium
	}
	return CostHigh
}

// gcShares are the collector's parts of the CPU time that was used, and of all that
// there was. The runtime books wall time of Ps, so that they are too high on a busy
// machine: never too low.
func (h *History) gcShares() (used, all float64) {
	first, last := h.ticks[0], h.ticks[len(h.ticks)-1]
	gc, cpu, wall := last.gc-first.gc, last.cpu-first.cpu, last.at-first.at
	if cpu <= 0 || wall <= 0 {
		return math.NaN(), math.NaN()
	}
	return min(1, gc/cpu), min(1, gc/wall/float64(max(1, h.cpus)))
}

// safetyMargin is what a limit needs above the 95th percentile: too low is a kill.
const safetyMargin = 1.05

// survives compares what a limit counts with it. Just above what must stay, the
// kernel takes the program's own code away and reads it back, without end.
func (t *tuner) survives(p prediction, limit float64) (s Survival, thrash bool) {
	middle, upper := float64(p.anon.P50)+t.h.rest, float64(p.anon.P95)+t.h.rest
	thrash = middle <= limit && upper+t.m.shared/2 > limit
	switch {
	case t.h.killed && limit <= t.h.limit && p.set.Limit >= t.h.Setting.Limit && float64(p.anon.P50) >= 0.95*t.h.Recorded.Anon:
		return Dies, false // as it did, and might have grown on
	case middle > limit:
		return Dies, false
	case upper*safetyMargin > limit:
		return Uncertain, thrash
	}
	return Survives, thrash
}
