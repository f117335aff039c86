package pacer

import (
	"math"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// server is a program that reaches its live heap at once, and then makes garbage at
// 50 MiB a second for 40 s: ten samples a second, as the collector would have left
// them at GOGC=100.
func server(live float64) *History {
	h := &History{Program: sample.Program{Name: "server", Go: &sample.GoProgram{Version: "go1.26.8"}}, begins: true, rest: kernelMemory}
	s := State{Marked: 0}
	now := tick{gogc: 100, memoryLimit: none, goal: 4 * mib, alloc: 1}
	clock, heap := 0.0, 0.0
	for i := range 400 {
		step := 5 * mib
		if i < 10 {
			step = live / 10
		}
		clock, heap = clock+step, heap+step
		if goal := max(4*mib, s.Goal(Setting{100, none})); heap >= s.Trigger(goal, 0) {
			found := min(clock, live)
			m := mark{clock: clock, live: found, during: 0, peak: heap}
			h.marks = append(h.marks, m)
			s.Marked, heap, now.gcs = found, found, now.gcs+1
		}
		now.at, now.alloc, now.heap, now.live, now.marked = float64(i)/10, clock, heap, heap, s.Marked
		now.goal = max(4*mib, s.Goal(Setting{100, none}))
		now.ready = max(now.ready, heap*1.05+2*mib)
		now.free = now.ready - heap*1.05 - 2*mib
		now.anon, now.shared, now.cpu, now.gc = now.ready, 4*mib, float64(i)/100, float64(i)/2000
		h.ticks = append(h.ticks, now)
	}
	h.noteRecorded()
	h.begins = true
	return h
}

func TestTheRecordedRunComesOutAgain(t *testing.T) {
	a := Tune(server(100*mib), Options{})
	if a.Grade != High {
		t.Fatalf("grade %s: %v", a.Grade, a.Why)
	}
	near(t, "peak", float64(a.Replay.PeakHeap), float64(a.Recorded.PeakHeap), 0.05)
	near(t, "resident", float64(a.Replay.Resident), float64(a.Recorded.Resident), 0.05)
	near(t, "collections", float64(a.Replay.GCs), float64(a.Recorded.GCs), 0.2)
}

func near(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if math.Abs(got/want-1) > share {
		t.Errorf("%s %g, want %g within %.0f%%", what, got, want, 100*share)
	}
}

// Of a constant live heap everything can be said without a model.
func TestOtherSettingsFollowTheArithmetic(t *testing.T) {
	h := server(100 * mib)
	m := newModel(h)
	for _, gogc := range []int32{10, 25, 50, 100, 200, 400} {
		p := m.predict(Setting{gogc, none}, nil)
		near(t, "peak", float64(p.peak.P50), 100*mib*(1+float64(gogc)/100), 0.06)
		if want := 1950 / float64(gogc); math.Abs(float64(p.gcs)-want) > 5+want/4 {
			t.Errorf("%d collections, want about %.0f", p.gcs, want)
		}
	}
	for _, limit := range []int64{130, 150, 190} {
		p := m.predict(Setting{-1, limit << 20}, nil)
		near(t, "resident under the limit", float64(p.anon.P50), float64(limit)*mib, 0.06)
		if p.spiral {
			t.Errorf("limit %d MiB is called a spiral", limit)
		}
	}
}

func TestALimitBelowTheLiveHeapIsASpiral(t *testing.T) {
	m := newModel(server(100 * mib))
	p := m.predict(Setting{100, 90 << 20}, nil)
	if !p.spiral {
		t.Errorf("%d collections, %.0f%% back to back, not called a spiral", p.gcs, 100*p.close)
	}
	near(t, "peak", float64(p.peak.P50), 100*mib, 0.06)
}

func TestTheSameRecordingGivesTheSameFigures(t *testing.T) {
	h := server(64 * mib)
	one, two := newModel(h).predict(Setting{100, none}, nil), newModel(h).predict(Setting{100, none}, nil)
	if one != two {
		t.Errorf("%+v\nthen\n%+v", one, two)
	}
	if one.peak.P95 <= one.peak.P5 {
		t.Error("what past predictions were off by makes no interval")
	}
}

func TestMoreGCMeansNoMoreMemory(t *testing.T) {
	m := newModel(server(80 * mib))
	last := prediction{}
	for _, gogc := range []int32{5, 10, 20, 50, 100, 200, 400, -1} {
		p := m.predict(Setting{gogc, none}, nil)
		if p.peak.P50 < last.peak.P50 || last.gcs > 0 && p.gcs > last.gcs {
			t.Errorf("GOGC=%d: peak %d with %d collections, after %d with %d", gogc, p.peak.P50, p.gcs, last.peak.P50, last.gcs)
		}
		last = p
	}
}

func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*History)
		grade  Grade
	}{
		{"as it is", func(*History) {}, High},
		{"two collections", func(h *History) { h.marks = h.marks[:2] }, Refused},
		{"a program that has only started", func(h *History) { h.ticks = h.ticks[:14]; h.noteRecorded() }, Refused},
		{"a program that sets GOGC", func(h *History) { h.changed = 9 }, Refused},
		{"a store that sizes its caches by memory", func(h *History) {
			h.Program.Go.Deps = []sample.Module{{Path: "github.com/VictoriaMetrics/VictoriaMetrics"}}
		}, Refused},
		{"memory of C alone", func(h *History) {
			for i := range h.ticks {
				h.ticks[i].anon += 3000 * mib
			}
			h.Recorded.Anon += 3000 * mib
		}, Refused},
		{"a replay that does not match", func(h *History) { h.Recorded.Peak *= 2 }, Refused},
		{"a replay a little off", func(h *History) { h.Recorded.Peak *= 1.08 }, Medium},
		{"a start that was not seen", func(h *History) { h.begins = false }, Medium},
		{"a kill, with a mark at it", func(h *History) { h.killed, h.held = true, &knot{clock: h.end(), live: 100 * mib} }, Medium},
		{"a kill with much new memory", func(h *History) {
			h.killed = true
			h.marks = h.marks[:len(h.marks)-2]
		}, Refused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := server(100 * mib)
			tt.change(h)
			a := Tune(h, Options{})
			if a.Grade != tt.grade {
				t.Errorf("%s: %q, want %s", a.Grade, a.Why, tt.grade)
			}
			if len(a.Why) == 0 {
				t.Error("no reason is given")
			}
			if refused := len(a.Settings) == 0; refused != (tt.grade == Refused) {
				t.Errorf("%d settings", len(a.Settings))
			}
		})
	}
}

func TestTheRecommendedSettingFitsItsLimit(t *testing.T) {
	h := server(100 * mib)
	for _, limit := range []sample.Bytes{160 * sample.MiB, 200 * sample.MiB, 400 * sample.MiB} {
		a := Tune(h, Options{Limit: limit})
		r := a.Recommended
		if r == nil {
			t.Fatalf("nothing for %d MiB; smallest %+v", limit>>20, a.Smallest)
		}
		if r.GOMEMLIMIT >= limit || r.GOMEMLIMIT < limit*7/10 {
			t.Errorf("GOMEMLIMIT %d for a limit of %d MiB", r.GOMEMLIMIT>>20, limit>>20)
		}
	}
	if a := Tune(h, Options{Limit: 100 * sample.MiB}); a.Recommended != nil {
		t.Errorf("a limit below the floor of %d MiB is given %+v", a.Floor>>20, a.Recommended)
	}
	a := Tune(h, Options{})
	if s := a.Smallest; s.Healthy < a.Floor || s.Healthy >= s.AsIs || s.Alive > s.Healthy {
		t.Errorf("smallest limits %d, %d and %d MiB", s.AsIs>>20, s.Healthy>>20, s.Alive>>20)
	}
}

func TestCollectionsThatAreAskedForAreBounded(t *testing.T) {
	h := server(100 * mib)
	for _, tt := range []struct {
		text string
		want int
	}{{"4s", 9}, {"100MiB", 20}, {"32x", 32}, {"1ns", mostCollections}, {"2000000000x", mostCollections}} {
		a, err := ParseForcedGCs(tt.text, units.ParseSize)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(a.clocks(h)); n < tt.want-1 || n > tt.want+1 {
			t.Errorf("%s: %d collections, want %d", tt.text, n, tt.want)
		}
	}
	forced := newModel(h).predict(Setting{100, none}, (&ForcedGCs{Times: 100}).clocks(h))
	if peak := float64(forced.peak.P50); peak > 130*mib {
		t.Errorf("with 100 collections in between the peak is %.0f MiB", peak/mib)
	}
	if a, err := ParseForcedGCs("ready", units.ParseSize); err == nil {
		t.Errorf("an event is taken for %+v", a)
	}
}

func TestWhatKilledTheRecordedRunIsNotSurvived(t *testing.T) {
	h := server(100 * mib)
	h.killed, h.limit, h.held = true, h.Recorded.Anon+4*mib, &knot{clock: h.end(), live: 100 * mib}
	for _, s := range Tune(h, Options{GOGC: []int32{20, 400}}).Settings {
		if want := map[int32]Survival{20: Survives, 100: Dies, 400: Dies}[*s.GOGC]; s.Survives != want {
			t.Errorf("GOGC=%d: survives %s, want %s", *s.GOGC, s.Survives, want)
		}
	}
}

func TestACountOfForcedCollectionsThatNoProgramCanReachIsPassedOver(t *testing.T) {
	unseen := int(math.NaN())
	ticks := []tick{{forced: 0}, {forced: unseen}, {forced: 2, alloc: 5}, {forced: 5, alloc: 7}, {forced: math.MaxUint32}, {forced: math.MaxInt},
		{forced: 1, alloc: 9}}
	if got := forcedOf(ticks); len(got) != 3 || got[0] != 7 {
		t.Errorf("%d: %v", len(got), got[:min(len(got), 5)])
	}
}
