// Package pacer is a model of Go's garbage collector. From the recording of one
// run it predicts what that run would have needed under another GOGC,
// GOMEMLIMIT or limit, and how far that is to be believed.
//
// Its clock is bytes allocated, not time: another setting moves collections
// along the same line of allocations. So it says nothing of how long a run would
// take, and of the collector's work only how many times that of the recorded run.
// Amounts are float64 bytes inside the model, and sample.Bytes at its doors.
package pacer

import (
	"math"

	"github.com/highwater-go/highwater/internal/words/sample"
)

const (
	kib = float64(sample.KiB)
	mib = float64(sample.MiB)
)

// Setting is what a user can choose.
type Setting struct {
	GOGC  int32 // percent; -1: off
	Limit int64 // GOMEMLIMIT in bytes; sample.NoMemoryLimit: none
}

func (s Setting) limited() bool { return s.Limit < sample.NoMemoryLimit }

// State is what the collector computes its next goal from. The formulas are
// those of runtime/mgcpacer.go; they are the same in Go 1.20 to 1.27.
type State struct {
	Marked  float64 // heap found live by the last mark, with what was allocated during it
	Scanned float64 // stacks and globals that it scanned
	NonHeap float64 // mapped, and neither objects nor free: stacks, tables, the unused rest of spans
	Over    float64 // what is mapped beyond the limit
}

// heapMinimum is the least goal at GOGC=100 (mgcpacer.go, defaultHeapMinimum).
const heapMinimum = 4 * float64(sample.MiB)

// byGOGC is the goal that GOGC alone gives (commit): +Inf where it is off.
func (s State) byGOGC(percent int32) float64 {
	if percent < 0 {
		return math.Inf(1)
	}
	share := float64(percent) / 100
	return max(s.Marked+(s.Marked+s.Scanned)*share, heapMinimum*share)
}

// byLimit is the goal that a memory limit leaves (memoryLimitHeapGoal): the limit
// less all that is not heap, less a headroom of 3 %, at least 1 MiB; never below
// what is live.
func (s State) byLimit(limit int64) float64 {
	goal := float64(limit) - s.NonHeap - s.Over
	if goal <= 0 {
		return s.Marked
	}
	headroom := max(goal*limitHeadroom, mib)
	if goal < 2*headroom {
		goal = headroom
	} else {
		goal -= headroom
	}
	return max(goal, s.Marked)
}

// limitHeadroom is memoryLimitHeapGoalHeadroomPercent; Go 1.20 had the 1 MiB alone.
const limitHeadroom = 0.03

// Goal is the size that the next collection is to end at (heapGoalInternal).
func (s State) Goal(set Setting) float64 {
	byGOGC := s.byGOGC(set.GOGC)
	if byLimit := s.byLimit(set.Limit); byLimit < byGOGC {
		return byLimit
	}
	return byGOGC
}

// The trigger lies between 70 % and 95 % of the way from what is marked to the
// goal (minTriggerRatioDistance 0.7 and maxTriggerRatioDistance 0.95, kept as
// 45/64 and 61/64), and at most 4 MiB below the goal where that is higher.
const (
	lowTrigger  = 45.0 / 64
	highTrigger = 61.0 / 64
)

// Trigger is the size at which a collection begins that is to end at the goal;
// runway is what is expected to be allocated during the mark.
func (s State) Trigger(goal, runway float64) float64 {
	if s.Marked >= goal {
		return goal // collections run back to back
	}
	low := s.Marked + lowTrigger*(goal-s.Marked)
	high := max(s.Marked+highTrigger*(goal-s.Marked), goal-heapMinimum, low)
	return min(max(goal-runway, low), high)
}
