package gostats

import (
	"math"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

// pacer is what the heap goal is computed from: fields of
// runtime.gcControllerState at one instant.
type pacer struct {
	gcPercentHeapGoal   uint64 // goal by GOGC; math.MaxUint64 where GOGC is off
	sweepDistMinTrigger uint64
	triggered           uint64 // HeapLive at the start of the running mark; math.MaxUint64 outside one
	heapMarked          uint64
	memoryLimit         uint64
	mappedReady         uint64
	heapFree            uint64
	heapAlloc           uint64
	headroomPercent     uint64
}

// minRunway is how far the goal stays above where a running mark began
// (runtime/mgcpacer.go, heapGoalInternal).
const minRunway = 64 << 10

// Headroom below a memory limit: 3 %, at least 1 MiB (runtime/mgcpacer.go,
// memoryLimitHeapGoalHeadroomPercent and memoryLimitMinHeapGoalHeadroom).
const (
	limitHeadroomPercent = 3 // 0 to Go 1.20
	limitMinHeadroom     = 1 << 20
)

func (c *counterReader) pacer() pacer {
	b, at := c.vars.buf, &c.at
	return pacer{
		gcPercentHeapGoal:   gomem.Word(b, at.gcPercentHeapGoal),
		sweepDistMinTrigger: gomem.Word(b, at.sweepDistMinTrigger),
		triggered:           gomem.Word(b, at.triggered),
		heapMarked:          gomem.Word(b, at.heapMarked),
		memoryLimit:         gomem.Word(b, at.memoryLimit),
		mappedReady:         gomem.Word(b, at.mappedReady),
		heapFree:            gomem.Word(b, at.heapFree),
		heapAlloc:           less(gomem.Word(b, at.totalAlloc), gomem.Word(b, at.totalFree)),
		headroomPercent:     at.headroomPercent,
	}
}

// heapGoal is the heap size that the next collection is to end at:
// gcControllerState.heapGoal, which the runtime computes anew whenever it is
// asked (runtime/mgcpacer.go; the same in Go 1.20 to 1.27):
//
//	by limit = the limit's goal, where that is below GOGC's
//	by GOGC  = max(gcPercentHeapGoal, sweepDistMinTrigger, triggered + 64 KiB)
func (p pacer) heapGoal() uint64 {
	if byLimit := p.limitGoal(); byLimit < p.gcPercentHeapGoal {
		return byLimit
	}
	goal := max(p.gcPercentHeapGoal, p.sweepDistMinTrigger)
	if p.triggered != math.MaxUint64 && goal < p.triggered+minRunway {
		goal = p.triggered + minRunway
	}
	return goal
}

// limitGoal is what GOMEMLIMIT leaves for the heap: the limit, less everything
// mapped that is neither object nor free, less what is over the limit already,
// less the headroom; never below what the last mark found live.
func (p pacer) limitGoal() uint64 {
	nonHeap := less(p.mappedReady, p.heapFree+p.heapAlloc)
	over := less(p.mappedReady, p.memoryLimit)
	if nonHeap+over >= p.memoryLimit {
		return p.heapMarked
	}
	goal := p.memoryLimit - (nonHeap + over)
	headroom := max(goal/100*p.headroomPercent, limitMinHeadroom)
	if goal < 2*headroom {
		goal = headroom
	} else {
		goal -= headroom
	}
	return max(goal, p.heapMarked)
}

// less is a - b, or 0: the two may be microseconds apart.
func less(a, b uint64) uint64 {
	if b > a {
		return 0
	}
	return a - b
}
