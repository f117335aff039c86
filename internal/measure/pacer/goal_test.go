package pacer

import (
	"math"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

const none = sample.NoMemoryLimit

// TestGoalsByHand goes through the branches of the runtime's formulas.
func TestGoalsByHand(t *testing.T) {
	for _, tt := range []struct {
		name string
		s    State
		set  Setting
		want float64 // MiB
	}{
		{"GOGC=100 doubles what is live", State{Marked: 50 * mib}, Setting{100, none}, 100},
		{"stacks and globals count", State{Marked: 50 * mib, Scanned: 10 * mib}, Setting{100, none}, 110},
		{"GOGC=50", State{Marked: 50 * mib, Scanned: 10 * mib}, Setting{50, none}, 80},
		{"a small heap has 4 MiB", State{Marked: mib}, Setting{100, none}, 4},
		{"GOGC scales the minimum", State{Marked: 0}, Setting{400, none}, 16},
		{"a limit with 10 MiB of other memory", State{Marked: 20 * mib, NonHeap: 10 * mib}, Setting{-1, 110 << 20}, 97},
		{"a small limit keeps 1 MiB back", State{Marked: mib}, Setting{-1, 10 << 20}, 9},
		{"the limit is passed by other memory", State{Marked: 4 * mib, NonHeap: 30 * mib}, Setting{100, 10 << 20}, 4},
		{"live does not fit the limit", State{Marked: 80 * mib}, Setting{100, 50 << 20}, 80},
		{"GOGC is the lower one", State{Marked: 20 * mib}, Setting{100, 500 << 20}, 40},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.s.Goal(tt.set) / mib; math.Abs(got-tt.want) > 0.001 {
				t.Errorf("goal %.3f MiB, want %.3f", got, tt.want)
			}
		})
	}
	if goal := (State{Marked: mib}).Goal(Setting{-1, none}); goal < 1<<62 {
		t.Errorf("without GOGC and a limit the goal is %g", goal)
	}
}

func TestTheTriggerStaysWithinItsBounds(t *testing.T) {
	for marked := mib; marked < 1000*mib; marked *= 1.7 {
		for _, gogc := range []int32{5, 10, 50, 100, 400} {
			for runway := 0.0; runway < 2*marked; runway += marked / 7 {
				s := State{Marked: marked}
				goal := s.Goal(Setting{gogc, none})
				trigger := s.Trigger(goal, runway)
				if trigger < marked+0.70*(goal-marked) || trigger > max(marked+0.96*(goal-marked), goal-4*mib) {
					t.Fatalf("marked %.1f, GOGC=%d, runway %.1f: trigger %.1f of goal %.1f MiB", marked/mib, gogc, runway/mib, trigger/mib, goal/mib)
				}
			}
		}
	}
	if got := (State{Marked: 80 * mib}).Trigger(70*mib, 5*mib); got != 70*mib {
		t.Errorf("a live heap above its goal is collected at once, not at %.1f MiB", got/mib)
	}
}

// No state gives a goal below what is live under a limit, nor one that is no number.
func FuzzGoal(f *testing.F) {
	f.Add(uint64(50<<20), uint64(3<<20), uint64(0), int32(100), int64(100<<20))
	f.Fuzz(func(t *testing.T, marked, nonHeap, over uint64, gogc int32, limit int64) {
		if limit < 0 || marked > 1<<48 || nonHeap > 1<<48 || over > 1<<48 {
			t.Skip()
		}
		s := State{Marked: float64(marked), NonHeap: float64(nonHeap), Over: float64(over)}
		goal := s.Goal(Setting{gogc, limit})
		if math.IsNaN(goal) || goal < float64(marked) && gogc >= 0 && limit == none {
			t.Errorf("goal %g", goal)
		}
		if trigger := s.Trigger(goal, 0); trigger > goal {
			t.Errorf("trigger %g beyond goal %g", trigger, goal)
		}
	})
}
