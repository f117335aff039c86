package gostats

import (
	"math"
	"testing"
)

// TestHeapGoalByHand goes through the branches of the runtime's formula; that
// it is the runtime's is shown by comparing with NextGC of real programs.
func TestHeapGoalByHand(t *testing.T) {
	const MiB = 1 << 20
	none := uint64(math.MaxInt64)
	for _, tt := range []struct {
		name string
		in   pacer
		want uint64
	}{
		{"GOGC alone", pacer{gcPercentHeapGoal: 100 * MiB, triggered: math.MaxUint64, memoryLimit: none}, 100 * MiB},
		{"GOGC off and no limit", pacer{gcPercentHeapGoal: math.MaxUint64, triggered: math.MaxUint64, memoryLimit: none},
			none - none/100*3},
		{"the sweeper needs room", pacer{gcPercentHeapGoal: 4 * MiB, sweepDistMinTrigger: 5 * MiB, triggered: math.MaxUint64, memoryLimit: none}, 5 * MiB},
		{"a mark began beyond the goal", pacer{gcPercentHeapGoal: 4 * MiB, triggered: 6 * MiB, memoryLimit: none}, 6*MiB + 64<<10},
		{"a limit with 10 MiB of other memory", pacer{
			gcPercentHeapGoal: math.MaxUint64, triggered: math.MaxUint64, memoryLimit: 110 * MiB,
			mappedReady: 60 * MiB, heapFree: 20 * MiB, heapAlloc: 30 * MiB,
		}, 100*MiB - 100*MiB/100*3},
		{"a small limit keeps 1 MiB back", pacer{
			gcPercentHeapGoal: math.MaxUint64, triggered: math.MaxUint64, memoryLimit: 10 * MiB,
			mappedReady: 5 * MiB, heapAlloc: 5 * MiB,
		}, 9 * MiB},
		{"the limit is passed by other memory", pacer{
			gcPercentHeapGoal: math.MaxUint64, triggered: math.MaxUint64, memoryLimit: 10 * MiB,
			mappedReady: 30 * MiB, heapAlloc: 5 * MiB, heapMarked: 4 * MiB,
		}, 4 * MiB},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.in.headroomPercent = limitHeadroomPercent
			if got := tt.in.heapGoal(); got != tt.want {
				t.Errorf("goal %d, want %d", got, tt.want)
			}
		})
	}
}
