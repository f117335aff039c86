package pacer

import (
	"math"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestAnIntervalHoldsWhatTheReplayMissed(t *testing.T) {
	for _, tt := range []struct {
		name string
		by   float64 // recorded peak, as a multiple of what the arithmetic gives
	}{{"more was recorded", 1.08}, {"less was recorded", 0.93}} {
		t.Run(tt.name, func(t *testing.T) {
			usual, other := server(100*mib), server(100*mib)
			other.Recorded.Peak *= tt.by
			was := Tune(usual, Options{GOGC: []int32{50}}).Settings[1].PeakHeap
			now := Tune(other, Options{GOGC: []int32{50}}).Settings[1].PeakHeap
			if now.P50 != was.P50 {
				t.Errorf("the middle moved from %d to %d", was.P50, now.P50)
			}
			if tt.by > 1 && float64(now.P95) < 1.05*float64(was.P95) || tt.by < 1 && float64(now.P5) > 0.97*float64(was.P5) {
				t.Errorf("%d..%d MiB, before %d..%d", now.P5>>20, now.P95>>20, was.P5>>20, was.P95>>20)
			}
		})
	}
}

// bursty is a history whose first phase has few collections, with much live at some
// of them, and whose second has many with nothing.
func bursty() *History {
	h := server(10 * mib)
	h.marks = nil
	for i := range 12 {
		h.marks = append(h.marks, mark{clock: float64(100*i+50) * mib, live: float64(40+60*(i%2)) * mib})
	}
	for i := range 60 {
		h.marks = append(h.marks, mark{clock: float64(1250+10*i) * mib, live: 3 * mib})
	}
	return h
}

func TestACalmPhaseSaysNothingOfAnotherOnesBursts(t *testing.T) {
	l := livenessOf(bursty())
	if l.P90 < 0.4 {
		t.Errorf("nine of ten allocated bytes lie within %.1f%%, though half of them were in bursts", 100*l.P90)
	}
}

func TestATriggerIsThatOfItsOwnMark(t *testing.T) {
	before := tick{gcs: 4, marked: 10 * mib, trigger: 18 * mib}
	for _, tt := range []struct {
		name          string
		before, after bool // marking
		own           float64
	}{
		{"between two marks", false, false, 31 * mib},
		{"in the next mark", false, true, math.NaN()},
		{"in both", true, true, 18 * mib},
		{"in its own mark, and then between two", true, false, 31 * mib},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, a := before, tick{gcs: 5, marked: 12 * mib, trigger: 31 * mib}
			b.marking, a.marking = tt.before, tt.after
			got, known := triggerOf([]tick{b, a}, 1, sample.GCCycle{N: 5, Trigger: 31 * sample.MiB})
			if known == math.IsNaN(tt.own) || known && got != tt.own {
				t.Errorf("%.0f MiB, known: %v", got/mib, known)
			}
		})
	}
}

func TestAPeakBetweenTwoSamplesIsAtLeastItsTrigger(t *testing.T) {
	h := server(100 * mib)
	var cycles []sample.GCCycle
	for i, k := range h.marks {
		cycles = append(cycles, sample.GCCycle{N: uint32(i + 1), Marked: sample.Bytes(k.live), Trigger: 150 * sample.MiB})
	}
	for i := range h.ticks { // of each other collection no sample is left that says when it began
		h.ticks[i].gcs = h.ticks[i].gcs / 2 * 2
	}
	for _, k := range marksOf(h.ticks, cycles) {
		if k.peak < 140*mib {
			t.Fatalf("collection %d began at 150 MiB, its peak is %.0f MiB", k.n, k.peak/mib)
		}
	}
}

func TestMemoryThatWasNeverWrittenWidensTheResidentSet(t *testing.T) {
	h := server(100 * mib)
	for i := range h.ticks {
		h.ticks[i].anon *= 0.4
	}
	h.noteRecorded()
	h.Recorded.Anon *= 0.4
	a := Tune(h, Options{GOGC: []int32{20}})
	if a.Grade != Medium {
		t.Errorf("grade %s: %q", a.Grade, a.Why)
	}
	if r, most := a.Settings[1].Resident, a.Recorded.Resident; r.P95 < most*9/10 || r.P5 > most*2/3 {
		t.Errorf("resident %d..%d MiB, recorded %d", r.P5>>20, r.P95>>20, most>>20)
	}
	// As it is it needs less than with a GOMEMLIMIT, which counts what was not written.
	r := a.Recommended
	if r == nil || r.GOMEMLIMIT != 0 || r.Limit != a.Smallest.AsIs {
		t.Fatalf("%+v is recommended; smallest limits %+v", r, a.Smallest)
	}
	if a := Tune(h, Options{Limit: a.Smallest.AsIs - 8*sample.MiB}); a.Recommended != nil {
		t.Errorf("below what it needs %+v is recommended", a.Recommended)
	}
}

// Of a small heap with large tables they are half of it. Two samples read the goal of one collection and what the next
// had found.
func TestStacksAndGlobalsArePartOfTheGoal(t *testing.T) {
	for _, tt := range []struct {
		name     string
		set      Setting
		marked   float64
		scanned  float64
		measured bool
	}{
		{"more than is live", Setting{100, none}, 5 * mib, 6 * mib, true},
		{"a part of what is live", Setting{50, none}, 40 * mib, 6 * mib, true},
		{"none", Setting{100, none}, 40 * mib, 0, true},
		{"a heap below the least goal", Setting{200, none}, 1 * mib, 1 * mib, false},
		{"GOGC=off", Setting{-1, 100 << 20}, 40 * mib, 6 * mib, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var ticks []tick
			for n := range 20 {
				s := State{Marked: tt.marked + float64(n%5)*mib/8, Scanned: tt.scanned}
				k := tick{gcs: n / 2, marked: s.Marked, goal: s.Goal(tt.set), gogc: tt.set.GOGC, memoryLimit: tt.set.Limit}
				if n == 4 || n == 12 {
					k.marked /= 3
				}
				ticks = append(ticks, k)
			}
			want := tt.scanned
			if !tt.measured {
				want = 0
			}
			if got := scannedOf(ticks); math.Abs(got-want) > mib/64 {
				t.Errorf("%.2f MiB, want %.2f", got/mib, want/mib)
			}
		})
	}
}

// Without them the replay collected twice as often as the recorded run.
func TestGoalsOfASmallHeapFollowItsGlobals(t *testing.T) {
	h := server(10 * mib)
	for i := range h.ticks {
		h.ticks[i].goal += 8 * mib
	}
	near(t, "peak", float64(newModel(h).predict(Setting{50, none}, nil).peak.P50), 19*mib, 0.06)
}

func TestATenthThatIsNotKnownMakesTheGradeLow(t *testing.T) {
	for _, tt := range []struct {
		p90  float64
		want Grade
	}{{0.01, High}, {0.20, Medium}, {0.32, Medium}, {0.35, Low}} {
		h := server(100 * mib)
		m := newModel(h)
		m.live.Median, m.live.P90 = 0.01, tt.p90
		g := grader{grade: High}
		if g.liveness(h, m); g.grade != tt.want {
			t.Errorf("%.0f%%: %s, want %s", 100*tt.p90, g.grade, tt.want)
		}
	}
}

// A sample right behind a mark has all that it freed still in use.
func TestWhatIsNotYetSweptIsNoPartOfTheNextPeak(t *testing.T) {
	before := tick{gcs: 4, alloc: 500 * mib, heap: 46 * mib, live: 32 * mib, marked: 31 * mib, goal: 47 * mib, gogc: 50, trigger: 45 * mib}
	after := tick{gcs: 5, alloc: 518 * mib, heap: 35 * mib, live: 36 * mib, marked: 31 * mib, goal: 47 * mib, gogc: 50, trigger: 46 * mib}
	m := observed{grain: 1, full: 1}.markOf([]tick{before, after}, 1, sample.GCCycle{N: 5, Marked: 31 * sample.MiB, Trigger: 46 * sample.MiB})
	if want := 46 * mib; m.peak < want-mib || m.peak > want+mib {
		t.Errorf("its peak is %.0f MiB, want about %.0f", m.peak/mib, want/mib)
	}
}

func TestABusyMachineIsSaid(t *testing.T) {
	busy := server(100 * mib)
	calm := server(100 * mib)
	for _, h := range []*History{busy, calm} {
		for i := range h.marks {
			h.marks[i].during, h.marks[i].left = 5*mib, 10*mib
		}
	}
	for i := range busy.marks { // marks that stood still while the program went on
		if i%4 == 1 {
			busy.marks[i].during = 40 * mib
		}
	}
	was, now := Tune(calm, Options{GOGC: []int32{50}}), Tune(busy, Options{GOGC: []int32{50}})
	if said := strings.Join(now.Why, "; "); !strings.Contains(said, "the machine was busy") || now.Grade == High {
		t.Errorf("%s: %s", now.Grade, said)
	}
	if said := strings.Join(was.Why, "; "); strings.Contains(said, "busy") {
		t.Errorf("calm: %s", said)
	}
}
